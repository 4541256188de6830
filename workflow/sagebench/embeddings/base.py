"""Encoders: a text in, one L2-normalised vector out, and what of the text the model really reads.

Texts are computed one at a time on one thread. Padding and batch mates change the last bits of a
vector (and all of an int8 model's, whose activations are scaled over the batch); without them a
vector depends on the model and the visible text alone, whatever the order, the number of cores or
the point at which a killed run starts again.
"""

import ast
import hashlib
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sagebench import provenance, registry
from sagebench.corpora import catalogue
from sagebench.embeddings import snapshots
from sagebench.embeddings.keys import text_key
from sagebench.errors import BenchError
from sagebench.params import Endpoint, Model, own_model

__all__ = [
    "Encoder",
    "Reading",
    "Vector",
    "build",
    "cut",
    "fingerprint",
    "replace_surrogates",
    "source_file",
    "text_key",
]

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Reading:
    """What a model makes of a text before it computes.

    text: the text, with lone surrogates replaced.
    tokens: the model's own tokens before truncation, special tokens and prompt included.
    visible: the identity of exactly what is left after truncation: equal bytes, equal vectors.
        b"" means that the text leaves nothing to read, so it has no direction.
    """

    text: str
    tokens: int
    visible: bytes


class Encoder(ABC):
    """An embedding model. A backend reads a text and computes the vector of one reading.

    fingerprint: hex digest of everything that a vector depends on besides the visible text:
    weights, tokenizer, truncation, pooling, prompt, precision, backend code, library versions.
    """

    name: str
    dim: int
    max_tokens: int | None  # tokens that the model reads; None: all of them
    fingerprint: str
    paid = False  # whether a vector costs money, so that it must outlive `make clean`

    @abstractmethod
    def _read(self, text: str) -> Reading:
        """The reading of a text that is not blank and has no lone surrogates."""

    @abstractmethod
    def _compute(self, reading: Reading) -> npt.NDArray[Any]:
        """(dim,) of any length, for a reading whose `visible` is not empty."""

    def read(self, text: str) -> Reading:
        """The reading of any text. A blank text has none, even where a model has an answer."""
        text = replace_surrogates(text)
        return self._read(text) if text.strip() else Reading(text, 0, b"")

    def vector(self, reading: Reading) -> Vector:
        """(dim,) float32 of length 1, or zeros where there is no direction; BenchError on NaN."""
        if not reading.visible:
            return np.zeros(self.dim, np.float32)
        return self.unit(self._compute(reading), reading)

    def unit(self, computed: npt.NDArray[Any], reading: Reading) -> Vector:
        """(dim,) float32 of length 1 from what was computed for the reading; BenchError on NaN."""
        raw = np.asarray(computed, dtype=np.float64)
        if not np.isfinite(raw).all():
            raise BenchError(
                f"model {self.name!r} gives values that are not finite for the text that begins "
                f"{reading.text[:60]!r}; its weights are damaged or its precision is too low for it"
            )
        length = np.linalg.norm(raw)
        return (raw / length if length > 0 else raw).astype(np.float32)

    def for_role(self, role: str) -> Self:  # noqa: ARG002 - most models know no roles
        """The encoder of texts in a role (`sagebench.roles`): itself, or one that puts another
        prompt before them or names another input type, and so has another fingerprint.
        """
        return self

    def tokens(self, texts: list[str]) -> list[int]:
        """The model's own tokens of each text, before truncation."""
        return [self.read(text).tokens for text in texts]

    def visible(self, texts: list[str]) -> list[bytes]:
        """The identity of what the model reads of each text."""
        return [self.read(text).visible for text in texts]

    def encode(self, texts: list[str]) -> Vector:
        """(n, dim) float32, rows of length 1; zeros where a text has no direction."""
        rows = [self.vector(self.read(text)) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dim), np.float32)


def replace_surrogates(text: str) -> str:
    """Lone surrogates become U+FFFD: tokenizers take only what UTF-8 can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def cut(ids: list[int], limit: int | None) -> list[int]:
    """At most `limit` token ids: the text's own are cut, the end mark stays."""
    return ids if limit is None or len(ids) <= limit else ids[: limit - 1] + ids[-1:]


def build(model: str | Model | Endpoint | Mapping[str, Any], raw: Path) -> Encoder:
    """The encoder of a catalogue name, or of the user's own model or endpoint.

    `raw` is data/raw with the model's sources fetched. A mapping is a dumped `Model` or `Endpoint`.
    BenchError if the name is unknown, an option does not exist or a file is missing.
    """
    if isinstance(model, str):
        entry = catalogue.load().model(model)
        options = {"max_tokens": entry.max_tokens, **entry.options}
        if entry.hub:
            options |= {"path": entry.hub.repo, "revision": entry.hub.revision}
        return _construct(entry.backend, model, raw, options)
    own = own_model(model)
    options = own.model_dump(exclude={"name", "usd_per_million_tokens"}, exclude_defaults=True)
    if isinstance(own, Model) and (fetched := snapshots.revision(raw, own.name)):
        options["revision"] = fetched  # the commit that a branch or tag was when it was fetched
    return _construct(own.encoder, own.name, raw, options)


def _construct(backend: str, name: str, raw: Path, options: dict[str, Any]) -> Encoder:
    encoder = registry.load("encoder", backend)
    try:
        inspect.signature(encoder).bind(name, Path(raw), **options)
    except TypeError as error:
        raise BenchError(
            f"model {name!r}: wrong options for backend {backend!r}: {error}"
        ) from None
    return encoder(name, Path(raw), **options)


def source_file(raw: Path, path: str) -> Path:
    """data/raw/<source>/<file id>; BenchError with the command that fetches it if it is missing."""
    found, source = raw / path, path.partition("/")[0]
    if not found.exists():
        raise BenchError(
            f"{found} is missing: run `python -m sagebench fetch {source} {raw / source}`"
        )
    return found


def fingerprint(
    backend: type[Encoder], files: Iterable[Path], libraries: Iterable[str], **settings: Any
) -> str:
    """Hex digest of the backend's code, its files' bytes, the library versions and the settings.

    Files count in the order given, by content: where they lie does not matter.
    """
    # The module alone, as a syntax tree: a changed comment must not cost a new computation.
    code = ast.dump(ast.parse(inspect.getsource(inspect.getmodule(backend) or backend)))
    facts = {
        "code": hashlib.sha256(code.encode()).hexdigest(),
        "files": [provenance.file_sha256(path) for path in files],
        "libraries": {name: version(name) for name in libraries},
        "settings": settings,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
