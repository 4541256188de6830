"""Static token vectors, averaged: sentence-transformers' StaticEmbedding."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench.embeddings.base import Encoder, Reading, fingerprint, source_file
from sagebench.embeddings.threads import one_torch_thread
from sagebench.registry import register


@register("encoder", "static")
class StaticEncoder(Encoder):
    """The mean of the tokens' vectors; the whole text is read, its order is not."""

    def __init__(
        self,
        name: str,
        raw: Path,
        max_tokens: int | None = None,
        *,
        weights: str,
        tokenizer: str,
        tensor: str = "embedding.weight",
    ) -> None:
        """`weights` (.safetensors) and `tokenizer` (tokenizer.json) are paths below `raw`.

        `tensor` is the name of the (vocabulary, dim) matrix.
        """
        one_torch_thread()
        from safetensors.numpy import load_file
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        from tokenizers import Tokenizer

        files = [source_file(raw, path) for path in (weights, tokenizer)]
        self.name, self.max_tokens = name, max_tokens
        vocabulary = Tokenizer.from_file(str(files[1]))
        vocabulary.no_truncation()
        matrix = load_file(files[0])[tensor].astype(np.float32)
        self._module = StaticEmbedding(vocabulary, embedding_weights=matrix).eval()
        self.dim = matrix.shape[1]
        self.fingerprint = fingerprint(
            type(self),
            files,
            ("sentence-transformers", "tokenizers", "torch"),
            max_tokens=max_tokens,
            tensor=tensor,
        )

    def _read(self, text: str) -> Reading:
        ids = self._module.tokenizer.encode(text, add_special_tokens=False).ids
        # Sorted, because a mean knows no order: shuffled words give the same bits, not almost.
        return Reading(text, len(ids), np.sort(np.asarray(ids[: self.max_tokens], "<i4")).tobytes())

    def _compute(self, reading: Reading) -> npt.NDArray[Any]:
        import torch

        ids = torch.from_numpy(np.frombuffer(reading.visible, "<i4").astype(np.int64))
        with torch.inference_mode():
            features = self._module({"input_ids": ids, "offsets": torch.tensor([0])})
        return features["sentence_embedding"][0].numpy()
