"""How far superficial edits stay above changes of meaning: an AUC, which has no cap of 1/3.

An AUC is the chance that one of the first scores above one of the second, an equal pair counting
half (Mann & Whitney 1947): 0.5 for a constant and for noise, 0 for a system that finds every
shuffled text nearer than every text in other capitals.
"""

import numpy as np
import numpy.typing as npt

from sagebench.stats import Floats


def auc(weights: Floats, above: Floats, below: Floats) -> Floats:
    """(rows,) AUC of all (n, k) similarities `above` against all (n, m) `below`, over documents.

    Every document is compared with every other, on one scale. Documents with a NaN are left out.
    """
    kept = np.isfinite(np.hstack([above, below]).sum(axis=1))
    above, below, weights = above[kept], below[kept], weights[:, kept]
    if not kept.any():
        return np.full(len(weights), np.nan)
    values, codes = np.unique(np.concatenate([above.ravel(), below.ravel()]), return_inverse=True)
    up, down = codes[: above.size], codes[above.size :]
    found = np.empty(len(weights))
    for row, counts in enumerate(weights):  # sorted once: no table of all pairs of documents
        of_below = np.bincount(
            down, weights=np.repeat(counts, below.shape[1]), minlength=len(values)
        )
        beaten = np.cumsum(of_below) - of_below / 2
        wins = (np.repeat(counts, above.shape[1]) * beaten[up]).sum()
        found[row] = wins / max(counts.sum() ** 2 * above.shape[1] * below.shape[1], 1)
    return np.where(weights.sum(axis=1) > 0, found, np.nan)


def within(above: Floats, below: Floats) -> Floats:
    """(n,) AUC of each document's own (n, k) `above` against its (n, m) `below`; NaN stays."""
    wins = _wins(above[:, :, None], below[:, None, :]).mean(axis=(1, 2))
    missing = np.isnan(np.hstack([above, below])).any(axis=1)
    return np.where(missing, np.nan, wins)


def _wins(first: Floats, second: Floats) -> npt.NDArray[np.float64]:
    return (first > second) + 0.5 * (first == second)
