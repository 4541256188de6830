"""Collects the scores of all systems on one corpus: unit values, cells with intervals, draws."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from sagebench import frames, stats
from sagebench.errors import BenchError
from sagebench.stats import Floats
from sagebench.tasks.base import Scores, Spec


class Scorebook:
    """`units` are what is resampled (documents, pairs, queries, texts); `noun` names them."""

    def __init__(self, task: str, units: Sequence[str], noun: str, spec: Spec) -> None:
        """`units` in the order of every array that is handed in later.

        BenchError if there are none.
        """
        if not units:
            raise BenchError(f"{task} on {spec['corpus']!r}: the sample has no {noun} to score")
        bootstrap = spec["bootstrap"]
        self.units = list(units)
        self.noun = noun
        self.weights = stats.weights(
            len(self.units), bootstrap["resamples"], spec["seed"], task, spec["corpus"]
        )
        self._level = bootstrap["level"]
        self._parts: dict[str, list[pl.DataFrame]] = {"units": [], "draws": []}
        self._cells: list[dict[str, object]] = []

    def unit_values(self, system: str, measure: str, values: Floats) -> None:
        """Keep the (n,) values of the single units; NaN becomes null."""
        self._parts["units"].append(_frame(frames.UNITS, system, measure, self.units, values))

    def cell(
        self,
        system: str,
        measure: str,
        values: Floats,
        *,
        n: int,
        ties: int = 0,
        notes: Sequence[str] = (),
    ) -> None:
        """Keep a score: values[0], its interval and its draws values[1:].

        `n` is the number of units behind it; empty notes are dropped.
        """
        notes = [note for note in notes if note]
        low, high = stats.interval(values, self._level)
        if np.isnan(values[0]):
            notes.append("undefined")
        elif n == 1:
            low = high = np.nan
            notes.append("no interval: n = 1")
        self._cells.append(
            {"system": system, "measure": measure, "value": values[0], "low": low, "high": high,
             "n": n, "ties": ties, "note": "; ".join(notes)}
        )  # fmt: skip
        draws = range(len(values) - 1)
        self._parts["draws"].append(_frame(frames.DRAWS, system, measure, draws, values[1:]))

    def left_out(self, kept: npt.NDArray[np.bool_]) -> str:
        """The note for units without a similarity; "" if all of the (n,) bool `kept` hold."""
        lost = int(len(kept) - np.count_nonzero(kept))
        return f"{lost} of {len(kept)} {self.noun} left out: no similarity" if lost else ""

    def result(self) -> Scores:
        """(UNITS, CELLS, DRAWS), checked."""
        cells = pl.DataFrame(self._cells, schema=frames.CELLS.empty().schema, strict=False)
        cells = cells.with_columns(pl.col("value", "low", "high").fill_nan(None))
        units, draws = (pl.concat(self._parts[part]) for part in ("units", "draws"))
        return frames.UNITS.check(units), frames.CELLS.check(cells), frames.DRAWS.check(draws)


def _frame(
    schema: frames.Schema, system: str, measure: str, keys: Sequence[object], values: Floats
) -> pl.DataFrame:
    """Rows of one system and measure in the schema's columns and types; NaN becomes null."""
    rows = len(keys)
    columns = [[system] * rows, [measure] * rows, keys, values]
    frame = pl.DataFrame(
        dict(zip(schema.columns, columns, strict=True)), schema=schema.empty().schema
    )
    return frame.with_columns(pl.col("value").fill_nan(None))
