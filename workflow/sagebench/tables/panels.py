"""Panels of systems: one row per system, one column per (corpus, measure) of a tidy frame."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sagebench.tables.context import KINDS
from sagebench.tables.table import Cell, Panel

if TYPE_CHECKING:
    import pandas as pd

MISSING = "–"
UNRANKED = ("reference", "expected")  # kinds of rows that are never the best


@dataclass(frozen=True)
class Column:
    """A column of a panel; `form` says how it is printed.

    form: "score" (3 decimals and interval), "number" (3 decimals), "share" (per cent), "count".
    best: whether the largest value among the non-reference rows is set in bold.
    optional: rows without such a value stay empty; otherwise every system must have one.
    """

    header: str
    corpus: str
    measure: str
    form: str = "score"
    best: bool = True
    optional: bool = False


def by_system(
    frame: pd.DataFrame, columns: list[Column], system_notes: dict[str, str], title: str = ""
) -> Panel:
    """The panel of `columns`; its rows are the systems of the frame, grouped by kind, in order.

    A note that every cell of a column has moves to the column's header.
    """
    systems = list(frame.drop_duplicates("system").itertuples())
    printed = [_column_cells(frame, column, systems) for column in columns]
    header = [Cell("System")]
    for column, (_, shared) in zip(columns, printed, strict=True):
        header.append(Cell(column.header, notes=tuple(shared)))
    groups: dict[str, list[list[Cell]]] = {}
    for index, system in enumerate(systems):
        note = system_notes.get(system.system, "")
        label = Cell(system.title, notes=(note,) if note else ())
        row = [label, *(cells[index] for cells, _ in printed)]
        groups.setdefault(KINDS.get(system.kind, ""), []).append(row)
    return Panel(header, list(groups.items()), title)


def score_cell(value: float | None, low: float | None, high: float | None, **options: Any) -> Cell:
    """A score with its interval in brackets; None or NaN stands for "none"."""
    if value is None or math.isnan(value):
        return Cell(MISSING, **options)
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return Cell(f"{value:.3f}", **options)
    return Cell(f"{value:.3f}", f"[{low:.3f}, {high:.3f}]", **options)


def share_text(share: float) -> str:
    """A share of 1 as per cent with one decimal; "0%" only for none at all."""
    if share == 0:
        return "0%"
    return "< 0.1%" if share < 0.0005 else f"{share:.1%}"


def _column_cells(
    frame: pd.DataFrame, column: Column, systems: list[Any]
) -> tuple[list[Cell], list[str]]:
    """A column's cells in the order of `systems`, and the notes that all of them share."""
    part = frame[(frame.corpus == column.corpus) & (frame.measure == column.measure)]
    values = {row.system: row for row in part.itertuples()}
    notes = {name: _split(row.note) for name, row in values.items()}
    shared = [
        note
        for note in next(iter(notes.values()), [])
        if all(note in others for others in notes.values())
    ]
    best = round(part.value[~part.kind.isin(UNRANKED)].max(), 3) if column.best else math.nan
    cells = []
    for system in systems:
        if column.optional and system.system not in values:
            cells.append(Cell(""))
            continue
        own = tuple(note for note in notes[system.system] if note not in shared)
        bold = system.kind not in UNRANKED and round(values[system.system].value, 3) == best
        cells.append(_cell(values[system.system], column.form, bold, own))
    return cells, shared


def _split(note: str) -> list[str]:
    """The single notes of a tidy row."""
    return note.split("; ") if note else []


def _cell(row: Any, form: str, bold: bool, notes: tuple[str, ...]) -> Cell:
    if math.isnan(row.value):
        return Cell(MISSING, notes=notes)
    if form == "share":
        return Cell(share_text(row.value))
    if form == "count":
        return Cell(f"{row.value:,.0f}")
    if form == "number":
        return Cell(f"{row.value:.3f}", bold=bold)
    return score_cell(row.value, row.low, row.high, bold=bold, notes=notes)
