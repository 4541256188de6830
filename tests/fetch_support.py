"""A package index on the loopback interface that can misbehave, and archives to serve from it."""

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer

from loopback import Silent, address, running

from sagebench.corpora.catalogue import Source


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def wheel(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in members.items():
            target.writestr(name, content)
    return buffer.getvalue()


def sdist(members: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as target:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            target.addfile(info, io.BytesIO(content))
        for name, goal in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, goal
            target.addfile(info)
    return buffer.getvalue()


def source(archive: str, content: bytes, files: dict[str, dict[str, str]]) -> Source:
    """A catalogue entry of the package `demo` 1.0."""
    return Source.model_validate(
        {
            "package": "demo",
            "version": "1.0",
            "archive": archive,
            "sha256": sha256(content),
            "licence": "CC0",
            "citation": "none",
            "files": files,
        }
    )


@dataclass
class Index:
    """What the server offers and what it was asked for."""

    url: str
    archives: dict[str, bytes] = field(default_factory=dict)
    json: bool = False  # PEP 691 instead of PEP 503 pages
    ranges: bool = True  # honours Range requests
    cuts: int = 0  # how many downloads break off half-way
    busy: int = 0  # how many requests get a 503
    gone: bool = False  # listed, but the file answers 404
    requests: list[tuple[str, str | None]] = field(default_factory=list)  # path, Range

    @property
    def downloads(self) -> list[str | None]:
        """The Range header of every request for a file."""
        return [wanted for path, wanted in self.requests if path.startswith("/files/")]


class _Server(ThreadingHTTPServer):
    index: Index


class _Handler(Silent):
    server: _Server

    def do_GET(self) -> None:
        index = self.server.index
        index.requests.append((self.path, self.headers.get("Range")))
        if index.busy:
            index.busy -= 1
            self._answer(503, b"busy")
        elif self.path == "/simple/demo/":
            self._page(list(index.archives))
        elif self.path.startswith("/files/") and not index.gone:
            self._file(index.archives[self.path.removeprefix("/files/")])
        else:
            self._answer(404, b"no")

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self._head(status, len(body), headers or {})
        self.wfile.write(body)

    def _head(self, status: int, size: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(size)} | headers).items():
            self.send_header(name, value)
        self.end_headers()

    def _page(self, names: list[str]) -> None:
        if self.server.index.json:
            files = [{"filename": name, "url": f"/files/{name}", "hashes": {}} for name in names]
            page = {"meta": {"api-version": "1.0"}, "name": "demo", "files": files}
            kind = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
            self._answer(200, json.dumps(page).encode(), kind)
        else:
            links = "".join(f'<a href="../../files/{name}">{name}</a>' for name in names)
            self._answer(200, links.encode(), {"Content-Type": "text/html"})

    def _file(self, content: bytes) -> None:
        index, start, status, headers = self.server.index, 0, 200, {}
        wanted = self.headers.get("Range")
        if wanted and index.ranges:
            start, status = int(wanted.removeprefix("bytes=").rstrip("-")), 206
            headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        rest = content[start:]
        if not rest:
            self._answer(416, b"")
        elif index.cuts:
            index.cuts -= 1
            self._head(status, len(rest), headers)
            self.wfile.write(rest[: max(1, len(rest) // 2)])
            self.wfile.flush()
            self.connection.close()
        else:
            self._answer(status, rest, headers)


@contextmanager
def serve() -> Iterator[Index]:
    """An index on 127.0.0.1 until the block ends; then its port refuses connections."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.index = Index(address(server))
    with running(server):
        yield server.index
