"""Reference rows: what a table's numbers must be compared with before they mean anything."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from sagebench.metrics.base import Floats, Metric, Texts
from sagebench.options import ParameterSet
from sagebench.registry import register
from sagebench.rng import seed_for


class _Constant(Metric):
    """The same similarity for every pair of texts."""

    reference = True
    value: float

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64, all equal."""
        return np.array([self.value for _ in zip(a, b, strict=True)], dtype=np.float64)


@register("metric", "constant_1")
class ConstantOne(_Constant):
    """Every pair of texts is the same text."""

    title = "Constant 1"
    value = 1.0


@register("metric", "constant_2_3")
class ConstantTwoThirds(_Constant):
    """The constant that does best in information sensitivity."""

    title = "Constant 2/3"
    value = 2 / 3


@register("metric", "length_ratio")
class LengthRatio(Metric):
    """Shorter over longer length in characters: 1 for two empty texts."""

    title = "Length ratio"
    reference = True

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [0, 1]; symmetric."""
        lengths = np.array([(len(x), len(y)) for x, y in zip(a, b, strict=True)])
        low, high = lengths.reshape(-1, 2).min(axis=1), lengths.reshape(-1, 2).max(axis=1)
        return np.where(high > 0, low / np.maximum(high, 1), 1.0)


@register("metric", "random")
class Random(Metric):
    """Uniform in [0, 1), drawn from the hash of the seed and the unordered pair of texts.

    The same pair has the same value wherever it appears, even against itself.
    """

    title = "Random"
    reference = True

    class Parameters(ParameterSet):
        """`seed`: another seed, another independent table of values."""

        seed: int = Field(0, ge=0)

    def __init__(self, raw: Path, **params: Any) -> None:
        super().__init__(raw, **params)
        self._digests: dict[str, str] = {}

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [0, 1); symmetric."""
        return np.array([self._draw(x, y) for x, y in zip(a, b, strict=True)], dtype=np.float64)

    def _draw(self, a: str, b: str) -> float:
        pair = sorted((self._digest(a), self._digest(b)))
        # The top 53 of 128 bits: every value is a float64, and 1 is out of reach.
        return (seed_for(self.parameters.seed, "random similarity", *pair) >> 75) / 2**53

    def _digest(self, text: str) -> str:
        if text not in self._digests:
            data = text.encode("utf-8", "surrogatepass")
            self._digests[text] = hashlib.sha256(data).hexdigest()
        return self._digests[text]
