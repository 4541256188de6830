"""Human preference beyond length: what is left of an agreement that length alone could explain."""

import numpy as np
import polars as pl

from sagebench import stats
from sagebench.stats import Floats
from sagebench.tasks.scorebook import Scorebook

BINS = ("near", "middle", "far")


def partial(weights: Floats, x: Floats, y: Floats, z: Floats) -> Floats:
    """(rows,) Pearson's r of (n,) x and y with the linear part of z taken out of both.

    Over the units that have all three. 0 where x or y is constant or follows z exactly; NaN where
    no unit has all three.
    """
    kept = ~np.isnan(x) & ~np.isnan(y) & ~np.isnan(z)
    x, y, z = (np.where(kept, values, np.nan) for values in (x, y, z))
    xy, xz, yz = (stats.pearson(weights, *pair) for pair in ((x, y), (x, z), (y, z)))
    left = (1 - xz**2) * (1 - yz**2)
    varies = left > 1e-9  # what z leaves beyond rounding
    r = stats.ratio(xy - xz * yz, np.sqrt(np.where(varies, left, np.nan)))
    return np.where(np.isnan(xy), np.nan, np.clip(np.where(varies, r, 0.0), -1, 1))


def lengths(texts: pl.Series) -> Floats:
    """(n,) characters of each text."""
    return texts.str.len_chars().cast(pl.Float64).to_numpy()


def groups(first: Floats, second: Floats, choice: Floats) -> dict[str, Floats]:
    """Name -> (n,) 1 for the pairs of a group, else 0.

    `near`, `middle`, `far`: thirds of the pairs by the difference of the two lengths relative to
    the longer; equal differences stay in order of the pairs. `longer`, `shorter`: the pairs whose
    longer, shorter summary was preferred (`choice` is 1 for the first); neither if equally long.
    """
    gap = np.abs(first - second) / np.maximum(np.maximum(first, second), 1)
    third = np.empty(len(gap), dtype=np.int64)
    third[np.argsort(gap, kind="stable")] = np.arange(len(gap)) * len(BINS) // max(len(gap), 1)
    found = {name: (third == number).astype(float) for number, name in enumerate(BINS)}
    sign = np.sign(first - second) * np.where(choice == 1, 1, -1)
    return found | {"longer": (sign > 0).astype(float), "shorter": (sign < 0).astype(float)}


def add_choices(
    book: Scorebook, system: str, sample: pl.DataFrame, margin: Floats, hits: Floats
) -> None:
    """Add the cells of choices: `pearson:choice` and `partial:choice` (of the margin, similarity 1
    minus similarity 2, with the choice; lengths as their difference), `accuracy:<group>` of
    `groups`, and `accuracy:balanced`, the mean of longer and shorter: 0.5 for length alone.

    `sample` is sorted as the book's units, `margin` and `hits` (1, 0 or half) are (n,), NaN where
    a similarity is missing.
    """
    first, second = lengths(sample["summary_1"]), lengths(sample["summary_2"])
    actual = (sample["choice"] == 1).cast(pl.Float64).to_numpy()
    kept = ~np.isnan(margin)
    n, notes = int(kept.sum()), [book.left_out(kept)]
    if stats.is_constant(margin):
        notes.append("constant similarity: r counted as 0")
    book.cell(system, "pearson:choice", stats.pearson(book.weights, margin, actual), n=n,
              notes=notes)  # fmt: skip
    r = partial(book.weights, margin, actual, first - second)
    book.cell(system, "partial:choice", r, n=n, notes=notes)
    found = {}
    for name, member in groups(first, second, sample["choice"].to_numpy()).items():
        values = np.where(member > 0, hits, np.nan)
        found[name] = stats.mean(book.weights, values)
        size = int(np.count_nonzero(~np.isnan(values)))
        book.cell(system, f"accuracy:{name}", found[name], n=size, notes=[book.left_out(kept)])
    balanced = (found["longer"] + found["shorter"]) / 2
    book.cell(system, "accuracy:balanced", balanced, n=n, notes=[book.left_out(kept)])
