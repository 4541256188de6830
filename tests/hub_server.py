"""A Hugging Face Hub on the loopback interface that can misbehave, for the Hub's real client.

It speaks the paths that the client asks for: `/api/…/revision/…`, `/api/…/tree/…`, `/resolve/…`
with redirects to a content store for large files, ETag, X-Repo-Commit, X-Linked-Etag and -Size,
byte ranges, and the Hub's ways to say no (401 for a repository that is not there).
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from loopback import Silent, address, running

LARGE = 1000  # bytes: from here on a file lies in the content store, as with Git LFS


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass
class Repo:
    """Files at commits; `refs` are names that stand for a commit."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    def at(self, revision: str) -> str | None:
        commit = self.refs.get(revision, revision)
        return commit if commit in self.commits else None


@dataclass
class Hub:
    """What the server offers, what it was asked for, and how it is to misbehave."""

    url: str
    repos: dict[str, Repo] = field(default_factory=dict)  # "datasets/owner/name" or "models/…"
    ranges: bool = True  # honours Range requests
    cuts: int = 0  # how many file bodies break off half-way
    busy: int = 0  # how many requests get a 503
    limited: int = 0  # how many requests get a 429 …
    retry_after: int | None = 0  # … that asks to wait for so many seconds
    rate_limit: str = ""  # … and has this RateLimit header
    silent: bool = False  # takes a request and never answers
    blocked: int = 0  # the content store answers with this status
    private: str = ""  # the token without which nothing is shown; "-": any token is refused
    tokens: list[tuple[str, str]] = field(default_factory=list)  # host by name, Authorization
    over: threading.Event = field(default_factory=threading.Event)
    tampered: bool = False  # bodies of the right length, with other bytes
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)  # verb, path, Range
    store: dict[str, bytes] = field(default_factory=dict)  # large files by sha256

    def add(self, repo: str, revision: str, files: dict[str, bytes], kind: str = "datasets") -> str:
        """Put files at a revision; a ref gets a commit of its own, which is returned."""
        entry = self.repos.setdefault(f"{kind}/{repo}", Repo())
        commit = revision
        if len(revision) != 40:
            contents = repr(sorted((name, sha256(c)) for name, c in files.items()))
            commit = hashlib.sha1(f"{repo}{revision}{contents}".encode()).hexdigest()
            entry.refs[revision] = commit
        entry.commits[commit] = files
        self.store |= {sha256(c): c for c in files.values() if len(c) >= LARGE}
        return commit

    @property
    def bodies(self) -> list[str | None]:
        """The Range of every request that was answered with a file's bytes."""
        return [
            wanted
            for verb, path, wanted in self.requests
            if verb == "GET" and "/api/" not in path and len(self._content(path) or b"") < LARGE
        ]

    def _content(self, path: str) -> bytes | None:
        found = self.find(path)
        return found[1] if found else None

    def find(self, path: str) -> tuple[str, bytes] | None:
        """(commit, bytes) of a /resolve/ path."""
        repo, _, rest = path.lstrip("/").partition("/resolve/")
        key = repo if repo.startswith("datasets/") else f"models/{repo}"
        revision, _, name = rest.partition("/")
        entry = self.repos.get(key)
        commit = entry.at(unquote(revision)) if entry else None
        if entry is None or commit is None or unquote(name) not in entry.commits[commit]:
            return None
        return commit, entry.commits[commit][unquote(name)]


class _Server(ThreadingHTTPServer):
    hub: Hub
    daemon_threads = True


