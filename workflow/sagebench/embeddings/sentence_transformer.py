"""Any sentence-transformers model: a packaged folder, the user's folder, or a Hub id."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sagebench.embeddings import onednn
from sagebench.embeddings.base import Encoder, Reading, fingerprint, source_file
from sagebench.embeddings.threads import one_torch_thread
from sagebench.errors import BenchError
from sagebench.registry import register

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Other frameworks' copies of the same weights, which a Hub repository often holds as well.
_NOT_NEEDED = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.tflite", "*.gguf"]


@register("encoder", "sentence_transformer")
class SentenceTransformerEncoder(Encoder):
    """`SentenceTransformer.encode` in float32 on the CPU, one text at a time."""

    def __init__(
        self,
        name: str,
        raw: Path,
        max_tokens: int | None = None,
        *,
        folder: str = "",
        path: str = "",
        revision: str | None = None,
        prompt: str = "",
    ) -> None:
        """`folder` lies below `raw`; `path` is the user's folder or a Hub id at `revision`.

        `prompt` (default: the model's own default prompt) is put before every text, for the paper
        compares texts by a symmetric cosine. `max_tokens` overrides the model's own limit.
        """
        one_torch_thread()
        place = source_file(raw, folder) if folder else _obtain(name, path, revision)
        self.name, self._model = name, _load(name, place)
        own_prompt = self._model.prompts.get(self._model.default_prompt_name or "")
        self._prompt = prompt or own_prompt or None
        self.max_tokens = self._limit(max_tokens)
        self._kernel = self._exchange_layers()
        self.dim = len(self._encode("a"))
        files = sorted(p for p in place.rglob("*") if p.is_file() and not p.name.startswith("."))
        self.fingerprint = fingerprint(
            type(self),
            files,
            ("sentence-transformers", "transformers", "tokenizers", "torch"),
            names=[p.relative_to(place).as_posix() for p in files],
            max_tokens=self.max_tokens,
            prompt=self._prompt,
            kernel=self._kernel,
        )

    def _exchange_layers(self) -> str:
        """The library that multiplies for the model, from now on."""
        return "oneDNN" if onednn.use(self._model, lambda: self._encode("a")) else "torch"

    def _limit(self, wanted: int | None) -> int | None:
        """Tokens that the model reads, after setting it to `wanted` if that is given."""
        if wanted is not None:
            self._model.max_seq_length = wanted
            try:
                self._encode("a " * wanted)
            except (IndexError, RuntimeError) as error:
                raise BenchError(
                    f"model {self.name!r} has no positions for max_tokens {wanted}: {error}"
                ) from error
        limit = self._model.max_seq_length
        # Tokenizers without a limit say so with infinity or a number beyond any text.
        return int(limit) if limit is not None and limit < 1e9 else None

    def _read(self, text: str) -> Reading:
        import torch

        features = self._model.preprocess([text], prompt=self._prompt)
        tensors = {key: t for key, t in features.items() if isinstance(t, torch.Tensor)}
        read = int(tensors["input_ids"].numel()) if "input_ids" in tensors else 0
        tokens, content = self._count(text, read)
        visible = b"".join(
            f"{key}{tuple(tensor.shape)}".encode() + tensor.cpu().numpy().tobytes()
            for key, tensor in sorted(tensors.items())
        )
        return Reading(text, tokens, visible if content else b"")

    def _count(self, text: str, read: int) -> tuple[int, bool]:
        """Tokens before truncation, and whether any of them comes from the text itself."""
        from transformers import PreTrainedTokenizerBase

        tokenizer = self._model.tokenizer
        if not isinstance(tokenizer, PreTrainedTokenizerBase):
            return read, read > 0  # static and bag-of-words models neither cut nor add tokens
        special = tokenizer.num_special_tokens_to_add()
        if self.max_tokens is None or read < self.max_tokens:
            return read, read > special
        ids = tokenizer(
            (self._prompt or "") + text,
            truncation=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
        return max(len(ids), read), True

    def _compute(self, reading: Reading) -> npt.NDArray[Any]:
        return self._encode(reading.text)

    def _encode(self, text: str) -> npt.NDArray[Any]:
        found = self._model.encode(
            [text], prompt=self._prompt, batch_size=1, show_progress_bar=False
        )
        return np.asarray(found[0], dtype=np.float32)


def _obtain(name: str, path: str, revision: str | None) -> Path:
    """The model's folder: the user's own, or the Hub's snapshot on this machine."""
    if Path(path).is_dir():
        return Path(path)
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(path, revision=revision, ignore_patterns=_NOT_NEEDED))
    except (OSError, ValueError) as error:
        at = f" at revision {revision}" if revision else ""
        raise BenchError(
            f"model {name!r}: {path!r} is neither a folder nor a model that is on this machine or "
            f"can be downloaded{at} ({type(error).__name__}). Check the spelling; with a network, "
            f"`hf download {path}` puts it into the cache that is also read offline"
        ) from error


def _load(name: str, place: Path) -> "SentenceTransformer":
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        model = SentenceTransformer(str(place), device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise BenchError(
            f"model {name!r}: {place} does not load as a sentence-transformers model: {error}"
        ) from error
    return model.float().eval()
