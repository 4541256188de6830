"""The cells of two sets of tables in pairs, and whether each moved beyond its interval."""

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from sagebench.compare.sources import Rows
from sagebench.errors import BenchError
from sagebench.tables.table import COLUMNS

Key = tuple[str, str, str]  # system, corpus, measure; of other tables: labels, "", column

# State -> what it means.
STATES = {
    "same": "equal value and interval",
    "interval": "equal value, another interval",
    "within": "moved, and each value lies in the other's interval",
    "beyond": "moved out of an interval: the new value out of the old one's, or the other way",
    "changed": "another value, and no interval says how much that is",
    "added": "only in B",
    "removed": "only in A",
}
ALARMING = ("beyond", "changed", "added", "removed")


@dataclass(frozen=True)
class Number:
    """What one side has in a cell; a missing value has a note that says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def has_interval(self) -> bool:
        """Whether both bounds are there."""
        return self.low is not None and self.high is not None

    def holds(self, value: float) -> bool:
        """Whether `value` lies in the interval; True where there is none."""
        if self.low is None or self.high is None:
            return True
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Cell:
    """One place of a table, as `a` and as `b` have it (None: not at all)."""

    table: str
    key: Key
    a: Number | None
    b: Number | None

    @property
    def state(self) -> str:
        """One of `STATES`."""
        if self.a is None or self.b is None:
            return "added" if self.a is None else "removed"
        old, new = self.a.value, self.b.value
        if old is None and new is None:
            return "same"
        if old is None or new is None:
            return "changed"
        if old == new:
            return "same" if (self.a.low, self.a.high) == (self.b.low, self.b.high) else "interval"
        if not (self.a.has_interval or self.b.has_interval):
            return "changed"
        return "within" if self.a.holds(new) and self.b.holds(old) else "beyond"

    @property
    def move(self) -> float | None:
        """B's value minus A's."""
        if self.a is None or self.b is None or self.a.value is None or self.b.value is None:
            return None
        return round(self.b.value - self.a.value, 6)


@dataclass(frozen=True)
class Comparison:
    """All cells of both sides, table by table, in A's order and then B's."""

    a: str
    b: str
    cells: list[Cell]

    @cached_property
    def tables(self) -> dict[str, list[Cell]]:
        """Table -> its cells."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault(cell.table, []).append(cell)
        return found

    @property
    def alarming(self) -> bool:
        """Whether some cell is not where it was within its interval."""
        return any(cell.state in ALARMING for cell in self.cells)

    @staticmethod
    def counts(cells: list[Cell]) -> dict[str, int]:
        """State -> cells, of those states that occur, in the order of `STATES`."""
        found = Counter(cell.state for cell in cells)
        return {state: found[state] for state in STATES if found[state]}


def pair(name_a: str, a: dict[str, Rows], name_b: str, b: dict[str, Rows]) -> Comparison:
    """Both sides cell by cell."""
    cells = []
    for table in sorted(a.keys() | b.keys(), key=lambda name: (name != "summary", name)):
        old = _numbers(name_a, table, a.get(table, []))
        new = _numbers(name_b, table, b.get(table, []))
        keys = dict.fromkeys([*old, *new])
        cells += [Cell(table, key, old.get(key), new.get(key)) for key in keys]
    return Comparison(name_a, name_b, cells)


def _numbers(side: str, table: str, rows: Rows) -> dict[Key, Number]:
    """The numbers of a table by place; BenchError if a place is named twice."""
    scores = bool(rows) and set(COLUMNS) <= rows[0].keys()
    found: dict[Key, Number] = {}
    for key, number in _scores(rows) if scores else _counts(rows):
        if key in found:
            raise BenchError(f"table {table} of {side!r} has two rows for {', '.join(key)}")
        found[key] = number
    return found


def _scores(rows: Rows) -> list[tuple[Key, Number]]:
    """A table of scores: a row is a cell."""
    found = []
    for row in rows:
        value, low, high = (_number(row[name]) for name in ("value", "low", "high"))
        key = row["system"], row["corpus"], row["measure"]
        found.append((key, Number(value, low, high, row["note"])))
    return found


def _counts(rows: Rows) -> list[tuple[Key, Number]]:
    """Any other table: columns of numbers are cells, the others label them.

    Where these do not tell the rows apart, columns of numbers (a seed) join them, from the left.
    """
    names = list(rows[0]) if rows else []
    numeric = [name for name in names if all(_is_number(row[name]) for row in rows)]
    labels = [name for name in names if name not in numeric]
    while numeric and len({tuple(row[name] for name in labels) for row in rows}) < len(rows):
        labels.append(numeric.pop(0))
    return [
        ((" ".join(row[label] for label in labels), "", name), Number(_number(row[name])))
        for row in rows
        for name in numeric
    ]


def _is_number(text: str) -> bool:
    try:
        float(text or "0")
    except ValueError:
        return False
    return True


def _number(text: str) -> float | None:
    value = float(text) if _is_number(text) and text else math.nan
    return value if math.isfinite(value) else None
