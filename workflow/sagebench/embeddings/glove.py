"""Word vectors, averaged over the words of a text (GloVe, Pennington et al. 2014)."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench.embeddings.base import Encoder, Reading, fingerprint, source_file
from sagebench.embeddings.threads import one_thread
from sagebench.registry import register

# English clitics are words of their own, as in the corpus that GloVe was trained on: "do n't".
_WORD = re.compile(r"\w+(?=n't\b)|n't\b|'(?:s|m|d|ll|re|ve)\b|\w+")


@register("encoder", "glove")
class GloveEncoder(Encoder):
    """The mean over a text's known words, lower-cased; unknown words are left out.

    `tokens` counts all words. A text without a known word has no direction.
    """

    def __init__(
        self, name: str, raw: Path, max_tokens: int | None = None, *, vectors: str, words: str
    ) -> None:
        """`vectors` (.npy, (n, dim) float32) and `words` (.parquet, n rows) lie below `raw`."""
        one_thread()
        import polars as pl

        files = [source_file(raw, path) for path in (vectors, words)]
        self.name, self.max_tokens = name, max_tokens
        self._vectors = np.load(files[0], mmap_mode="r")
        self._rows = {word: row for row, word in enumerate(pl.read_parquet(files[1])["index"])}
        self.dim = self._vectors.shape[1]
        self.fingerprint = fingerprint(type(self), files, ("numpy",), max_tokens=max_tokens)

    def _read(self, text: str) -> Reading:
        words = _WORD.findall(text.lower().replace("’", "'"))
        rows = [self._rows[word] for word in words[: self.max_tokens] if word in self._rows]
        # Sorted, because a mean knows no order: shuffled words give the same bits, not almost.
        return Reading(text, len(words), np.sort(np.asarray(rows, "<i4")).tobytes())

    def _compute(self, reading: Reading) -> npt.NDArray[Any]:
        rows = np.frombuffer(reading.visible, "<i4")
        return np.asarray(self._vectors[rows].mean(axis=0, dtype=np.float64))
