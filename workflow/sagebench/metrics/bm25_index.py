"""BM25Plus scores of many queries in one corpus, as sparse matrix products."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench.metrics.base import Floats
from sagebench.metrics.token_ids import Ids


@dataclass(frozen=True)
class Bag:
    """A text's distinct tokens in ascending order, and how often each occurs."""

    ids: Ids
    counts: npt.NDArray[np.float64]

    @classmethod
    def of(cls, ids: Ids) -> "Bag":
        """The bag of a token sequence."""
        distinct, counts = np.unique(ids, return_counts=True)
        return cls(distinct, counts.astype(np.float64))


class Index:
    """A corpus, ready to be asked.

    score(q, d) = sum over the tokens t of q that the corpus knows, each time they occur, of
    idf(t) · (delta + f·(k1 + 1) / (k1·(1 - b + b·|d|/avgdl) + f)), f = count of t in d, and
    idf(t) = log((N + 1) / documents with t). As in rank_bm25 delta counts for every known
    token, in d or not: it shifts all scores of a query alike.
    """

    def __init__(self, documents: Sequence[Bag], k1: float, b: float, delta: float) -> None:
        """`documents`: the corpus; k1, b, delta: see the formula."""
        ids = np.concatenate([np.empty(0, dtype=np.int64), *(bag.ids for bag in documents)])
        self._vocabulary, spread = np.unique(ids, return_counts=True)
        idf = np.log((len(documents) + 1) / spread)
        self._floor = delta * idf
        lengths = np.array([bag.counts.sum() for bag in documents])
        relative = lengths / (lengths.mean() or 1.0) if len(documents) else lengths
        weights = self._counts(documents)
        dampers = np.repeat(k1 * (1 - b + b * relative), np.diff(weights.indptr))
        weights.data = idf[weights.indices] * saturation(weights.data, k1, dampers)
        self._weights = weights  # (n_documents, vocabulary)

    def queries(self, bags: Sequence[Bag]) -> Any:
        """(n_queries, vocabulary) sparse counts; tokens outside the corpus are dropped."""
        return self._counts(bags)

    def scores(self, queries: Any, start: int, stop: int, first: int = 0) -> Floats:
        """(stop - start, n_documents - first): queries start…stop, documents first…"""
        asked = queries[start:stop]
        return (asked @ self._weights[first:].T).toarray() + (asked @ self._floor)[:, None]

    def scores_of_documents(self, queries: Any, start: int, stop: int) -> Floats:
        """(stop - start, n_queries - start): documents start…stop, each against queries start…"""
        asked = queries[start:]
        return (self._weights[start:stop] @ asked.T).toarray() + asked @ self._floor

    def own_scores(self, queries: Any) -> Floats:
        """(n,) score of document i for query i."""
        return queries.multiply(self._weights).sum(axis=1) + queries @ self._floor

    def _counts(self, bags: Sequence[Bag]) -> Any:
        from scipy.sparse import csr_array

        ids = np.concatenate([np.empty(0, dtype=np.int64), *(bag.ids for bag in bags)])
        counts = np.concatenate([np.empty(0), *(bag.counts for bag in bags)])
        column = np.searchsorted(self._vocabulary, ids)
        known = np.append(self._vocabulary, -1)[column] == ids
        ends = np.append(0, np.cumsum(known))[np.cumsum([0, *(len(bag.ids) for bag in bags)])]
        shape = (len(bags), len(self._vocabulary))
        return csr_array((counts[known], column[known], ends), shape=shape)


def saturation(counts: Floats, k1: float, dampers: Floats | float) -> Floats:
    """What f occurrences of a token are worth: f·(k1 + 1) / (damper + f), at most k1 + 1."""
    return counts * (k1 + 1) / (dampers + counts)
