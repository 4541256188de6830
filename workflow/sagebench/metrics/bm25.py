"""BM25Plus over cl100k tokens (paper, section 3; rank_bm25's formula)."""

from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from sagebench.metrics import allpairs
from sagebench.metrics.base import Floats, Metric, Texts
from sagebench.metrics.bm25_index import Bag, Index, saturation
from sagebench.metrics.token_ids import TokenIds
from sagebench.options import ParameterSet
from sagebench.registry import register


@register("metric", "bm25", needs=("cl100k",))
class BM25(Metric):
    """BM25Plus scores brought into [0, 1]; not symmetric in `pairs`.

    `pairs` scores each query b[i] in the corpus that holds a[i] alone, as the paper's authors
    did: tokens that b adds count nothing, and an empty text scores 0. `normalise`:

    - `batch`, the paper's: min-max over the call, so a value depends on the other pairs and
      the same text need not score 1. A batch of equal scores has no scale: 0.5. [U]
    - `self`: divided by the document's score with itself. A longer text that repeats the
      document's tokens would exceed 1, and is cut there. An empty document: 0.

    `condensed` scores every text as a query in the corpus of all, and averages the two
    directions of a pair: `batch` then takes min-max over the pairs, `self` divides each
    direction before (and cuts it at 1). `matrix` gives the raw scores of the corpus.
    """

    title = "BM25Plus"
    corpus_dependent = True

    class Parameters(ParameterSet):
        """`k1` saturation, `b` length normalisation, `delta` floor of a matching term."""

        k1: float = Field(1.5, ge=0)
        b: float = Field(0.75, ge=0, le=1)
        delta: float = Field(1.0, ge=0)
        normalise: Literal["batch", "self"] = "batch"

    def __init__(self, raw: Path, **params: Any) -> None:
        super().__init__(raw, **params)
        self.batch_dependent = self.parameters.normalise == "batch"
        self._ids = TokenIds(self.raw)
        self._known: dict[str, Bag] = {}

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [0, 1]."""
        scores = [self._score(x, y) for x, y in zip(a, b, strict=True)]
        raw = np.array(scores, dtype=np.float64)
        if self.parameters.normalise == "batch":
            return _min_max(raw)
        return _share(raw, np.array([self._score(x, x) for x in a], dtype=np.float64))

    def matrix(self, queries: Texts, documents: Texts) -> Floats:
        """(n, m) float64 >= 0: raw scores, the documents being the corpus."""
        index = self._index(documents)
        asked = index.queries([self._bag(query) for query in queries])
        return allpairs.matrix(len(queries), len(documents), partial(index.scores, asked))

    def condensed(self, texts: Texts) -> Floats:
        """(n(n-1)/2,) float32 in [0, 1]."""
        index = self._index(texts)
        asked = index.queries([self._bag(text) for text in texts])
        own = index.own_scores(asked)
        by_self = self.parameters.normalise == "self"

        def block(start: int, stop: int) -> Floats:
            as_query = index.scores(asked, start, stop, first=start)
            as_document = index.scores_of_documents(asked, start, stop)
            if by_self:
                as_query = _share(as_query, own[start:])
                as_document = _share(as_document, own[start:stop, None])
            return (as_query + as_document) / 2

        values = allpairs.condensed(len(texts), block)
        return values if by_self else _min_max(values)

    def _index(self, documents: Texts) -> Index:
        chosen = self.parameters
        bags = [self._bag(text) for text in documents]
        return Index(bags, k1=chosen.k1, b=chosen.b, delta=chosen.delta)

    def _score(self, document: str, query: str) -> float:
        """Raw score in a corpus of one: its idf is log 2, its length the average."""
        held, asked = self._bag(document), self._bag(query)
        _, i, j = np.intersect1d(held.ids, asked.ids, assume_unique=True, return_indices=True)
        k1, delta = self.parameters.k1, self.parameters.delta
        gains = delta + saturation(held.counts[i], k1, k1)
        return float(np.log(2) * np.sum(asked.counts[j] * gains))

    def _bag(self, text: str) -> Bag:
        if text not in self._known:
            self._known[text] = Bag.of(self._ids(text))
        return self._known[text]


def _min_max(values: Floats) -> Floats:
    if not values.size:
        return values
    low, high = values.min(), values.max()
    if low == high:
        return np.full_like(values, 0.5)
    return (values - low) / (high - low)


def _share(values: Floats, own: Floats) -> Floats:
    """values / own, cut at 1; 0 where the own score is 0 (an empty document)."""
    shape = np.broadcast_shapes(values.shape, own.shape)
    return np.minimum(np.divide(values, own, out=np.zeros(shape), where=own > 0), 1)
