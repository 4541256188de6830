"""The numbers of a table as its CSV file has them."""

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sagebench.errors import BenchError
from sagebench.tables.context import ALL

NUMBERS = ("value", "low", "high", "n")


@dataclass(frozen=True)
class Row:
    """One row of a table of scores; numbers that the file leaves empty are None."""

    table: str
    system: str
    title: str
    kind: str
    corpus: str
    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    note: str

    @property
    def cell(self) -> str:
        """Where the number stands: "summary.csv: jaccard, all corpora, clustering"."""
        return f"{self.table}.csv: {self.system}, {self.corpus}, {self.measure}"

    @property
    def text(self) -> str:
        """The value with three decimals."""
        return "–" if self.value is None else f"{self.value:.3f}"

    @property
    def interval(self) -> str:
        """The interval in brackets; "" without one."""
        if self.low is None or self.high is None:
            return ""
        return f"[{self.low:.3f}, {self.high:.3f}]"


class Scores:
    """The rows of one table, in the file's order."""

    def __init__(self, folder: Path, table: str) -> None:
        """Read `<folder>/<table>.csv`; BenchError if it is missing or no table of scores."""
        path = folder / f"{table}.csv"
        try:
            with open(path, encoding="utf-8", newline="") as stream:
                self.rows = [_row(table, record) for record in csv.DictReader(stream)]
        except (OSError, ValueError, KeyError) as error:
            raise BenchError(f"table {path} cannot be read ({error!r}); run again") from None
        self._places = {(row.system, row.corpus, row.measure): row for row in self.rows}

    def get(self, system: str, measure: str, corpus: str = ALL) -> Row | None:
        """One number; None where the table has none."""
        return self._places.get((system, corpus, measure))

    def of(self, measure: str, corpus: str = ALL) -> list[Row]:
        """A column: every system's row that has a value."""
        found = (row for row in self.rows if (row.measure, row.corpus) == (measure, corpus))
        return [row for row in found if row.value is not None]

    def systems(self) -> list[Row]:
        """The first row of every system, in order."""
        first: dict[str, Row] = {}
        for row in self.rows:
            first.setdefault(row.system, row)
        return list(first.values())


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`; positions on it are per cent of its length."""

    low: float
    high: float

    @classmethod
    def around(cls, rows: Iterable[Row]) -> "Scale":
        """An axis that holds every value and interval, with a margin."""
        ends = [end for row in rows for end in (row.low, row.value, row.high) if end is not None]
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        margin = (high - low) * 0.04 or 0.5
        return cls(low - margin, high + margin)

    def at(self, value: float | None) -> str:
        """A position such as "31.25%"; the axis' start for no value."""
        share = 0.0 if value is None else (value - self.low) / (self.high - self.low)
        return f"{100 * min(max(share, 0.0), 1.0):.2f}%"


def reference(column: Iterable[Row]) -> Row | None:
    """The highest row of a column that knows nothing of meaning."""
    blind = [row for row in column if row.kind == "reference"]
    return max(blind, key=lambda row: row.value or 0.0, default=None)


def _row(table: str, record: dict[str, str]) -> Row:
    value, low, high, n = (_number(record[name]) for name in NUMBERS)
    names = {name: record[name] for name in ("system", "title", "kind", "corpus", "measure")}
    count = None if n is None else int(n)
    return Row(table, **names, value=value, low=low, high=high, n=count, note=record["note"])


def _number(text: str) -> float | None:
    value = float(text) if text else math.nan
    return value if math.isfinite(value) else None
