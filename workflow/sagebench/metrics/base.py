"""What every similarity metric offers: aligned pairs, all queries × documents, all pairs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sagebench.options import ParameterSet, checked

Floats = npt.NDArray[np.floating[Any]]
Texts = Sequence[str]


class Metric(ABC):
    """A similarity of texts. Texts are any strings: empty, with NUL or lone surrogates, huge.

    A metric depends on the texts that one call shows it and on its parameters, never on their
    order, earlier calls or global state. NaN means "no similarity is defined" and nothing else.
    """

    title: ClassVar[str]
    reference: ClassVar[bool] = False  # a row to compare metrics with, not a metric
    batch_dependent: bool = False  # a pair's value depends on the call's other pairs
    corpus_dependent: bool = False  # `matrix`, `condensed`: on the call's other texts

    class Parameters(ParameterSet):
        """No parameters, unless the metric declares some."""

    def __init__(self, raw: Path, **params: Any) -> None:
        """`raw` is data/raw, with the sources that the registration `needs`.

        Raises BenchError for an unknown parameter or a value that is not allowed.
        """
        self.raw = Path(raw)
        self.parameters: Any = checked(f"metric {self.title}", self.Parameters, params)

    @abstractmethod
    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [0, 1] or NaN: a[i], the original or source, against b[i].

        One call is one batch. ValueError if `a` and `b` differ in length.
        """

    def matrix(self, queries: Texts, documents: Texts) -> Floats:
        """(n, m) scores of every query against every document: any scale, higher is nearer."""
        rows = [self.pairs([query] * len(documents), documents) for query in queries]
        return np.array(rows).reshape(len(queries), len(documents))

    def condensed(self, texts: Texts) -> Floats:
        """(n(n-1)/2,) float32 in [0, 1] or NaN: all unordered pairs in scipy's order."""
        rows = [
            self.pairs([text] * (len(texts) - i), texts[i:])
            for i, text in enumerate(texts, start=1)
        ]
        return np.concatenate([np.empty(0), *rows]).astype(np.float32)
