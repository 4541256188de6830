"""A comparison for people, as aligned lines, and for programs, as JSON."""

import json
from dataclasses import asdict
from typing import Any

from sagebench.compare.cells import ALARMING, STATES, Cell, Comparison, Number
from sagebench.tables.plain import one_line

_WHOLE = "summary"  # shown with every cell
_MARKS = {"within": "~", "interval": "~"} | dict.fromkeys(ALARMING, "!")


def text(found: Comparison, whole: bool = False) -> str:
    """The summary cell by cell, of other tables the cells that differ (all if `whole`), counts."""
    lines = [f"A: {one_line(found.a)}", f"B: {one_line(found.b)}"]
    for table, cells in found.tables.items():
        shown = [c for c in cells if whole or table == _WHOLE or c.state != "same"]
        counts = ", ".join(f"{n} {state}" for state, n in found.counts(cells).items())
        lines += ["", f"{one_line(table)}: {counts}", *_aligned([_line(cell) for cell in shown])]
    lines += ["", *_legend(found)]
    return "\n".join(lines) + "\n"


def to_json(found: Comparison) -> str:
    """Every cell with both sides and its state, table by table."""
    content: dict[str, Any] = {"a": found.a, "b": found.b, "alarming": found.alarming}
    content["counts"] = found.counts(found.cells)
    content["tables"] = {
        table: [_object(cell) for cell in cells] for table, cells in found.tables.items()
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _object(cell: Cell) -> dict[str, Any]:
    system, corpus, measure = cell.key
    sides = {side: asdict(n) if n else None for side, n in (("a", cell.a), ("b", cell.b))}
    place = {"system": system, "corpus": corpus, "measure": measure}
    return place | sides | {"move": cell.move, "state": cell.state}


def _line(cell: Cell) -> list[str]:
    moved = "" if not cell.move else f"{cell.move:+.3f}"
    mark = _MARKS.get(cell.state, "")
    state = f"{mark} {cell.state}" if mark else ""
    return [*map(one_line, cell.key), _number(cell.a), _number(cell.b), moved, state]


def _number(number: Number | None) -> str:
    if number is None or number.value is None:
        return "–"
    if number.value == int(number.value) and not number.has_interval:
        return f"{number.value:.0f}"
    if not number.has_interval:
        return f"{number.value:.3f}"
    return f"{number.value:.3f} [{number.low:.3f}, {number.high:.3f}]"


def _aligned(rows: list[list[str]]) -> list[str]:
    if not rows:
        return []
    head = ["system", "corpus", "measure", "A", "B", "B - A", ""]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  "
        + "  ".join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    ]


def _legend(found: Comparison) -> list[str]:
    counts = found.counts(found.cells)
    return [
        f"{_MARKS.get(state, '=')} {state} ({counts[state]}): {meaning}"
        for state, meaning in STATES.items()
        if state in counts
    ]
