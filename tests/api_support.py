"""A server on the loopback interface that speaks like each provider of embeddings, and misbehaves.

It is written from the providers' documented formats, not from the code under test.
"""

import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

import numpy as np
from loopback import Silent, address, running

KEY = "sk-canary-4f1d9c0b7a"
DIM = 8
LIMITS = {"openai": 2048, "voyage": 1000, "cohere": 96, "gemini": 100, "ollama": 10**6}
COHERE_TYPES = {"search_document", "search_query", "classification", "clustering", "image"}


def hashed(texts: list[str]) -> list[list[float]]:
    """A deterministic vector per text, not of length 1."""
    rows = [np.frombuffer(hashlib.sha256(t.encode()).digest(), "<u4")[:DIM] for t in texts]
    return [(row.astype(float) / 2**31 - 1).tolist() for row in rows]


def words(text: str) -> int:
    return len(text.split())


@dataclass
class Api:
    """What the server does, and what it was asked."""

    url: str
    provider: str = "openai"
    embed: Callable[[list[str]], list[list[float]]] = hashed
    key: str | None = KEY
    limit: int | None = None  # texts per request, instead of the provider's
    longest: int | None = None  # words per text; longer ones are refused, or cut if `cuts`
    cuts: bool = False
    base64: bool = False  # answers in base64 though floats were asked for
    shuffled: bool = False  # answers in another order, with the right index
    faults: list[Any] = field(
        default_factory=list
    )  # one per request: (status, headers, body), "cut"
    gate: threading.Event | None = None  # requests after `free` ones wait for it
    free: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    under_way: int = 0
    most: int = 0  # requests at the same time
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def asked(self) -> list[str]:
        return [text for request in self.requests for text in request["texts"]]


class _Server(ThreadingHTTPServer):
    api: Api
    daemon_threads = True


class _RefuseError(Exception):
    pass