class _Handler(Silent):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._route()

    def do_GET(self) -> None:
        self._route()

    def _route(self) -> None:
        hub, path = self.server.hub, urlsplit(self.path).path
        hub.requests.append((self.command, path, self.headers.get("Range")))
        sent = self.headers.get("Authorization", "")
        hub.tokens.append((self.headers["Host"].partition(":")[0], sent))
        if hub.silent:
            hub.over.wait(60)
            self.close_connection = True
        elif hub.busy:
            hub.busy -= 1
            self._answer(503, b"busy")
        elif hub.limited:
            hub.limited -= 1
            waits = {"Retry-After": hub.retry_after, "RateLimit": hub.rate_limit}
            self._answer(
                429, b"slow down", {k: str(v) for k, v in waits.items() if v not in (None, "")}
            )
        elif path.startswith("/store/") and hub.blocked:
            self._answer(hub.blocked, b"blocked")
        elif not path.startswith("/store/") and self._refuses(sent):
            message = "Invalid credentials in Authorization header"
            self._json(401, {"error": message}, {"X-Error-Message": message})
        elif path.startswith("/api/"):
            self._api(path.removeprefix("/api/"))
        elif path.startswith("/store/"):
            self._body(hub.store[path.removeprefix("/store/")], {})
        elif "/resolve/" in path:
            self._resolve(path)
        else:
            self._answer(404, b"no such path")

    def _refuses(self, sent: str) -> bool:
        """As the Hub does: a token that it does not know is refused for what is public, too."""
        private = self.server.hub.private
        return sent != f"Bearer {private}" if private and private != "-" else bool(sent and private)

    def _api(self, path: str) -> None:
        kind, owner, name, *rest = path.split("/")
        repo = self.server.hub.repos.get(f"{kind}/{owner}/{name}")
        if repo is None:
            message = "Invalid username or password."
            self._json(401, {"error": message}, {"X-Error-Message": message})
            return
        verb, revision = (rest[0], unquote(rest[1])) if rest else ("revision", "main")
        commit = repo.at(revision)
        if commit is None:
            self._json(404, {"error": "no"}, {"X-Error-Code": "RevisionNotFound"})
        elif verb == "tree":
            self._json(200, [_tree_entry(n, c) for n, c in sorted(repo.commits[commit].items())])
        else:
            siblings = [_sibling(n, c) for n, c in sorted(repo.commits[commit].items())]
            self._json(200, {"id": f"{owner}/{name}", "sha": commit, "siblings": siblings})

    def _resolve(self, path: str) -> None:
        found = self.server.hub.find(path)
        if found is None:
            self._answer(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        commit, content = found
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if len(content) < LARGE:
            self._body(content, headers | {"ETag": f'"{git_blob(content)}"'})
            return
        digest = sha256(content)
        large = {
            "X-Linked-Etag": f'"{digest}"',
            "X-Linked-Size": str(len(content)),
            # Another host by name, as the Hub's content store is: a client takes it for that.
            "Location": f"{self.server.hub.url}/store/{digest}".replace("127.0.0.1", "localhost"),
        }
        self._answer(302, b"", headers | large)

    def _body(self, content: bytes, headers: dict[str, str]) -> None:
        hub, start, status = self.server.hub, 0, 200
        if hub.tampered:
            content = bytes(255 - byte for byte in content)
        wanted = self.headers.get("Range")
        if wanted and hub.ranges:
            start, status = int(wanted.removeprefix("bytes=").rstrip("-")), 206
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        rest = content[start:]
        if self.command == "GET" and hub.cuts:
            hub.cuts -= 1
            self._head(status, len(rest), headers)
            self.wfile.write(rest[: max(1, len(rest) // 2)])
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(2)
        else:
            self._answer(status, rest, headers)

    def _json(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        kind = {"Content-Type": "application/json"}
        self._answer(status, json.dumps(value).encode(), kind | (headers or {}))

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self._head(status, len(body), headers or {})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: int, size: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(size)} | headers).items():
            self.send_header(name, value)
        self.end_headers()


def _sibling(name: str, content: bytes) -> dict[str, object]:
    entry: dict[str, object] = {
        "rfilename": name,
        "size": len(content),
        "blobId": git_blob(content),
    }
    if len(content) >= LARGE:
        pointer = (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:" + sha256(content).encode()
        )
        large = {"sha256": sha256(content), "size": len(content), "pointerSize": len(pointer)}
        entry |= {"blobId": git_blob(pointer), "lfs": large}
    return entry


def _tree_entry(name: str, content: bytes) -> dict[str, object]:
    entry: dict[str, object] = {
        "type": "file", "path": name, "size": len(content), "oid": git_blob(content)
    }  # fmt: skip
    if len(content) >= LARGE:
        entry["lfs"] = {"oid": sha256(content), "size": len(content), "pointerSize": 130}
    return entry


@contextmanager
def serve() -> Iterator[Hub]:
    """A Hub on 127.0.0.1 until the block ends; then its port refuses connections."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.hub = Hub(address(server))
    with running(server):
        try:
            yield server.hub
        finally:
            server.hub.over.set()
