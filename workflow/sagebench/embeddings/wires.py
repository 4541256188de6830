"""How five kinds of servers are asked for embeddings: their JSON, limits, roles and key variables.

Written against the wire formats rather than on the vendors' libraries or litellm: five requests of
ten lines each, on the HTTP client that fetches the corpora. Four vendor SDKs are four sets of
defaults to fight (base64 answers, no retries, an input type that is filled in silently); litellm
does not split batches, imports for seconds, and its index entry once carried a credential thief.
The limits are the providers' documented ones.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sagebench.roles import Role

Roles = dict[Role, str | None]


@dataclass(frozen=True)
class Question:
    """One request: texts of one role. `dimensions` only where shorter vectors are asked for."""

    model: str
    texts: Sequence[str]
    input_type: str | None
    dimensions: int | None


class Wire(ABC):
    """A provider's way to be asked."""

    url: ClassVar[str]  # where it answers, unless an entry names another `base_url`
    path: ClassVar[str]  # behind the base URL
    keys: ClassVar[tuple[str, ...]]  # environment variables that may hold the key; () = no key
    texts: ClassVar[int]  # texts per request
    tokens: ClassVar[int]  # tokens per request
    roles: ClassVar[Roles] = {}  # input type per role; a role that is missing has none

    @abstractmethod
    def body(self, question: Question) -> dict[str, Any]:
        """The JSON to send."""

    @abstractmethod
    def rows(self, answer: Any) -> list[Any]:
        """The vectors of the answer in the order of the texts; KeyError, TypeError if malformed."""

    def billed(self, answer: Any) -> int | None:
        """Tokens that the provider says it read; None if it does not."""
        usage = answer.get("usage") or {}
        return usage.get("total_tokens") or usage.get("prompt_tokens")

    def headers(self, key: str) -> dict[str, str]:
        """What carries the key."""
        return {"Authorization": f"Bearer {key}"}

    def base_url(self, key: str | None) -> str:  # noqa: ARG002 - one provider's depends on it
        """The provider's own base URL."""
        return self.url


class OpenAI(Wire):
    """OpenAI, and whatever speaks like it: vLLM, TEI, llama.cpp, Infinity, LM Studio."""

    url, path = "https://api.openai.com/v1", "/embeddings"
    keys = ("OPENAI_API_KEY",)
    texts, tokens = 2_048, 300_000

    def body(self, question: Question) -> dict[str, Any]:
        """Floats are asked for: not every compatible server knows base64."""
        body: dict[str, Any] = {
            "model": question.model, "input": list(question.texts), "encoding_format": "float"
        }  # fmt: skip
        return body | ({"dimensions": question.dimensions} if question.dimensions else {})

    def rows(self, answer: Any) -> list[Any]:
        """By their `index`: servers that batch may answer in another order."""
        found = {item["index"]: item["embedding"] for item in answer["data"]}
        return [found[i] for i in range(len(answer["data"]))]


class Voyage(OpenAI):
    """Voyage AI. Cutting is switched off: an over-long text is an error, not a silent loss."""

    url = "https://api.voyageai.com/v1"
    keys = ("VOYAGE_API_KEY",)
    texts, tokens = 1_000, 120_000
    roles: ClassVar[Roles] = {"query": "query", "document": "document"}

    def base_url(self, key: str | None) -> str:
        """Keys made at MongoDB are valid there alone."""
        return "https://ai.mongodb.com/v1" if (key or "").startswith("al-") else self.url

    def body(self, question: Question) -> dict[str, Any]:
        """As OpenAI's, with other names for the same things."""
        body: dict[str, Any] = {
            "model": question.model, "input": list(question.texts), "truncation": False
        }  # fmt: skip
        if question.input_type:
            body["input_type"] = question.input_type
        return body | ({"output_dimension": question.dimensions} if question.dimensions else {})


