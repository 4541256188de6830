"""Sizes of the intersections of many sets with many sets, exactly, as a matrix product.

A set is a row of a 0/1 matrix whose columns are the keys, so intersections are M·Mᵀ. The few
keys that most texts share (function words, commas) carry nearly all of the work: they go
through a dense product, the long tail through a sparse one. Sums of ones stay exact in float32
up to 2²⁴, whatever the order in which they are added.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench.metrics.base import Floats

Keys = npt.NDArray[np.int64]

# Measured on 5,000 news texts: 0.19 s with 256 dense columns, 0.56 s with none, 0.65 s with 2,048.
_DENSE_COLUMNS = 256


class Overlaps:
    """|A ∩ B| of every set in `left` with every set in `right` (default: `left` itself)."""

    def __init__(self, left: Sequence[Keys], right: Sequence[Keys] | None = None) -> None:
        """Each set is a (k,) int64 array of distinct keys."""
        columns = _Columns(left, right)
        self._left = columns.incidence(left)
        self._right = self._left if right is None else columns.incidence(right)
        self._left_sizes = _sizes(left)
        self._right_sizes = self._left_sizes if right is None else _sizes(right)

    def block(self, start: int, stop: int, first: int = 0) -> tuple[Floats, Floats, Floats]:
        """Left sets start…stop against right sets first…m.

        Returns the intersections (stop - start, m - first) float32, and the sets' sizes as
        (stop - start, 1) and (m - first,) float64.
        """
        dense, sparse = self._left
        right_dense, right_sparse = self._right
        shared = (sparse[start:stop] @ right_sparse[first:].T).toarray()
        shared += dense[start:stop] @ right_dense[first:].T
        return shared, self._left_sizes[start:stop, None], self._right_sizes[first:]


def overlaps_of_pairs(left: Sequence[Keys], right: Sequence[Keys]) -> tuple[Floats, Floats, Floats]:
    """|left[i] ∩ right[i]|, |left[i]|, |right[i]|: three (n,) float64 arrays."""
    shared = [
        len(np.intersect1d(x, y, assume_unique=True)) for x, y in zip(left, right, strict=True)
    ]
    return np.array(shared, dtype=np.float64), _sizes(left), _sizes(right)


class _Columns:
    """The keys that a pair can share, the most frequent first; any other key is left out."""

    def __init__(self, left: Sequence[Keys], right: Sequence[Keys] | None) -> None:
        keys, counts = np.unique(_joined(left), return_counts=True)
        if right is None:
            shared = counts > 1
            self._keys, weight = keys[shared], counts[shared]
        else:
            others, other_counts = np.unique(_joined(right), return_counts=True)
            self._keys, mine, theirs = np.intersect1d(
                keys, others, assume_unique=True, return_indices=True
            )
            weight = counts[mine] * other_counts[theirs]
        self._rank = np.empty(len(self._keys), dtype=np.int64)
        self._rank[np.argsort(-weight, kind="stable")] = np.arange(len(self._keys))

    def incidence(self, sets: Sequence[Keys]) -> tuple[Floats, Any]:
        """The 0/1 matrix of the sets: its frequent columns dense, the others sparse."""
        from scipy.sparse import csr_array

        keys = _joined(sets)
        place = np.searchsorted(self._keys, keys)
        known = np.append(self._keys, -1)[place] == keys
        row_ends = np.append(0, np.cumsum(known))[np.cumsum([0, *map(len, sets)])]
        ones = np.ones(int(known.sum()), dtype=np.float32)
        shape = (len(sets), len(self._keys))
        matrix = csr_array((ones, self._rank[place[known]], row_ends), shape=shape)
        return matrix[:, :_DENSE_COLUMNS].toarray(), matrix[:, _DENSE_COLUMNS:]


def _joined(sets: Sequence[Keys]) -> Keys:
    return np.concatenate([np.empty(0, dtype=np.int64), *sets])


def _sizes(sets: Sequence[Keys]) -> Floats:
    return np.array([len(keys) for keys in sets], dtype=np.float64)
