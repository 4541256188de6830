"""ROUGE over cl100k tokens: mean of ROUGE-1 F and ROUGE-2 F (paper, section 3)."""

from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sagebench.metrics import allpairs
from sagebench.metrics.base import Floats, Metric, Texts
from sagebench.metrics.overlap import Keys, Overlaps, overlaps_of_pairs
from sagebench.metrics.token_ids import Ids, TokenIds
from sagebench.options import ParameterSet
from sagebench.registry import register

_ORDERS = (1, 2)  # ROUGE-1, ROUGE-2
_ID_BITS = 17  # cl100k has fewer than 2**17 ids
_OCCURRENCE_BITS = 63 - 2 * _ID_BITS  # an n-gram may occur 2**29 times in a text


@register("metric", "rouge", needs=("cl100k",))
class Rouge(Metric):
    """Mean of ROUGE-1 F and ROUGE-2 F; symmetric.

    As in rouge-score a text of one token has no bigram (ROUGE-2 = 0, so 0.5 against itself)
    and an empty text scores 0. `implementation` chooses who scores `pairs`: `library` is
    rouge-score itself, `exact` the kernel below, equal to it to the last bit and about 15
    times as fast. All pairs always go through the kernel: the library needs 2 ms a pair.
    """

    title = "ROUGE"

    class Parameters(ParameterSet):
        """`implementation`: what scores aligned pairs."""

        implementation: Literal["library", "exact"] = "library"

    def __init__(self, raw: Path, **params: Any) -> None:
        super().__init__(raw, **params)
        self._ids = TokenIds(self.raw)
        self._known: dict[tuple[str, int], Keys] = {}

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [0, 1]."""
        if self.parameters.implementation == "library":
            return self._library_pairs(a, b)
        return _mean(
            [f_measure(*overlaps_of_pairs(self._sets(a, n), self._sets(b, n))) for n in _ORDERS]
        )

    def matrix(self, queries: Texts, documents: Texts) -> Floats:
        """(n, m) float64 in [0, 1]."""
        overlaps = [Overlaps(self._sets(queries, n), self._sets(documents, n)) for n in _ORDERS]
        return allpairs.matrix(
            len(queries),
            len(documents),
            lambda start, stop: _mean([f_measure(*each.block(start, stop)) for each in overlaps]),
        )

    def condensed(self, texts: Texts) -> Floats:
        """(n(n-1)/2,) float32 in [0, 1]."""
        overlaps = [Overlaps(self._sets(texts, n)) for n in _ORDERS]
        return allpairs.condensed(
            len(texts),
            lambda start, stop: _mean(
                [f_measure(*each.block(start, stop, start)) for each in overlaps]
            ),
        )

    def tokenize(self, text: str) -> list[int]:
        """cl100k ids; makes this object a tokenizer for rouge-score."""
        return self._ids(text).tolist()

    @cached_property
    def _scorer(self) -> Any:
        from rouge_score.rouge_scorer import RougeScorer

        return RougeScorer([f"rouge{n}" for n in _ORDERS], tokenizer=self)

    def _library_pairs(self, a: Texts, b: Texts) -> Floats:
        scores = [self._scorer.score(x, y) for x, y in zip(a, b, strict=True)]
        measures = [[score[f"rouge{n}"].fmeasure for score in scores] for n in _ORDERS]
        return _mean([np.array(measure, dtype=np.float64) for measure in measures])

    def _sets(self, texts: Texts, n: int) -> list[Keys]:
        return [self._set(text, n) for text in texts]

    def _set(self, text: str, n: int) -> Keys:
        if (text, n) not in self._known:
            self._known[text, n] = ngram_occurrences(self._ids(text), n)
        return self._known[text, n]


def ngram_occurrences(ids: Ids, n: int) -> Keys:
    """Sorted distinct keys of (n-gram, how many equal ones came before it), n = 1 or 2.

    A clipped n-gram overlap, sum of min(count in a, count in b), is the size of the
    intersection of two such sets.
    """
    grams = np.sort(ids if n == 1 else (ids[:-1] << _ID_BITS) | ids[1:])
    place = np.arange(len(grams))
    first = np.searchsorted(grams, grams)  # where the run of equal n-grams starts
    return (grams << _OCCURRENCE_BITS) | (place - first)


def f_measure(shared: Floats, left: Floats, right: Floats) -> Floats:
    """F measures from clipped overlaps and n-gram counts, computed as rouge-score does."""
    precision = shared / np.maximum(right, 1)
    recall = shared / np.maximum(left, 1)
    both = precision + recall
    return np.divide(2 * precision * recall, both, out=np.zeros(both.shape), where=both > 0)


def _mean(measures: list[Floats]) -> Floats:
    return sum(measures[1:], start=measures[0]) / len(measures)