class Cohere(Wire):
    """Cohere v2, which requires an input type. It knows none for symmetric similarity."""

    url, path = "https://api.cohere.com", "/v2/embed"
    keys = ("CO_API_KEY", "COHERE_API_KEY")
    texts, tokens = 96, 128_000
    roles: ClassVar[Roles] = {
        "similarity": "search_document",  # as the paper's authors did in earlier code
        "clustering": "clustering",
        "document": "search_document",
        "query": "search_query",
    }

    def body(self, question: Question) -> dict[str, Any]:
        """`truncate: NONE` makes an over-long text an error."""
        body: dict[str, Any] = {
            "model": question.model, "texts": list(question.texts), "truncate": "NONE",
            "input_type": question.input_type, "embedding_types": ["float"],
        }  # fmt: skip
        return body | ({"output_dimension": question.dimensions} if question.dimensions else {})

    def rows(self, answer: Any) -> list[Any]:
        """In the order of the texts."""
        return list(answer["embeddings"]["float"])

    def billed(self, answer: Any) -> int | None:
        """Whole tokens, sometimes written as a float."""
        units = (answer.get("meta") or {}).get("billed_units") or {}
        return int(units["input_tokens"]) if "input_tokens" in units else None


class Gemini(Wire):
    """Gemini: one sub-request per text, 100 at most; over-long texts are cut by the server.

    The limit on tokens per request is not documented; this one is a choice.
    """

    url = "https://generativelanguage.googleapis.com/v1beta"
    path = "/models/{model}:batchEmbedContents"
    keys = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
    texts, tokens = 100, 200_000
    roles: ClassVar[Roles] = {
        "similarity": "SEMANTIC_SIMILARITY",
        "clustering": "CLUSTERING",
        "document": "RETRIEVAL_DOCUMENT",
        "query": "RETRIEVAL_QUERY",
    }

    def body(self, question: Question) -> dict[str, Any]:
        """The model is named again in every sub-request."""
        settings: dict[str, Any] = {"model": f"models/{question.model}"}
        if question.input_type:
            settings["taskType"] = question.input_type
        if question.dimensions:
            settings["outputDimensionality"] = question.dimensions
        texts = question.texts
        return {"requests": [settings | {"content": {"parts": [{"text": t}]}} for t in texts]}

    def rows(self, answer: Any) -> list[Any]:
        """In the order of the texts."""
        return [item["values"] for item in answer["embeddings"]]

    def headers(self, key: str) -> dict[str, str]:
        """A header rather than the URL's `key=`, which proxies log."""
        return {"x-goog-api-key": key}


class Ollama(Wire):
    """Ollama's own format: its OpenAI-compatible one cuts long texts without a word."""

    url, path = "http://localhost:11434", "/api/embed"
    keys = ()
    texts, tokens = 32, 16_384

    def body(self, question: Question) -> dict[str, Any]:
        """`truncate: false` makes an over-long text an error."""
        body: dict[str, Any] = {
            "model": question.model, "input": list(question.texts), "truncate": False
        }  # fmt: skip
        return body | ({"dimensions": question.dimensions} if question.dimensions else {})

    def rows(self, answer: Any) -> list[Any]:
        """In the order of the texts."""
        return list(answer["embeddings"])

    def billed(self, answer: Any) -> int | None:
        """What was read, not billed."""
        return answer.get("prompt_eval_count")


WIRES: dict[str, Wire] = {
    "openai": OpenAI(),
    "cohere": Cohere(),
    "voyage": Voyage(),
    "gemini": Gemini(),
    "ollama": Ollama(),
}
# Of a compatible server of one's own: the smallest defaults among the known ones (TEI's).
OWN_SERVER = (32, 16_384)


def numbers(row: Any) -> npt.NDArray[Any]:
    """(dim,) float64 of one vector; ValueError if it is not a list of numbers.

    A server that ignores the wish for floats sends base64 of little-endian float32.
    """
    if isinstance(row, str):
        import base64

        return np.frombuffer(base64.b64decode(row, validate=True), "<f4").astype(np.float64)
    found = np.asarray(row, dtype=np.float64)
    if found.ndim != 1:
        raise ValueError(f"shape {found.shape}")
    return found