class _Handler(Silent):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        api = self.server.api
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with api.lock:
            api.under_way += 1
            api.most = max(api.most, api.under_way)
            fault = api.faults.pop(0) if api.faults else None
            number = len(api.requests)
            try:
                texts = self._texts(body)
            except _RefuseError as error:
                texts, fault = [], fault or (400, {}, self._error(str(error)))
            api.requests.append({"path": self.path, "body": body, "texts": texts})
        try:
            self._serve(api, body, texts, fault, number)
        finally:
            with api.lock:
                api.under_way -= 1

    def _serve(self, api: Api, body: Any, texts: list[str], fault: Any, number: int) -> None:
        if not self._allowed(api):
            # Some providers repeat what they were given.
            sent = self.headers.get("Authorization") or self.headers.get("x-goog-api-key")
            return self._send(401, {"error": {"message": f"Incorrect API key: {sent}"}})
        if api.gate and number >= api.free:
            api.gate.wait(60)
        if fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"data": [')
            self.wfile.flush()
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        if isinstance(fault, float):
            time.sleep(fault)
        elif fault:
            return self._send(fault[0], fault[2], fault[1])
        with api.lock:
            answer = self._answer(body, texts)
            api.answered += texts
        return self._send(200, answer)

    def _allowed(self, api: Api) -> bool:
        if api.key is None or api.provider == "ollama":
            return True
        if api.provider == "gemini":
            return self.headers.get("x-goog-api-key") == api.key
        return self.headers.get("Authorization") == f"Bearer {api.key}"

    def _texts(self, body: dict[str, Any]) -> list[str]:
        """The request's texts, if the request is one that the provider takes."""
        api = self.server.api
        path, read = {
            "openai": ("/v1/embeddings", self._plain),
            "voyage": ("/v1/embeddings", self._plain),
            "cohere": ("/v2/embed", self._cohere),
            "gemini": (f"/v1beta/models/{body.get('model') or self._model()}:batchEmbedContents",
                       self._gemini),
            "ollama": ("/api/embed", self._plain),
        }[api.provider]  # fmt: skip
        if self.path != path:
            raise _RefuseError(f"no such path {self.path}")
        texts = read(body)
        if not texts or len(texts) > (api.limit or LIMITS[api.provider]):
            raise _RefuseError(f"{len(texts)} texts in one request")
        if any(not text for text in texts):
            raise _RefuseError("an empty text")
        if api.longest and not self._cutting(body) and max(map(words, texts)) > api.longest:
            raise _RefuseError("a text is too long for the model")
        return texts

    def _cutting(self, body: dict[str, Any]) -> bool:
        if self.server.api.provider in ("ollama",):
            return bool(body.get("truncate", True))
        if self.server.api.provider == "voyage":
            return bool(body.get("truncation", True))
        if self.server.api.provider == "cohere":
            return body.get("truncate", "END") != "NONE"
        return self.server.api.cuts or self.server.api.provider == "gemini"

    def _plain(self, body: dict[str, Any]) -> list[str]:
        if not body.get("model"):
            raise _RefuseError("no model")
        allowed = {
            "openai": {"model", "input", "encoding_format", "dimensions"},
            "voyage": {"model", "input", "truncation", "input_type", "output_dimension"},
            "ollama": {"model", "input", "truncate", "dimensions"},
        }[self.server.api.provider]
        if unknown := body.keys() - allowed:
            raise _RefuseError(f"unknown {unknown}")
        if body.get("input_type", "query") not in ("query", "document"):
            raise _RefuseError("input_type")
        return body["input"]

    def _cohere(self, body: dict[str, Any]) -> list[str]:
        if body.get("input_type") not in COHERE_TYPES or not body.get("model"):
            raise _RefuseError("input_type or model is missing")
        return body["texts"]

    def _model(self) -> str:
        return self.path.removeprefix("/v1beta/models/").partition(":")[0]

    def _gemini(self, body: dict[str, Any]) -> list[str]:
        if any(item["model"] != f"models/{self._model()}" for item in body["requests"]):
            raise _RefuseError("model")
        return [part["text"] for item in body["requests"] for part in item["content"]["parts"]]

    def _answer(self, body: dict[str, Any], texts: list[str]) -> dict[str, Any]:
        api = self.server.api
        read = texts
        if api.longest:
            read = [" ".join(t.split()[: api.longest]) if words(t) > api.longest else t
                    for t in texts]  # fmt: skip
        rows: list[Any] = api.embed(read)
        count = sum(map(words, read))
        if api.provider == "cohere":
            return {
                "embeddings": {"float": rows},
                "meta": {"billed_units": {"input_tokens": count}},
            }
        if api.provider == "gemini":
            return {"embeddings": [{"values": row} for row in rows]}
        if api.provider == "ollama":
            return {"embeddings": rows, "prompt_eval_count": count}
        if api.base64:
            import base64

            rows = [base64.b64encode(np.array(r, "<f4").tobytes()).decode() for r in rows]
        data = [{"index": i, "embedding": row} for i, row in enumerate(rows)]
        if api.shuffled:
            data = data[::-1]
        return {"data": data, "usage": {"prompt_tokens": count, "total_tokens": count}}

    def _error(self, message: str) -> dict[str, Any]:
        return {
            "openai": {"error": {"message": message, "type": "invalid_request_error"}},
            "voyage": {"detail": message},
            "cohere": {"message": message},
            "gemini": {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}},
            "ollama": {"error": message},
        }[self.server.api.provider]

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serve(provider: str = "openai", **settings: Any) -> Iterator[Api]:
    """The server until the block ends. `url` is the base URL that the provider's own would be."""
    server = _Server(("127.0.0.1", 0), _Handler)
    base = {"openai": "/v1", "voyage": "/v1", "gemini": "/v1beta"}.get(provider, "")
    server.api = Api(f"{address(server)}{base}", provider, **settings)
    with running(server):
        try:
            yield server.api
        finally:
            if server.api.gate:
                server.api.gate.set()
