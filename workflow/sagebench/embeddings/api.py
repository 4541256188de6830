"""Models behind an API: OpenAI, Cohere, Voyage, Gemini, Ollama, or a compatible server.

A vector may cost money, so it is kept per user as soon as its batch has come, and its fingerprint
holds only what was asked: a better wait or a new library here must not make anyone pay again. A
server can exchange its model unseen; `revision` is then a word that the user changes.
"""

import copy
import hashlib
import json
import sys
from pathlib import Path
from typing import Any, Self

import numpy.typing as npt

from sagebench.embeddings.base import Reading
from sagebench.embeddings.batch import BatchEncoder
from sagebench.embeddings.cutting import CL100K, cutter
from sagebench.embeddings.patience import RefusedError, Server, find_key
from sagebench.embeddings.wires import OWN_SERVER, WIRES, Question, numbers
from sagebench.errors import BenchError
from sagebench.registry import register, unknown

_FORMAT = 1  # raised when the same settings come to mean other vectors


@register("encoder", "api")
class ApiEncoder(BatchEncoder):
    """Vectors that a server computes. Nothing is sent, and no key looked for, before the first."""

    def __init__(
        self,
        name: str,
        raw: Path,
        max_tokens: int | None = None,
        *,
        provider: str,
        model: str,
        dimensions: int,
        shorten: bool = False,
        base_url: str | None = None,
        key: str | None = None,
        revision: str | None = None,
        send_tokens: int | None = None,
        tokenizer: str = CL100K,
        prompts: dict[str, str] | None = None,
        input_types: dict[str, str | None] | None = None,
        batch: int | None = None,
        tokens_per_request: int | None = None,
        concurrency: int = 4,
        timeout: float = 120.0,
    ) -> None:
        """See `params.Endpoint` for what each means. BenchError if no tokenizer can be had."""
        if provider not in WIRES:
            raise unknown("provider", provider, WIRES)
        self._wire = WIRES[provider]
        self.name, self.max_tokens, self.dim = name, max_tokens, dimensions
        self.concurrency = concurrency
        self._model, self._base_url, self._timeout = model, base_url, timeout
        self._shorter = dimensions if shorten else None
        self._keys = self._variables(key)
        self.paid = bool(self._keys)
        own = base_url is not None and provider == "openai"
        texts, tokens = OWN_SERVER if own else (self._wire.texts, self._wire.tokens)
        self._texts, self._tokens = batch or texts, tokens_per_request or tokens
        self._cutter, self._exact = cutter(tokenizer, raw), tokenizer != CL100K
        self._limit = send_tokens or max_tokens
        self._prompts = prompts or {}
        self._input_types = dict(self._wire.roles) | (input_types or {})
        self._identity = {
            "format": _FORMAT, "provider": provider, "base_url": base_url, "model": model,
            "dimensions": dimensions, "shorten": shorten, "revision": revision,
        }  # fmt: skip
        self._server: Server | None = None
        self._take("similarity")

    def _variables(self, key: str | None) -> tuple[str, ...]:
        """Where to look for a key: as named, the provider's, or nowhere for one's own server."""
        if key is not None:
            return (key,) if key else ()
        return () if self._base_url and self._wire is WIRES["openai"] else self._wire.keys

    def for_role(self, role: str) -> Self:
        """The encoder of texts in this role; itself if nothing sets the role apart."""
        other = copy.copy(self)
        other._take(role)
        return self if other.fingerprint == self.fingerprint else other

    def _take(self, role: str) -> None:
        self._prompt = self._prompts.get(role, "")
        self._input_type = self._input_types.get(role)
        if self._wire is WIRES["cohere"] and not self._input_type:
            raise BenchError(f"model {self.name!r}: Cohere needs an input type for {role!r} texts")
        facts = self._identity | {"prompt": self._prompt, "input_type": self._input_type}
        self.fingerprint = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def _read(self, text: str) -> Reading:
        text = self._prompt + text
        tokens = self._cutter.count(text)
        if self._limit is not None and tokens > self._limit:
            text = self._cutter.cut(text, self._limit)
        return Reading(text, tokens, text.encode() if text.strip() else b"")

    def sent(self, reading: Reading) -> int:
        """The tokens that are sent, and billed, for a reading."""
        return reading.tokens if self._limit is None else min(reading.tokens, self._limit)

    def batches(self, readings: list[Reading]) -> list[list[Reading]]:
        """In the given order, within the limits on texts and tokens per request."""
        found: list[list[Reading]] = []
        room = 0
        for reading in readings:
            tokens = self.sent(reading)
            if not found or len(found[-1]) == self._texts or tokens > room:
                found.append([])
                # An estimate may be too low; a refused batch is halved in any case.
                room = self._tokens if self._exact else int(0.8 * self._tokens)
            found[-1].append(reading)
            room -= tokens
        return found

    def _compute_batch(self, batch: list[Reading]) -> list[npt.NDArray[Any]]:
        try:
            return self._ask(batch)
        except RefusedError as error:
            if len(batch) > 1:  # a limit that is not known here, or one text is at fault
                half = len(batch) // 2
                return self._compute_batch(batch[:half]) + self._compute_batch(batch[half:])
            (reading,) = batch
            raise BenchError(
                f"model {self.name!r}: the server refuses ({error}) the text of about "
                f"{self.sent(reading)} tokens that begins {reading.text[:60]!r}. If it is too "
                "long for the model, set `max_tokens` (and `tokenizer`) in the model's entry"
            ) from None

    def _ask(self, batch: list[Reading]) -> list[npt.NDArray[Any]]:
        question = Question(
            self._model, [r.text for r in batch], self._input_type, self._shorter
        )  # fmt: skip
        path = self._wire.path.format(model=self._model)
        answer = self._reach().post(path, self._wire.body(question))
        try:
            rows = [numbers(row) for row in self._wire.rows(answer)]
            said = self._wire.billed(answer)
            billed = None if said is None else int(said)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise BenchError(
                f"model {self.name!r}: the server's answer is not of provider "
                f"{self._identity['provider']!r} ({type(error).__name__}); check `base_url`"
            ) from None
        if len(rows) != len(batch):
            raise BenchError(f"model {self.name!r}: {len(rows)} vectors for {len(batch)} texts")
        if wrong := {len(row) for row in rows} - {self.dim}:
            raise BenchError(
                f"model {self.name!r}: the server's vectors have {min(wrong)} dimensions, not "
                f"{self.dim}: set `dimensions` (or `shorten: true` if it can make shorter ones)"
            )
        self._check_read(batch, billed)
        return rows

    def _check_read(self, batch: list[Reading], billed: int | None) -> None:
        """BenchError if the server read less than was sent, which only it can know otherwise."""
        if not self._exact or billed is None or self._limit != self.max_tokens:
            return
        # Servers differ in counting the marks of beginning and end.
        if billed < sum(self.sent(reading) - 2 for reading in batch):
            raise BenchError(
                f"model {self.name!r}: the server read {billed} tokens of a request of "
                f"{sum(map(self.sent, batch))}, so it cuts texts silently: set `max_tokens` to "
                "the model's limit"
            )

    def _reach(self) -> Server:
        if self._server is None:
            key = find_key(self.name, self._keys)
            url = self._base_url or self._wire.base_url(key)
            headers = self._wire.headers(key) if key else {}
            self._server = Server(self.name, url, headers, key, self._timeout)
            sys.stderr.write(f"{self.name}: asking {url}, {self._input_type or 'no'} input type\n")
        return self._server
