"""A user's own functions as systems: what they return is checked before a number rests on it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from sagebench import frames
from sagebench.embeddings.base import replace_surrogates
from sagebench.embeddings.keys import text_key
from sagebench.errors import BenchError
from sagebench.metrics.base import Floats, Metric, Texts

Encode = Callable[[list[str]], Any]
Similarity = Callable[[list[str], list[str]], Any]
_SLACK = 1e-6  # a cosine of two equal vectors may lie this far above 1


def encode_all(name: str, encode: Encode, texts: Sequence[str], batch: int) -> pl.DataFrame:
    """frames.EMBEDDINGS of the distinct `texts` by `encode`, `batch` texts a call in sorted order.

    As for the packaged models a blank text has no direction and is not shown to the function,
    and lone surrogates are replaced. `tokens` is 0 and `truncated` False: a function does not say
    how much of a text it reads. BenchError if the result is no (n, dim) array of finite numbers.
    """
    known = sorted({text_key(text): text for text in texts}.items())
    shown = sorted({replace_surrogates(text) for _, text in known if text.strip()})
    vectors: dict[str, npt.NDArray[np.float32]] = {}
    dim = 0
    for start in range(0, len(shown), batch):
        part = shown[start : start + batch]
        found = _matrix(name, encode(list(part)), part)
        dim = dim or found.shape[1]
        if found.shape[1] != dim:
            raise BenchError(
                f"encode function {name!r} gave vectors of {dim} numbers first and of "
                f"{found.shape[1]} later (batch of {len(part)} texts from number {start})"
            )
        vectors.update(zip(part, _unit(found), strict=True))
    nothing = np.zeros(max(dim, 1), np.float32)
    rows = [vectors.get(replace_surrogates(text), nothing) for _, text in known]
    table = pl.DataFrame(
        {
            "text_sha256": pl.Series([key for key, _ in known], dtype=pl.String),
            "vector": pl.Series([row.tolist() for row in rows], dtype=pl.List(pl.Float32)),
            "tokens": pl.Series([0] * len(known), dtype=pl.Int64),
            "truncated": pl.Series([False] * len(known), dtype=pl.Boolean),
            "valid": pl.Series([bool(row.any()) for row in rows], dtype=pl.Boolean),
        }
    )
    return frames.EMBEDDINGS.check(table, f"embeddings of {name}")


class OwnSimilarity(Metric):
    """A user's function of two lists of texts, called once per batch of pairs."""

    title: ClassVar[str] = "own similarity"

    def __init__(self, name: str, function: Similarity) -> None:
        super().__init__(Path())
        self._name, self._function = name, function

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [-1, 1].

        BenchError if the function's result has another shape, is not finite or out of range.
        """
        if not a:
            return np.empty(0)
        found = _numbers(self._name, "similarity", self._function(list(a), list(b)))
        if found.shape != (len(a),):
            raise BenchError(
                f"similarity function {self._name!r} gave an array of shape {found.shape} for "
                f"{len(a)} pairs; it must be ({len(a)},), one number for a[i] and b[i]"
            )
        for problem, bad in (
            ("not finite", ~np.isfinite(found)),
            ("outside [-1, 1]", np.abs(found) > 1 + _SLACK),
        ):
            if bad.any():
                at = int(bad.argmax())
                raise BenchError(
                    f"similarity function {self._name!r} gave {found[at]}, which is {problem}, "
                    f"for the texts that begin {a[at][:60]!r} and {b[at][:60]!r} "
                    f"({np.count_nonzero(bad)} of {len(a)} pairs of this call)"
                )
        return found


def _matrix(name: str, result: Any, texts: list[str]) -> npt.NDArray[np.float64]:
    found = _numbers(name, "encode", result)
    if found.ndim != 2 or len(found) != len(texts) or not found.shape[1]:
        raise BenchError(
            f"encode function {name!r} gave an array of shape {found.shape} for {len(texts)} "
            f"texts; it must be ({len(texts)}, dim), one row per text"
        )
    if not np.isfinite(found).all():
        bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
        raise BenchError(
            f"encode function {name!r} gave NaN or infinity for {len(bad)} of {len(texts)} texts, "
            f"first for the one that begins {texts[bad[0]][:60]!r}"
        )
    return found


def _numbers(name: str, kind: str, result: Any) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BenchError(
            f"{kind} function {name!r} gave a {type(result).__name__} that is no array of "
            f"numbers: {error}"
        ) from error


def _unit(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Rows of length 1, as `Encoder.vector` makes them; zeros stay."""
    length = np.array([np.linalg.norm(row) for row in vectors])[:, np.newaxis]
    return np.divide(vectors, length, out=vectors.copy(), where=length > 0).astype(np.float32)
