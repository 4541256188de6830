"""The data card shows every number, and no text of a catalogue becomes markup."""

import re

import pytest

from sagebench.corpora.card import escape, render

CARD = {
    "corpus": "demo",
    "role": "retrieval",
    "title": "Demo | <script>alert(1)</script>",
    "domain": "news",
    "licence": "CC0 [x](http://e.x)",
    "citation": "A. *Author*\n\n# Heading",
    "quirks": ["`code` and ~~struck~~ and &amp; and $x$"],
    "stands_for": {"dataset": "BEIR", "same": False},
    "sources": [
        {"package": "demo", "version": "1.0", "archive": "demo-1.0.tar.gz", "sha256": "0" * 64}
    ],
    "rows_read": 12345,
    "rows": 1234,
    "dropped": {"no text": 1, "duplicate": 11110},
    "conflicts": 7,
    "queries_left_out": {"not a topic": 3},
    "texts_repaired": 5,
    "texts_with_lost_characters": 0,
    "counts": {"texts": 1234, "queries": 99},
    "words": {"text": [1, 2, 3, 4, 5, 6, 7000]},
}


@pytest.mark.parametrize(
    "part",
    [
        "12,345",
        "1,234 texts",
        "99 queries",
        "11,110 (duplicate), 1 (no text)",
        "3 (not a topic)",
        "1, 2, 3, 4, 5, 6, 7,000",
        "0" * 64,
        "disagree with the one kept: 7",
        "BEIR",
    ],
)
def test_every_number_is_there(part: str) -> None:
    assert part in render([CARD])


def test_markup_in_a_catalogue_stays_text() -> None:
    text = render([CARD])
    assert "<script>" not in text
    assert "\n# Heading" not in text
    assert "[x](" not in text.replace("\\[", "")
    table = [line for line in text.splitlines() if line.startswith("| ")]
    columns = {len(re.findall(r"(?<!\\)\|", line)) for line in table}
    assert (len(table), len(columns)) == (3, 1)


@pytest.mark.parametrize(
    "text", ["a|b", "<b>", "*x*", "_x_", "`x`", "# x", "[x]", "~x~", "$x$", "\\"]
)
def test_escaped_text_reads_as_itself(text: str) -> None:
    plain = re.sub(r"\\(.)", r"\1", escape(text)).replace("&lt;", "<").replace("&amp;", "&")
    assert plain == text
    assert escape(text) != text


def test_cards_are_grouped_by_role_and_sorted() -> None:
    cards = [CARD | {"corpus": name, "title": name, "role": role} for name, role in
             (("zeta", "documents"), ("beta", "retrieval"), ("alpha", "retrieval"))]  # fmt: skip
    text = render(cards)
    assert text == render(cards[::-1])
    titles = re.findall(r"^### (.+)$", text, flags=re.MULTILINE)
    assert titles == ["zeta", "alpha", "beta"]
