"""A score with its interval, and means of scores whose intervals come from their draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sagebench.stats import Floats


@dataclass(frozen=True)
class Estimate:
    """A value and its bootstrap interval; `value` is None only with notes that say why.

    `draws` is (resamples,) float64, NaN where a resample leaves the score undefined; None for a
    value without draws. `n` counts the units (documents, pairs, …) behind the value.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    notes: tuple[str, ...] = ()
    draws: Floats | None = None

    def row(self, **labels: Any) -> dict[str, Any]:
        """The estimate as a row of the tidy frame, beside its labels."""
        found = {"value": self.value, "low": self.low, "high": self.high}
        return {**labels, **found, "n": self.n, "note": "; ".join(self.notes)}


def mean(parts: Sequence[Estimate], level: float, n: int | None = None) -> Estimate:
    """The unweighted mean of `parts`, with a percentile interval of the mean of their draws.

    Draw i of the mean is the mean of draw i of every part: different corpora are resampled
    independently. `n` is the sum of the parts' unless it is given. A part without a value
    leaves the mean without one and hands on its notes; other notes stay with their part. Parts
    with a value must have draws, equally many.
    """
    import numpy as np

    n = sum(part.n for part in parts) if n is None else n
    if empty := [part for part in parts if part.value is None]:
        notes = dict.fromkeys(note for part in empty for note in part.notes)
        return Estimate(None, n=n, notes=tuple(notes))
    value = float(np.mean([part.value for part in parts if part.value is not None]))
    draws = np.mean([part.draws for part in parts if part.draws is not None], axis=0)
    low, high = _interval(value, draws, level)
    return Estimate(value, low, high, n, draws=draws)


def derived(function: Callable[..., Any], parts: Sequence[Estimate], level: float) -> Estimate:
    """`function` of the parts' values, and its interval from `function` of their draws.

    All parts must have a value and draws of the same resamples. Not defined (division by 0):
    None, with a note.
    """
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(function(*(np.float64(part.value or 0.0) for part in parts)))
        draws = function(*(np.asarray(part.draws) for part in parts))
    if not math.isfinite(value):
        return Estimate(None, n=parts[0].n, notes=("undefined",))
    draws = np.where(np.isfinite(draws), draws, np.nan)
    low, high = _interval(value, draws, level)
    return Estimate(value, low, high, parts[0].n, draws=draws)


def _interval(value: float, draws: Floats, level: float) -> tuple[float | None, float | None]:
    """The percentile interval, (None, None) where no draw is defined."""
    import numpy as np

    from sagebench import stats

    low, high = stats.interval(np.concatenate([[value], draws]), level)
    return (None, None) if math.isnan(low) else (low, high)
