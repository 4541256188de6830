"""Sentence-transformers models with more said about them: prompts per role, precision, device.

A model that needs none of this is loaded by `sentence_transformer`, whose vectors stay as they are.
"""

import copy
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from sagebench.embeddings import sentence_transformer, snapshots
from sagebench.embeddings.base import Reading, fingerprint
from sagebench.embeddings.batch import BatchEncoder
from sagebench.embeddings.sentence_transformer import SentenceTransformerEncoder
from sagebench.embeddings.threads import one_torch_thread
from sagebench.errors import BenchError
from sagebench.registry import register

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# `batch_size: auto`: at most so many texts, and tokens with padding. A CPU gains nothing beyond
# what its cache takes; a GPU that has no room for so much says so, and gets half.
_MOST_TEXTS = 1_024
_BUDGET = {"cpu": 4_096}
_GPU_BUDGET = 131_072

_LIBRARIES = ("sentence-transformers", "transformers", "tokenizers", "torch")


@register("encoder", "open")
class OpenEncoder(BatchEncoder, SentenceTransformerEncoder):
    """`SentenceTransformer.encode` on any device, in batches, with a prompt per role."""

    def __init__(
        self,
        name: str,
        raw: Path,  # noqa: ARG002 - every encoder's signature
        max_tokens: int | None = None,
        *,
        path: str,
        revision: str | None = None,
        prompt: str = "",
        prompts: dict[str, str] | None = None,
        backend: str = "torch",
        file: str | None = None,
        dtype: str = "float32",
        device: str = "cpu",
        batch_size: int | Literal["auto"] = 1,
        truncate_dim: int | None = None,
        trust_remote_code: bool = False,
    ) -> None:
        """See `params.Model` for what each means.

        BenchError if the model, the device or the backend's library is not there.
        """
        place = snapshots.locate(name, path, revision, backend)
        self._device = _device(name, device)
        if self._device == "cpu":
            one_torch_thread()
        self.name, self.shared = name, batch_size == 1
        self._most_texts = _MOST_TEXTS if batch_size == "auto" else batch_size
        budget = _BUDGET.get(self._device, _GPU_BUDGET)
        self._most_tokens = budget if batch_size == "auto" else sys.maxsize
        how = {"backend": backend, "device": self._device, "trust_remote_code": trust_remote_code}
        self._model = _load(name, place, dtype, file, how)
        own_prompt = self._model.prompts.get(self._model.default_prompt_name or "")
        self._shared_prompt = prompt or own_prompt or ""
        self._prompts = prompts or {}
        self._prompt = ""
        self.max_tokens = self._limit(max_tokens)
        self._width = truncate_dim
        plain = self._device == "cpu" and backend == "torch"
        kernel = self._exchange_layers() if plain else backend
        full = len(self._encode("a"))
        if truncate_dim is not None and truncate_dim > full:
            raise BenchError(f"model {name!r}: truncate_dim {truncate_dim} exceeds its {full}")
        self.dim = truncate_dim or full
        files = sorted(p for p in place.rglob("*") if p.is_file() and not p.name.startswith("."))
        self._settings = fingerprint(
            type(self),
            [*files, Path(sentence_transformer.__file__)],
            _LIBRARIES,
            names=[p.relative_to(place).as_posix() for p in files],
            max_tokens=self.max_tokens, runs_on=backend, file=file, dtype=dtype,
            device=self._device, batch_size=batch_size, truncate_dim=truncate_dim, kernel=kernel,
        )  # fmt: skip
        self._take("similarity")

    def _limit(self, wanted: int | None) -> int | None:
        """As for any model, but without a trial of a length that the model itself declares.

        A static model's tokenizer may cut without saying so: it is made to read to the end.
        """
        from tokenizers import Tokenizer

        if isinstance(tokenizer := self._model.tokenizer, Tokenizer):
            if wanted is not None:
                raise BenchError(
                    f"model {self.name!r} is static and reads any length: leave out `max_tokens`"
                )
            tokenizer.no_truncation()
            return None
        own = self._model.max_seq_length
        if wanted is None or own is None or wanted > own:
            return super()._limit(wanted)
        self._model.max_seq_length = wanted
        return wanted

    def for_role(self, role: str) -> Self:
        """The encoder that puts this role's prompt before its texts; weights are shared."""
        other = copy.copy(self)
        other._take(role)
        return self if other.fingerprint == self.fingerprint else other

    def _take(self, role: str) -> None:
        self._prompt = self._prompts.get(role, self._shared_prompt)
        self.fingerprint = fingerprint(
            type(self), [], (), model=self._settings, prompt=self._prompt
        )

    def batches(self, readings: list[Reading]) -> list[list[Reading]]:
        """Texts of like length together, so that little is padded, the longest first."""
        ordered = sorted(readings, key=lambda reading: (-self._length(reading), reading.visible))
        found: list[list[Reading]] = []
        for reading in ordered:
            if not found or not self._fits([*found[-1], reading]):
                found.append([])
            found[-1].append(reading)
        return found

    def _length(self, reading: Reading) -> int:
        return min(reading.tokens, self.max_tokens or reading.tokens)

    def _fits(self, batch: list[Reading]) -> bool:
        """Whether a batch in order is small enough; one text always is."""
        padded = len(batch) * self._length(batch[0])
        return len(batch) == 1 or (len(batch) <= self._most_texts and padded <= self._most_tokens)

    def _compute(self, reading: Reading) -> npt.NDArray[Any]:
        return self._compute_batch([reading])[0]

    def _compute_batch(self, batch: list[Reading]) -> list[npt.NDArray[Any]]:
        """Half a batch at a time where the device's memory does not take it, then and from then on.

        BenchError if it does not take a single text.
        """
        import torch

        if self._fits(batch):
            try:
                return self._forward(batch)
            except torch.OutOfMemoryError as error:
                if len(batch) == 1:
                    raise BenchError(
                        f"model {self.name!r}: the memory of {self._device} does not take a text "
                        f"of {self._length(batch[0])} tokens; set `max_tokens` or a smaller `dtype`"
                    ) from error
            self._most_tokens = len(batch) * self._length(batch[0]) // 2
        middle = (len(batch) + 1) // 2
        return [*self._compute_batch(batch[:middle]), *self._compute_batch(batch[middle:])]

    def _forward(self, batch: list[Reading]) -> list[npt.NDArray[Any]]:
        found = self._model.encode(
            [reading.text for reading in batch],
            prompt=self._prompt,
            batch_size=len(batch),
            show_progress_bar=False,
        )
        # Shorter ones are brought to length 1 again by `unit`.
        return [np.asarray(row, dtype=np.float32)[: self._width] for row in found]


def _device(name: str, wanted: str) -> str:
    import torch

    mps = torch.backends.mps.is_available()
    have = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": mps}
    if wanted == "auto":
        return next(device for device in ("cuda", "mps", "cpu") if have[device])
    if not have[wanted]:
        raise BenchError(f"model {name!r}: this machine has no {wanted}; use `device: auto`")
    return wanted


def _load(
    name: str, place: Path, dtype: str, file: str | None, how: dict[str, Any]
) -> "SentenceTransformer":
    backend = how["backend"]
    if backend != "torch" and importlib.util.find_spec("optimum") is None:
        extra = f"sentence-transformers[{backend}]"
        raise BenchError(f"model {name!r}: backend {backend} needs `pip install {extra!r}`")
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    options: dict[str, Any] = {"file_name": file} if file else {}
    if backend == "torch":
        options["dtype"] = getattr(torch, dtype)
    try:
        model = SentenceTransformer(str(place), local_files_only=True, model_kwargs=options, **how)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise BenchError(
            f"model {name!r}: {place} does not load as a sentence-transformers model: {error}"
        ) from error
    if backend == "torch":
        model = model.to(getattr(torch, dtype))
    return model.eval()
