"""Levenshtein ratio (paper, section 3; python-Levenshtein's `ratio`)."""

import numpy as np
from pydantic import Field
from rapidfuzz import process
from rapidfuzz.distance import Indel

from sagebench.metrics import allpairs
from sagebench.metrics.base import Floats, Metric, Texts
from sagebench.options import ParameterSet
from sagebench.registry import register

_RATIO = Indel.normalized_similarity


@register("metric", "levenshtein")
class Levenshtein(Metric):
    """1 - d / (|a| + |b|), d = insertions and deletions of code points; two empty texts: 1.

    Values do not depend on `workers`. One is the default, for the workflow runs systems side by
    side.
    """

    title = "Levenshtein"

    class Parameters(ParameterSet):
        """`workers`: threads that compare pairs."""

        workers: int = Field(1, ge=1)

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [0, 1]; symmetric."""
        return process.cpdist(
            a, b, scorer=_RATIO, dtype=np.float64, workers=self.parameters.workers
        )

    def matrix(self, queries: Texts, documents: Texts) -> Floats:
        """(n, m) float32 in [0, 1]."""
        return self._ratios(queries, documents)

    def condensed(self, texts: Texts) -> Floats:
        """(n(n-1)/2,) float32 in [0, 1]; holds one block of rows besides the result."""
        return allpairs.condensed(
            len(texts), lambda start, stop: allpairs.onward(texts, start, stop, self._ratios)
        )

    def _ratios(self, rows: Texts, columns: Texts) -> Floats:
        workers = self.parameters.workers
        return process.cdist(rows, columns, scorer=_RATIO, dtype=np.float32, workers=workers)
