"""Seeded bootstrap: statistics of many resamples at once, computed from weights.

A resample of n units is a row of n counts, so a statistic made of weighted sums needs no loop
over resamples. In every array of this module row 0 is the sample itself (each unit once) and
rows 1… are the resamples: a statistic returns (1 + resamples,) float64 whose first value is the
point estimate, NaN where it is undefined.
"""

import numpy as np
import numpy.typing as npt

from sagebench import rng

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

_CONSTANT = 1e-9  # a spread below this is rounding, not variation


def weights(n: int, count: int, seed: int, *purpose: object) -> Floats:
    """(1 + count, n) how often each of n units is in the sample (row 0: once) and each resample.

    The resamples depend only on (n, count, seed, purpose): all systems of a corpus share them,
    so that differences between systems can be read draw by draw.
    """
    drawn = rng.generator(seed, "bootstrap", *purpose).integers(0, n, size=(count, n))
    cells = (drawn + np.arange(count)[:, None] * n).ravel()
    counts = np.bincount(cells, minlength=count * n).reshape(count, n)
    return np.vstack([np.ones(n), counts]).astype(np.float64)


def sums(weights: Floats, columns: Floats) -> Floats:
    """(rows, k) weighted sums of the (n, k) columns; NaN counts as nothing."""
    # Not a BLAS product: its rounding may depend on the number of threads.
    products = np.einsum("bn,nk->bk", weights, np.nan_to_num(columns), optimize=False)
    return np.asarray(products, dtype=np.float64)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """numerator / denominator, NaN where the denominator is 0 or either is NaN."""
    defined = np.isfinite(denominator) & (denominator != 0)
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    result = np.full(shape, np.nan)
    np.divide(numerator, denominator, out=result, where=np.broadcast_to(defined, shape))
    return result


def means(weights: Floats, columns: Floats) -> Floats:
    """(rows, k) means of the (n, k) columns over the units that have a value (not NaN)."""
    present = (~np.isnan(columns)).astype(np.float64)
    return ratio(sums(weights, columns), sums(weights, present))


def mean(weights: Floats, values: Floats) -> Floats:
    """(rows,) mean of the (n,) values over the units that have one (not NaN)."""
    return means(weights, values[:, None])[:, 0]


def classification(weights: Floats, predicted: Floats, actual: Floats) -> dict[str, Floats]:
    """(rows,) accuracy, precision, recall and F1 of (n,) labels; 1 is the positive class.

    `actual` is 0 or 1. `predicted` may also be 0.5, a unit that counts half in both cells of its
    row of the confusion table, or NaN, a unit that is left out. Precision without a positive
    prediction, recall without a positive unit and F1 without either are 0 (scikit-learn's rule).
    """
    hit, miss = predicted * actual, (1 - predicted) * actual
    alarm, pass_ = predicted * (1 - actual), (1 - predicted) * (1 - actual)
    tp, fn, fp, tn = sums(weights, np.column_stack([hit, miss, alarm, pass_])).T
    total = tp + fn + fp + tn

    def or_zero(numerator: Floats, denominator: Floats) -> Floats:
        value = np.where(denominator > 0, ratio(numerator, denominator), 0.0)
        return np.where(total > 0, value, np.nan)

    return {
        "accuracy": ratio(tp + tn, total),
        "precision": or_zero(tp, tp + fp),
        "recall": or_zero(tp, tp + fn),
        "f1": or_zero(2 * tp, 2 * tp + fp + fn),
    }


def is_constant(values: Floats) -> bool:
    """Whether the defined values do not vary (beyond rounding); True if there are none."""
    defined = values[~np.isnan(values)]
    return defined.size == 0 or bool(np.ptp(defined) <= _CONSTANT)


def pearson(weights: Floats, x: Floats, y: Floats) -> Floats:
    """(rows,) Pearson's r of (n,) x and y over the units that have both.

    0 where x or y is constant: no linear relation is to be seen; NaN where no unit has both.
    """
    both = ~np.isnan(x) & ~np.isnan(y)
    if not both.any():
        return np.full(len(weights), np.nan)
    total = weights[:, both].sum(axis=1)
    if is_constant(x[both]) or is_constant(y[both]):
        return np.where(total > 0, 0.0, np.nan)
    # Centred first: the sums of squares below would otherwise lose their digits.
    x, y = x[both] - x[both].mean(), y[both] - y[both].mean()
    columns = np.column_stack([x, y, x * x, y * y, x * y])
    mx, my, mxx, myy, mxy = ratio(sums(weights[:, both], columns), total[:, None]).T
    vx, vy = mxx - mx * mx, myy - my * my
    # A resample may repeat one unit only; its variance is then rounding of the subtraction.
    varies = (vx > 1e-12 * mxx) & (vy > 1e-12 * myy)
    r = ratio(mxy - mx * my, np.sqrt(np.where(varies, vx * vy, np.nan)))
    return np.where(total > 0, np.clip(np.where(varies, r, 0.0), -1, 1), np.nan)


def v_measure(weights: Floats, classes: Codes, clusters: Codes) -> dict[str, Floats]:
    """(rows,) homogeneity, completeness and their harmonic mean, for (n,) codes from 0.

    Rosenberg & Hirschberg 2007, with scikit-learn's conventions: homogeneity is 1 if there is
    one class, completeness is 1 if there is one cluster, V is 0 if both are 0.
    """
    joint = classes * (clusters.max() + 1) + clusters
    of_classes, of_clusters = _entropy(weights, classes), _entropy(weights, clusters)
    shared = of_classes + of_clusters - _entropy(weights, joint)
    shared = np.clip(shared, 0, np.minimum(of_classes, of_clusters))
    homogeneity = np.where(of_classes > 0, ratio(shared, of_classes), 1.0)
    completeness = np.where(of_clusters > 0, ratio(shared, of_clusters), 1.0)
    both = ratio(2 * homogeneity * completeness, homogeneity + completeness)
    return {
        "homogeneity": homogeneity,
        "completeness": completeness,
        "v_measure": np.nan_to_num(both),
    }


def _entropy(weights: Floats, codes: Codes) -> Floats:
    """(rows,) entropy in nats of the weighted distribution of (n,) codes."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    # Sums of whole numbers: exact, whatever their order.
    p = np.add.reduceat(weights[:, order], starts, axis=1) / weights.sum(axis=1, keepdims=True)
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1))).sum(axis=1) + 0.0)


def harmonic_mean(values: Floats) -> Floats:
    """(rows,) harmonic means of the (rows, k) values ≥ 0; 0 in a row that holds a 0 [U]."""
    zero = (values == 0).any(axis=1)
    safe = np.where(values == 0, 1.0, values)
    return np.where(zero, 0.0, ratio(np.full(len(values), values.shape[1]), (1 / safe).sum(axis=1)))


def centred(values: Floats) -> Floats:
    """`values` with its resamples shifted so that their mean is the point; kept in [0, 1].

    For a statistic whose bootstrap is biased. V-measure's is upwards: a resample repeats texts,
    and copies of a text share class and cluster.
    """
    shift = values[0] - np.nanmean(values[1:])
    return np.concatenate([values[:1], np.clip(values[1:] + shift, 0, 1)])


def interval(values: Floats, level: float) -> tuple[float, float]:
    """The percentile interval of values[1:], widened to hold values[0] where it does not.

    (NaN, NaN) if the point or every resample is undefined; undefined resamples are left out.
    """
    draws = values[1:][~np.isnan(values[1:])]
    if np.isnan(values[0]) or not draws.size:
        return np.nan, np.nan
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(min(low, values[0])), float(max(high, values[0]))
