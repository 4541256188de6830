"""BERT-like sentence encoders as ONNX graphs, whatever their weights' precision."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench.embeddings.base import Encoder, Reading, cut, fingerprint, source_file
from sagebench.embeddings.threads import one_thread
from sagebench.errors import BenchError
from sagebench.registry import register


@register("encoder", "onnx")
class OnnxEncoder(Encoder):
    """Mean over the token vectors of a graph that takes BERT's inputs.

    An int8 graph scales its activations over all it is given, so a batch of one is part of its
    definition; and CPUs without VNNI instructions saturate where others do not.
    """

    def __init__(
        self, name: str, raw: Path, max_tokens: int, *, graph: str, tokenizer: str
    ) -> None:
        """`graph` (.onnx) and `tokenizer` (tokenizer.json) are paths below `raw`.

        BenchError if the graph has not exactly one output of token vectors.
        """
        one_thread()
        from tokenizers import Tokenizer

        files = [source_file(raw, path) for path in (graph, tokenizer)]
        self.name, self.max_tokens = name, max_tokens
        self._tokenizer = Tokenizer.from_file(str(files[1]))
        # The file may itself ask for padding to 128 tokens and for a cut there.
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._special = len(self._tokenizer.encode("").ids)
        self._session = _session(files[0])
        self._inputs = [node.name for node in self._session.get_inputs()]
        self._output, self.dim = _token_vectors(name, self._session.get_outputs())
        self.fingerprint = fingerprint(
            type(self),
            files,
            ("onnxruntime", "tokenizers", "numpy"),
            max_tokens=max_tokens,
            pooling="mean",
        )

    def _read(self, text: str) -> Reading:
        ids = self._tokenizer.encode(text).ids
        visible = np.asarray(cut(ids, self.max_tokens), "<i4").tobytes()
        return Reading(text, len(ids), visible if len(ids) > self._special else b"")

    def _compute(self, reading: Reading) -> npt.NDArray[Any]:
        ids = np.frombuffer(reading.visible, "<i4").astype(np.int64)[None, :]
        known = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        (tokens,) = self._session.run([self._output], {key: known[key] for key in self._inputs})
        # One text without padding: the mask is all ones, so the masked mean is the plain one.
        return np.asarray(tokens[0].mean(axis=0, dtype=np.float64))


def _session(graph: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _token_vectors(name: str, outputs: Any) -> tuple[str, int]:
    """Name and width of the one output of shape (batch, tokens, width).

    The position says nothing: the first output of paraphrase-MiniLM-L3's graph is a scrap.
    """
    found = [node for node in outputs if len(node.shape) == 3]
    if len(found) != 1:
        shapes = {node.name: node.shape for node in outputs}
        raise BenchError(f"model {name!r}: its graph needs one output of token vectors: {shapes}")
    return found[0].name, int(found[0].shape[2])
