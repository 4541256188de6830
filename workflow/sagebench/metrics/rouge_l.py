"""ROUGE-L over cl100k tokens (Lin 2004, section 3): not in the paper, an option."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import LCSseq

from sagebench.metrics import allpairs
from sagebench.metrics.base import Floats, Metric, Texts
from sagebench.metrics.rouge import f_measure
from sagebench.metrics.token_ids import TokenIds
from sagebench.registry import register


@register("metric", "rouge_l", needs=("cl100k",))
class RougeL(Metric):
    """F of the longest common subsequence of tokens; symmetric.

    Equal to rouge-score's ROUGE-L, whose table of m × n steps becomes m·n/64 machine words: over
    a thousand times as fast on 1,000 words. As there an empty text scores 0, against another
    empty one too.
    """

    title = "ROUGE-L"

    def __init__(self, raw: Path, **params: Any) -> None:
        super().__init__(raw, **params)
        self._ids = TokenIds(self.raw)

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [0, 1]."""
        left, right = self._coded(a), self._coded(b)
        common = process.cpdist(left, right, scorer=LCSseq.similarity, dtype=np.int32)
        return f_measure(common.astype(np.float64), _lengths(left), _lengths(right))

    def matrix(self, queries: Texts, documents: Texts) -> Floats:
        """(n, m) float64 in [0, 1]."""
        rows, columns = self._coded(queries), self._coded(documents)
        return allpairs.matrix(
            len(rows), len(columns), lambda start, stop: _scores(rows[start:stop], columns)
        )

    def condensed(self, texts: Texts) -> Floats:
        """(n(n-1)/2,) float32 in [0, 1]."""
        coded = self._coded(texts)
        return allpairs.condensed(
            len(coded), lambda start, stop: allpairs.onward(coded, start, stop, _scores)
        )

    def _coded(self, texts: Texts) -> list[str]:
        """Each text as a string in which the code point i is the token i: rapidfuzz's fast path."""
        tokens = [self._ids(text).astype("<u4").tobytes() for text in texts]
        return [each.decode("utf-32-le", "surrogatepass") for each in tokens]


def _scores(rows: Sequence[str], columns: Sequence[str]) -> Floats:
    common = process.cdist(rows, columns, scorer=LCSseq.similarity, dtype=np.int32)
    return f_measure(common.astype(np.float64), _lengths(rows)[:, None], _lengths(columns))


def _lengths(coded: Sequence[str]) -> Floats:
    return np.array([len(each) for each in coded], dtype=np.float64)
