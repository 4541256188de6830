"""Tables as LaTeX with booktabs: one float per panel, to be included in a document."""

from __future__ import annotations

from sagebench.tables.footnotes import Footnotes
from sagebench.tables.plain import one_line
from sagebench.tables.table import Cell, Panel, Table

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "−": r"\ensuremath{-}",
    "×": r"\ensuremath{\times}",
    "≥": r"\ensuremath{\geq}",
    "≤": r"\ensuremath{\leq}",
    "→": r"\ensuremath{\rightarrow}",
    "\ufffd": "?",
}
_HEAD = """\
% Needs \\usepackage{booktabs}, \\usepackage[T1]{fontenc} and, for wide panels,
% \\usepackage{graphicx}. Names outside the Latin script need XeLaTeX or LuaLaTeX.
"""


def render(table: Table) -> str:
    """One float per panel, as a panel may fill a page: the first has the caption."""
    floats = []
    for number, panel in enumerate(table.panels):
        title = f"{table.title}: {panel.title}" if panel.title else table.title
        floats += _float(panel, title, "" if number else table.caption)
    return _HEAD + "\n".join(floats) + "\n"


def escape(text: str) -> str:
    """`text` on one line, without any meaning as LaTeX."""
    return "".join(_ESCAPES.get(character, character) for character in one_line(text))


def _float(panel: Panel, title: str, caption: str) -> list[str]:
    notes = Footnotes([panel])
    return [
        r"\begin{table*}",
        r"\centering",
        r"\footnotesize",
        rf"\caption{{\textbf{{{escape(title)}.}} {escape(caption)}}}",
        *_tabular(panel, notes),
        *(rf"\par\textsuperscript{{{mark}}}\,{escape(note)}" for mark, note in notes.items()),
        r"\end{table*}",
    ]


def _tabular(panel: Panel, notes: Footnotes) -> list[str]:
    width = len(panel.header)
    lines = [
        # Shrunk if it is wider than the page, never enlarged.
        r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{l{'r' * (width - 1)}}}",
        r"\toprule",
        _line([_cell(cell, notes) for cell in panel.header]),
    ]
    for title, rows in panel.groups:
        lines.append(r"\midrule")
        if title:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escape(title)}}}}} \\")
        lines += [_line([_cell(cell, notes) for cell in row]) for row in rows]
    return [*lines, r"\bottomrule", r"\end{tabular}}"]


def _line(cells: list[str]) -> str:
    # A row that began so would be taken for an argument of the line break before it.
    start = "{}" if cells[0].startswith(("[", "*")) else ""
    return f"{start}{' & '.join(cells)} \\\\"


def _cell(cell: Cell, notes: Footnotes) -> str:
    text = rf"\textbf{{{escape(cell.text)}}}" if cell.bold else escape(cell.text)
    if marks := notes.marks(cell):
        text += rf"\textsuperscript{{{marks}}}"
    if cell.interval:
        text += rf" {{\tiny {escape(cell.interval)}}}"
    return text
