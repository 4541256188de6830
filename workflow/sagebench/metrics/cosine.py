"""Cosine of a model's embeddings: the system `similarity` of every embedding model."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sagebench.embeddings.keys import query_key, text_key
from sagebench.errors import BenchError

_BLOCK = 1_024  # rows of a product that are held in double precision at a time

Double = npt.NDArray[np.float64]


class Cosine:
    """Looks texts up in an embeddings table (frames.EMBEDDINGS) and compares them.

    Everything is computed in float64, from vectors brought to length 1 in float64: equal texts
    give exactly 1, texts with equal vectors exactly equal similarities wherever they stand in a
    matrix, and the number of threads changes nothing after rounding.
    """

    def __init__(self, embeddings: pl.DataFrame) -> None:
        n = embeddings.height
        self._rows = dict(zip(embeddings["text_sha256"], range(n), strict=True))
        values: npt.NDArray[np.float32] = (
            embeddings["vector"].explode(empty_as_null=False).to_numpy()
        )
        self._vectors = values.reshape(n, len(values) // max(n, 1))
        self._valid: npt.NDArray[np.bool_] = embeddings["valid"].to_numpy()

    def pairs(self, a: Sequence[str], b: Sequence[str]) -> Double:
        """(n,) cosines in [-1, 1] of a[i] and b[i]; NaN where a side has no direction.

        BenchError if a text is not in the table, ValueError if the lengths differ.
        """
        if len(a) != len(b):
            raise ValueError(f"{len(a)} texts on one side, {len(b)} on the other")
        left, right = self._find(a), self._find(b)
        result = np.empty(len(left))
        for start in range(0, len(left), _BLOCK):
            part = slice(start, start + _BLOCK)
            product = self._unit(left[part]) * self._unit(right[part])
            result[part] = _round(product.sum(axis=1))
        result[~(self._valid[left] & self._valid[right])] = np.nan
        return result

    def matrix(self, queries: Sequence[str], documents: Sequence[str]) -> npt.NDArray[np.float32]:
        """(n, m) cosines in [-1, 1]; 0 where a side has no direction.

        Queries have rows of their own in the table of a model that reads them in another way.
        """
        apart = any(query_key(text) in self._rows for text in queries)
        rows = self._find(queries, query_key if apart else text_key)
        columns = self._find(documents)
        right = self._unit(columns).T
        result = np.empty((len(rows), len(columns)), np.float32)
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            result[part] = _round(self._unit(rows[part]) @ right)
        return result

    def condensed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """(n(n-1)/2,) cosines of all pairs i < j, row by row as in scipy; 0 without direction."""
        unit = self._unit(self._find(texts))
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

    def _unit(self, rows: npt.NDArray[np.int64]) -> Double:
        vectors = self._vectors[rows].astype(np.float64)
        length = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        return np.divide(vectors, length, out=vectors, where=length > 0)

    def _find(
        self, texts: Sequence[str], key: Callable[[str], str] = text_key
    ) -> npt.NDArray[np.int64]:
        found = [self._rows.get(key(text), -1) for text in texts]
        if -1 in found:
            text = texts[found.index(-1)]
            raise BenchError(
                f"no embedding of the text that begins {text[:60]!r} (sha256 "
                f"{text_key(text)[:16]}): this table was made for other texts; delete it and run "
                "again"
            )
        return np.asarray(found, np.int64)


def _round(products: npt.NDArray[Any]) -> Double:
    """To [-1, 1], and to 12 decimals: whatever order a sum of products was taken in."""
    return np.clip(np.round(products, 12), -1.0, 1.0)
