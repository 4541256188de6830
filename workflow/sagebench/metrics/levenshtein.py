"""Levenshtein ratio (paper, section 3; python-Levenshtein's `ratio`)."""

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Indel

from sagebench.metrics import allpairs
from sagebench.metrics.base import Floats, Metric, Texts
from sagebench.registry import register


@register("metric", "levenshtein")
class Levenshtein(Metric):
    """1 - d / (|a| + |b|), d = insertions and deletions of code points; two empty texts: 1.

    One worker: the workflow runs systems side by side, and a second worker gained nothing.
    """

    title = "Levenshtein"

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [0, 1]; symmetric."""
        return process.cpdist(a, b, scorer=Indel.normalized_similarity, dtype=np.float64)

    def matrix(self, queries: Texts, documents: Texts) -> Floats:
        """(n, m) float32 in [0, 1]."""
        return _ratios(queries, documents)

    def condensed(self, texts: Texts) -> Floats:
        """(n(n-1)/2,) float32 in [0, 1]; holds one block of rows besides the result."""
        return allpairs.condensed(
            len(texts), lambda start, stop: _ratios(texts[start:stop], texts[start:])
        )


def _ratios(rows: Texts, columns: Texts) -> Floats:
    return process.cdist(rows, columns, scorer=Indel.normalized_similarity, dtype=np.float32)
