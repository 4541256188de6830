"""Cosine of a model's embeddings: the system `similarity` of every embedding model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from sagebench.embeddings.keys import query_key, text_key
from sagebench.metrics.vectors import Rows, Vectors

_BLOCK = 1_024  # rows of a product that are held in double precision at a time

Double = npt.NDArray[np.float64]


class Cosine:
    """Looks texts up in an embeddings table (frames.EMBEDDINGS) and compares them.

    Everything is computed in float64, from vectors brought to length 1 in float64: equal texts
    give exactly 1, texts with equal vectors exactly equal similarities wherever they stand in a
    matrix, and the number of threads changes nothing after rounding.
    """

    def __init__(self, embeddings: pl.DataFrame | Path) -> None:
        """`embeddings`: the table, or where it lies: large ones are then not held in memory."""
        self._vectors = Vectors(embeddings)
        self._documents: tuple[list[str], Double] | None = None

    def pairs(self, a: Sequence[str], b: Sequence[str]) -> Double:
        """(n,) cosines in [-1, 1] of a[i] and b[i]; NaN where a side has no direction.

        BenchError if a text is not in the table, ValueError if the lengths differ.
        """
        if len(a) != len(b):
            raise ValueError(f"{len(a)} texts on one side, {len(b)} on the other")
        left, right = self._vectors.find(a), self._vectors.find(b)
        result = np.empty(len(left))
        for start in range(0, len(left), _BLOCK):
            part = slice(start, start + _BLOCK)
            product = self._unit(left[part]) * self._unit(right[part])
            result[part] = _round(product.sum(axis=1))
        valid = self._vectors.valid
        result[~(valid[left] & valid[right])] = np.nan
        return result

    def matrix(self, queries: Sequence[str], documents: Sequence[str]) -> npt.NDArray[np.float32]:
        """(n, m) cosines in [-1, 1]; 0 where a side has no direction.

        Queries have rows of their own in the table of a model that reads them in another way.
        """
        apart = self._vectors.any(queries, query_key)
        rows = self._vectors.find(queries, query_key if apart else text_key)
        right = self._unit_documents(documents).T
        result = np.empty((len(rows), right.shape[1]), np.float32)
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            result[part] = _round(self._unit(rows[part]) @ right)
        return result

    def condensed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """(n(n-1)/2,) cosines of all pairs i < j, row by row as in scipy; 0 without direction."""
        unit = self._unit(self._vectors.find(texts))
        n = len(unit)
        result = np.empty(n * (n - 1) // 2, np.float32)
        at = 0
        for start in range(0, n, _BLOCK):
            block = _round(unit[start : start + _BLOCK] @ unit[start:].T)
            for i, row in enumerate(block):
                after = row[i + 1 :]
                result[at : at + len(after)] = after
                at += len(after)
        return result

    def _unit_documents(self, documents: Sequence[str]) -> Double:
        """(m, dim) unit vectors, kept for the next call: queries come in blocks."""
        if self._documents is None or self._documents[0] != list(documents):
            self._documents = None  # never two corpora at once
            self._documents = (list(documents), self._unit(self._vectors.find(documents)))
        return self._documents[1]

    def _unit(self, rows: Rows) -> Double:
        result = np.empty((len(rows), self._vectors.dim))
        for start in range(0, len(rows), _BLOCK):  # what a block needs besides stays in cache
            vectors = result[start : start + _BLOCK]
            vectors[:] = self._vectors.take(rows[start : start + _BLOCK])
            length = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
            np.divide(vectors, length, out=vectors, where=length > 0)
        return result


def _round(products: Double) -> Double:
    """To [-1, 1] and, whatever order a sum of products was taken in, to 12 decimals; in place."""
    np.round(products, 12, out=products)
    return np.clip(products, -1.0, 1.0, out=products)
