"""How far superficial edits stay above changes of meaning: an AUC, which has no cap of 1/3.

An AUC is the chance that one of the first scores above one of the second, an equal pair counting
half (Mann & Whitney 1947): 0.5 for a constant and for noise, 0 for a system that finds every
shuffled text nearer than every text in other capitals.
"""

import numpy as np
import numpy.typing as npt

from sagebench import stats
from sagebench.stats import Floats


def auc(weights: Floats, above: Floats, below: Floats) -> Floats:
    """(rows,) AUC of all (n, k) similarities `above` against all (n, m) `below`, over documents.

    Every document is compared with every other, on one scale. Documents with a NaN are left out.
    """
    kept = np.isfinite(np.hstack([above, below]).sum(axis=1))
    above, below, weights = above[kept], below[kept], weights[:, kept]
    if not kept.any():
        return np.full(len(weights), np.nan)
    wins = np.zeros((len(above), len(below)))
    for column in above.T:
        for other in below.T:
            wins += _wins(column[:, None], other[None, :])
    wins /= above.shape[1] * below.shape[1]
    # A document that a resample holds twice counts twice on either side.
    against = np.einsum("bi,ij->bj", weights, wins, optimize=False)
    return stats.ratio((against * weights).sum(axis=1), weights.sum(axis=1) ** 2)


def within(above: Floats, below: Floats) -> Floats:
    """(n,) AUC of each document's own (n, k) `above` against its (n, m) `below`; NaN stays."""
    wins = _wins(above[:, :, None], below[:, None, :]).mean(axis=(1, 2))
    missing = np.isnan(np.hstack([above, below])).any(axis=1)
    return np.where(missing, np.nan, wins)


def _wins(first: Floats, second: Floats) -> npt.NDArray[np.float64]:
    return (first > second) + 0.5 * (first == second)
