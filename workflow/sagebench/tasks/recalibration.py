"""Sensitivity without the scale: does similarity fall with the edit, and how much does it know?

The paper's score asks for 1/(1+p) to the digit, so that a constant in the middle of the scale
wins. Here the order counts, and the error that is left after each system's scale was stretched to
fit: a constant has nothing to stretch.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sagebench import rng
from sagebench.stats import Floats

FOLDS = 5


def rank_correlation(similarity: Floats, sizes: Floats) -> Floats:
    """(n,) Spearman's rho between falling similarity and the fraction that was edited.

    `similarity` is (n, edits), `sizes` (edits,). Each document on its own; equal values share
    their mean rank, a document of equal similarities counts 0. NaN where one is missing.
    """
    x, y = _ranks(-similarity), _ranks(sizes[None, :])
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean()
    spread = np.sqrt((x**2).sum(axis=1) * (y**2).sum())
    rho = np.divide((x * y).sum(axis=1), spread, out=np.zeros(len(x)), where=spread > 0)
    return np.where(np.isnan(similarity).any(axis=1), np.nan, rho)


def ordered_correlation(sizes: Floats) -> float:
    """The rho of similarities that all differ and never rise with the (edits,) sizes: below 1,
    for edits of one size are then told apart.
    """
    falling = -np.argsort(np.argsort(sizes, kind="stable"), kind="stable").astype(float)
    return float(rank_correlation(falling[None, :], sizes)[0])


def recalibrated(
    similarity: Floats, target: Floats, ids: Sequence[str], seed: int, corpus: str
) -> tuple[Floats, Floats]:
    """(n, edits) similarities mapped to the scale of `target`, and the same of a constant.

    `similarity` and `target` are (n, edits). The map is the rising step function of least squared
    error (isotonic regression) on the documents of the other folds; the constant is their mean
    target. A document with a NaN is neither learnt from nor mapped: NaN.
    """
    from sklearn.isotonic import IsotonicRegression

    mapped = np.full(similarity.shape, np.nan)
    constant = np.full(similarity.shape, np.nan)
    fold = folds(ids, seed, corpus)
    kept = ~np.isnan(similarity).any(axis=1)
    for number in range(FOLDS):
        train, test = kept & (fold != number), kept & (fold == number)
        if not train.any() or not test.any():
            continue
        x, y = similarity[train].ravel(), target[train].ravel()
        model = IsotonicRegression(out_of_bounds="clip").fit(x, y)
        mapped[test] = model.predict(similarity[test].ravel()).reshape(similarity[test].shape)
        constant[test] = y.mean()
    return mapped, constant


def folds(ids: Sequence[str], seed: int, corpus: str) -> npt.NDArray[np.int64]:
    """(n,) the fold of each document: equally large, by a hash of the ids, at most one each."""
    place = np.empty(len(ids), dtype=np.int64)
    place[rng.hash_order(list(ids), seed, "recalibration", corpus)] = np.arange(len(ids))
    return place % FOLDS


def _ranks(values: Floats) -> Floats:
    """(n, k) mean ranks within each row."""
    above = (values[:, :, None] > values[:, None, :]).sum(axis=2)
    equal = (values[:, :, None] == values[:, None, :]).sum(axis=2)
    return np.asarray(above + (equal + 1) / 2, dtype=np.float64)
