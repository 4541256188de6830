"""The written tables with a link from each number of ours to its trace."""

import re
from dataclasses import replace

from markupsafe import Markup

from sagebench import tables
from sagebench.report.printed import Cell, Grid, Line, Printed
from sagebench.report.traces import anchor
from sagebench.tables import agreement
from sagebench.tables.context import TASKS
from sagebench.tables.plain import one_line

_AGREEMENT = "agreement"
# Numbers of columns or panels whose title says "paper" are not ours ("papers" are a corpus).
_PAPER = re.compile(r"\bpaper\b", re.IGNORECASE)


class Links:
    """Finds the trace of a cell: by its row's system, and its column's or table's task."""

    def __init__(self, titles: dict[str, str], anchors: set[str]) -> None:
        """`titles`: system -> title; `anchors`: the places that are on the page."""
        shown = [one_line(title) for title in titles.values()]
        # Two systems of one title cannot be told apart in print.
        self._systems = {
            one_line(title): name
            for name, title in titles.items()
            if shown.count(one_line(title)) == 1
        }
        self._anchors = anchors

    def table(self, name: str, printed: Printed) -> Printed:
        """The table with its links."""
        theirs = False
        parts: list[Grid | Markup] = []
        for part in printed.parts:
            if isinstance(part, Grid):
                parts.append(self._grid(name, part) if not theirs else part)
                theirs = False
            else:
                theirs = bool(_PAPER.search(part))
                parts.append(part)
        return replace(printed, parts=parts)

    def _grid(self, table: str, grid: Grid) -> Grid:
        return replace(grid, lines=[self._line(table, grid.header, line) for line in grid.lines])

    def _line(self, table: str, header: list[Cell], line: Line) -> Line:
        # A row's name is its first cell; the agreement's rows begin with the score.
        labels = [cell.text for cell in line.cells[: 2 if table == _AGREEMENT else 1]]
        system = next((self._systems[text] for text in labels if text in self._systems), "")
        if not system or line.group:
            return line
        cells = [
            replace(cell, link=self._link(table, system, column.text, labels[0]))
            if _is_number(cell) and not _PAPER.search(column.text)
            else cell
            for column, cell in zip(header, line.cells, strict=True)
        ]
        return Line(cells, system=system)

    def _link(self, table: str, system: str, column: str, label: str) -> str:
        by_title = {title: task for task, title in TASKS.items()}
        tasks = tables.TABLES[table].scores
        if table == _AGREEMENT:
            by_title = {title: task for title, task, *_ in agreement.SCORES.values()}
            column = label
        task = tasks[0] if len(tasks) == 1 else by_title.get(column, "")
        found = anchor(system, task)
        return found if found in self._anchors else f"system-{system}"


def _is_number(cell: Cell) -> bool:
    return any(character.isdigit() for character in cell.text) and cell.text[0] in "0123456789<+−-"
