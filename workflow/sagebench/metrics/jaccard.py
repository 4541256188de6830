"""Jaccard similarity of cl100k token sets (paper, section 3)."""

from pathlib import Path
from typing import Any

import numpy as np

from sagebench.metrics import allpairs
from sagebench.metrics.base import Floats, Metric, Texts
from sagebench.metrics.overlap import Keys, Overlaps, overlaps_of_pairs
from sagebench.metrics.token_ids import TokenIds
from sagebench.registry import register


@register("metric", "jaccard", needs=("cl100k",))
class Jaccard(Metric):
    """|A ∩ B| / |A ∪ B| over the sets of cl100k tokens; symmetric.

    Two empty texts are equal sets: 1, as for Levenshtein. [U]
    """

    title = "Jaccard"

    def __init__(self, raw: Path, **params: Any) -> None:
        super().__init__(raw, **params)
        self._ids = TokenIds(self.raw)
        self._known: dict[str, Keys] = {}

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [0, 1]."""
        return _ratio(*overlaps_of_pairs(self._sets(a), self._sets(b)))

    def matrix(self, queries: Texts, documents: Texts) -> Floats:
        """(n, m) float64 in [0, 1]."""
        overlaps = Overlaps(self._sets(queries), self._sets(documents))
        return allpairs.matrix(
            len(queries),
            len(documents),
            lambda start, stop: _ratio(*overlaps.block(start, stop)),
        )

    def condensed(self, texts: Texts) -> Floats:
        """(n(n-1)/2,) float32 in [0, 1]."""
        overlaps = Overlaps(self._sets(texts))
        return allpairs.condensed(
            len(texts), lambda start, stop: _ratio(*overlaps.block(start, stop, first=start))
        )

    def _sets(self, texts: Texts) -> list[Keys]:
        return [self._set(text) for text in texts]

    def _set(self, text: str) -> Keys:
        if text not in self._known:
            self._known[text] = np.unique(self._ids(text))
        return self._known[text]


def _ratio(shared: Floats, left: Floats, right: Floats) -> Floats:
    """Intersections over unions, in float64, from intersections and set sizes."""
    union = left + right - shared
    return np.divide(shared, union, out=np.ones(union.shape), where=union > 0)
