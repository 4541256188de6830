"""Hostile names in Markdown and LaTeX; formatting of single values."""

import re
import unicodedata

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sagebench.tables import latex, markdown
from sagebench.tables.footnotes import Footnotes
from sagebench.tables.panels import share_text
from sagebench.tables.plain import one_line
from sagebench.tables.table import Cell, Panel, Table, tidy

HOSTILE = [
    "a|b",
    "50% & more_of {this} $x^2$ #1 ~ \\end{tabular}",
    "**bold** `code` [link](http://x) <script>alert(1)</script> &amp; @someone ~~gone~~",
    "line\nbreak\r\n\ttab",
    "\x00\x1b[31m",
    "\ud800 lone",
    "[0.1] starts a row",
    "* starts a row",
    "\u202eright to left",
    "e\u0301 日本 🙂",
    "",
]
texts = st.one_of(st.text(max_size=40), st.sampled_from(HOSTILE))


def table(name: str) -> Table:
    cells = [Cell(name, notes=(name,)), Cell("0.5", interval="[0.4, 0.6]", bold=True)]
    panel = Panel([Cell("System"), Cell(name)], [(name, [cells])], title=name)
    return Table(name, name, pd.DataFrame(), [panel])


def unescaped(line: str, character: str) -> int:
    """How often `character` stands in `line` without an odd number of backslashes before it."""
    return len(re.findall(rf"(?<!\\)(?:\\\\)*{re.escape(character)}", line))


@given(texts)
def test_one_line_is_printable_and_stable(text: str) -> None:
    found = one_line(text)
    assert found == one_line(found)
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} for c in found)
    assert found.encode("utf-8").decode("utf-8") == found


@given(texts)
def test_markdown_keeps_its_shape_whatever_the_names(name: str) -> None:
    lines = markdown.render(table(name)).splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == 3 + bool(name)  # header, rule, group title, row
    assert all(unescaped(row, "|") == 3 for row in rows)
    shown = markdown.escape(name)
    for character in "*_`[]<>$~#@":
        assert unescaped(shown, character) == 0
    assert not re.search(r"&(?!amp;|lt;|gt;)", shown)


@given(texts)
def test_latex_keeps_its_shape_whatever_the_names(name: str) -> None:
    text = latex.render(table(name))
    assert unescaped(text, "{") == unescaped(text, "}")
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    plain = [row for row in rows if "multicolumn" not in row]
    assert len(plain) == 2
    assert all(unescaped(row, "&") == 1 for row in plain)
    assert not any(row.startswith(("[", "*")) for row in rows)
    shown = latex.escape(name)
    for character in '&%#_$^~<>|"`':
        assert unescaped(shown, character) == 0


def test_latex_examples() -> None:
    assert latex.escape("50% of {a_b} & $c$ \\ ~^") == (
        r"50\% of \{a\_b\} \& \$c\$ \textbackslash{} \textasciitilde{}\textasciicircum{}"
    )
    assert latex.escape("1 − x ≥ 2") == r"1 \ensuremath{-} x \ensuremath{\geq} 2"


def test_markdown_examples() -> None:
    assert markdown.escape("a_b|c") == r"a\_b\|c"
    assert markdown.escape("<b>&") == "&lt;b&gt;&amp;"


def test_intervals_are_small_and_footnotes_lettered() -> None:
    text = markdown.render(table("x"))
    assert "**0.5** <sub>\\[0.4,&nbsp;0.6\\]</sub>" in text
    assert "| x<sup>a</sup> |" in text
    assert text.endswith("<sup>a</sup> x\n")
    assert r"\textbf{0.5} {\tiny [0.4, 0.6]}" in latex.render(table("x"))


def test_each_latex_panel_is_a_float_with_its_own_footnotes() -> None:
    one, two = table("one").panels[0], table("two").panels[0]
    text = latex.render(Table("T", "the caption", pd.DataFrame(), [one, two]))
    assert text.count(r"\begin{table*}") == 2
    assert text.count("the caption") == 1
    assert text.count(r"\par\textsuperscript{a}") == 2


def test_footnotes_are_lettered_in_order_of_appearance() -> None:
    names = [f"note {number}" for number in range(30)]
    rows = [[Cell("x", notes=(name, names[0]))] for name in names]
    notes = Footnotes([Panel([Cell("h")], [("", rows)])])
    marks = [mark for mark, _ in notes.items()]
    assert marks[:2] == ["a", "b"]
    assert marks[25:28] == ["z", "aa", "ab"]
    assert [note for _, note in notes.items()] == names
    assert notes.marks(rows[1][0]) == "b,a"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (1e-6, "< 0.1%"), (0.0005, "0.1%"), (0.123, "12.3%"), (1, "100.0%")],
)
def test_shares(share: float, text: str) -> None:
    assert share_text(share) == text


def test_tidy_numbers_have_no_negative_zero() -> None:
    frame = tidy([{"system": "x", "value": -1e-9, "n": None, "note": ""}])
    assert frame.to_csv(index=False).splitlines()[1] == "x,,,,,0.0,,,,"
