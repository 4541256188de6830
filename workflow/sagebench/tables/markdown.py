"""Tables as Markdown (GitHub's)."""

from __future__ import annotations

import re

from sagebench.tables.footnotes import Footnotes
from sagebench.tables.plain import one_line
from sagebench.tables.table import Cell, Panel, Table


def render(table: Table) -> str:
    """Title, caption, one table per panel, footnotes. Names are printed as they are, inert."""
    notes = Footnotes(table.panels)
    blocks = [f"# {escape(table.title)}", escape(table.caption)]
    for panel in table.panels:
        if panel.title:
            blocks.append(f"**{escape(panel.title)}**")
        blocks.append(_panel(panel, notes))
    lines = [f"<sup>{mark}</sup> {escape(note)}  " for mark, note in notes.items()]
    if lines:
        blocks.append("\n".join(lines).rstrip())
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """`text` on one line, without any meaning as Markdown or HTML."""
    text = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~$@!])", r"\\\1", text)


def _panel(panel: Panel, notes: Footnotes) -> str:
    width = len(panel.header)
    lines = [_line([_cell(cell, notes) for cell in panel.header])]
    lines.append(_line([":--", *["--:"] * (width - 1)]))
    for title, rows in panel.groups:
        if title:
            lines.append(_line([f"*{escape(title)}*", *[""] * (width - 1)]))
        lines += [_line([_cell(cell, notes) for cell in row]) for row in rows]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell, notes: Footnotes) -> str:
    text = f"**{escape(cell.text)}**" if cell.bold else escape(cell.text)
    if marks := notes.marks(cell):
        text += f"<sup>{marks}</sup>"
    if cell.interval:
        # No line break between the bounds, whatever the width of the page.
        text += f" <sub>{escape(cell.interval).replace(' ', '&nbsp;')}</sub>"
    return text
