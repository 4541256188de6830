"""Footnotes of a table: each distinct note has one letter, in order of appearance."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase

from sagebench.tables.table import Cell, Panel


class Footnotes:
    """The marks of all notes of some panels, read row by row."""

    def __init__(self, panels: Iterable[Panel]) -> None:
        self._marks: dict[str, str] = {}
        for panel in panels:
            for row in [panel.header, *(row for _, rows in panel.groups for row in rows)]:
                for note in (note for cell in row for note in cell.notes):
                    self._marks.setdefault(note, _letters(len(self._marks)))

    def marks(self, cell: Cell) -> str:
        """The cell's marks, such as "a,c"; "" if it has no notes."""
        return ",".join(self._marks[note] for note in cell.notes)

    def items(self) -> list[tuple[str, str]]:
        """(mark, note) in order."""
        return [(mark, note) for note, mark in self._marks.items()]


def _letters(number: int) -> str:
    """0 -> a, 25 -> z, 26 -> aa."""
    more, last = divmod(number, 26)
    return (_letters(more - 1) if more else "") + ascii_lowercase[last]
