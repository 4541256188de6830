"""BERTScore F1 (Zhang et al. 2020) with all-MiniLM-L6-v2 as encoder, through bert-score."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from sagebench.embeddings import onednn
from sagebench.errors import BenchError
from sagebench.metrics.base import Floats, Metric, Texts
from sagebench.options import ParameterSet
from sagebench.registry import register

_SOURCE = "minilm"


@dataclass(frozen=True)
class _Tokens:
    """What matching needs of a text: (t, d) unit vectors, (t,) weights that sum to 1."""

    vectors: Any
    weights: Any


@register("metric", "bertscore", needs=("minilm",))
class BertScore(Metric):
    """F1 of greedy token matching by cosine: no idf weights, no rescaling; symmetric.

    bert-score computes the token vectors, one text at a time on one thread, once for each
    distinct visible text (0.4 MB each at 256 tokens, kept for the life of the object); the
    matching is a product of one pair's vectors. So a value depends on its two texts alone and
    equals `bert_score.score(batch_size=1)` to 1e-5; in larger batches the library's padding
    raises negative best matches to 0, which moves unlike texts by up to 0.02. NaN where a text
    has no token: the library's 0 would read as "unlike everything". Values are cut to [0, 1].
    """

    title = "BERTScore"

    class Parameters(ParameterSet):
        """`max_tokens`: a text is cut there, special tokens counted. `num_layers`: depth."""

        max_tokens: int = Field(256, ge=3, le=512)
        num_layers: int = Field(6, ge=1, le=6)

    def __init__(self, raw: Path, **params: Any) -> None:
        """Raises BenchError when the model has not been fetched."""
        super().__init__(raw, **params)
        self._folder = (self.raw / _SOURCE / "model").resolve()
        if not self._folder.is_dir():
            raise BenchError(f"{self._folder} is missing: fetch the source {_SOURCE!r} first")
        self._known: dict[str, _Tokens | None] = {}
        self._visible: dict[tuple[int, ...], _Tokens | None] = {}

    def pairs(self, a: Texts, b: Texts) -> Floats:
        """(n,) float64 in [0, 1], NaN where a text has no token."""
        with _one_thread():
            scores = [self._f1(x, y) for x, y in zip(a, b, strict=True)]
        return np.array(scores, dtype=np.float64)

    def truncated(self, texts: Texts) -> int:
        """How many of the texts are longer than the encoder reads."""
        limit = self.parameters.max_tokens
        return sum(
            len(self._tokenizer(_clean(text), truncation=False, verbose=False)["input_ids"]) > limit
            for text in texts
        )

    def _f1(self, a: str, b: str) -> float:
        left, right = self._tokens(a), self._tokens(b)
        if left is None or right is None:
            return float("nan")
        similarity = left.vectors @ right.vectors.T
        recall = float((similarity.amax(dim=1) * left.weights).sum())
        precision = float((similarity.amax(dim=0) * right.weights).sum())
        both = precision + recall
        return min(1.0, max(0.0, 2 * precision * recall / both)) if both > 0 else 0.0

    def _tokens(self, text: str) -> _Tokens | None:
        if text not in self._known:
            self._known[text] = self._read(_clean(text))
        return self._known[text]

    def _read(self, text: str) -> _Tokens | None:
        from bert_score.utils import sent_encode

        if not text:  # the library has no encoding for it under transformers 5
            return None
        visible = tuple(sent_encode(self._tokenizer, text))
        if visible not in self._visible:
            self._visible[visible] = self._encode(text)
        return self._visible[visible]

    def _encode(self, text: str) -> _Tokens | None:
        from bert_score.utils import get_bert_embedding
        from torch.nn.functional import normalize

        # Special tokens can be matched but weigh nothing, as in bert_score.score.
        weight_of: defaultdict[int, float] = defaultdict(lambda: 1.0)
        weight_of[self._tokenizer.cls_token_id] = weight_of[self._tokenizer.sep_token_id] = 0.0
        vectors, _, weights = get_bert_embedding(
            [text], self._model, self._tokenizer, weight_of, device="cpu"
        )
        total = weights[0].sum()
        if total == 0:
            return None
        return _Tokens(normalize(vectors[0], dim=-1), weights[0] / total)

    @cached_property
    def _tokenizer(self) -> Any:
        from bert_score.utils import get_tokenizer

        tokenizer = get_tokenizer(str(self._folder))
        tokenizer.model_max_length = self.parameters.max_tokens
        return tokenizer

    @cached_property
    def _model(self) -> Any:
        # Not bert_score.utils.get_model: it takes any path with "t5" in it for a T5 model.
        from transformers import AutoModel

        model = AutoModel.from_pretrained(str(self._folder), local_files_only=True).eval()
        model.encoder.layer = model.encoder.layer[: self.parameters.num_layers]
        ids = self._tokenizer(["a"], return_tensors="pt")
        onednn.use(model, lambda: model(**ids).last_hidden_state.detach().numpy())
        return model


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums of floats in one order, whatever the number of cores."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _clean(text: str) -> str:
    """Stripped as bert-score does; lone surrogates, which the tokenizer refuses, as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
