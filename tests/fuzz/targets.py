"""One fuzz target per reader of foreign bytes: whatever comes, it is read or refused by name.

A target is a strategy of inputs and a check that lets nothing out but BenchError. While a check
runs, the process may take at most `HEADROOM` more address space than it has.
"""

import gzip
import io
import os
import pickle
import random
import resource
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import yaml
from hypothesis import strategies as st

from fuzz.material import SEEDS, Seed, as_json, damage, spoil, spoiled
from sagebench import layout, params
from sagebench.corpora import archive, build, catalogue
from sagebench.corpora.catalogue import Corpus
from sagebench.corpora.hub import client, listing, picked
from sagebench.corpora.unpickle import safe_load_pickle
from sagebench.errors import BenchError

ROOT = Path(__file__).resolve().parents[2]
HEADROOM = 3 << 30  # bytes


@dataclass(frozen=True)
class Target:
    """`check` takes one value of `inputs` and a folder of its own."""

    inputs: st.SearchStrategy[Any]
    check: Callable[[Any, Path], None]

    def run(self, value: Any) -> None:
        """Check one input: BenchError is an answer, anything else is a finding."""
        with tempfile.TemporaryDirectory() as folder, bounded(), suppress(BenchError):
            self.check(value, Path(folder))


@contextmanager
def bounded() -> Iterator[None]:
    """No more than HEADROOM of new address space until the block ends."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if os.name == "posix" else 0
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + HEADROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _parser(name: str, seed: Seed) -> Target:
    corpus = Corpus(
        role=seed.role, title="t", domain="d", parser=name, options=seed.options,
        inputs=[f"s/{file}" for file in seed.names[: len(seed.files)]],
        licence="l", citation="c",
    )  # fmt: skip

    def check(contents: tuple[bytes, ...], folder: Path) -> None:
        (folder / "s").mkdir()
        for file, content in zip(seed.names, contents, strict=False):
            (folder / "s" / file).write_bytes(content)
        _, result = build.read("fuzzed", corpus, folder)
        layout.write_corpus(result.frames, folder / "out.parquet", seed.role)

    valid = [seed.write(file) for file in seed.files]
    broken = [spoiled(file, seed.write) for file in seed.files]
    # One file at a time as well: with all of them broken, the second is seldom reached.
    one = [
        st.tuples(*(b if i == n else st.just(v) for i, (b, v) in enumerate(zip(broken, valid))))
        for n in range(len(valid))
    ]
    return Target(st.one_of(st.tuples(*broken), *one), check)


def _yaml(path: Path) -> st.SearchStrategy[bytes]:
    content = path.read_bytes()[:6000]
    odd = [
        b"a: !!python/object/apply:os.system [x]", b"&a [*a]", b"a: &a [x]\nb: {<<: *a}", b"? [a]",
        b"a: 2001-99-99", b"!!map [1]", b"a: 0x_", b"a: !!float x", b"a: !!int ''", b"[" * 3000,
        b"a: &a {b: *a}", b"? {a: b}\n: c", b"sources: {x: {files: [*y]}}", b"1: 2", b"!!set {a}",
        b"a: !!timestamp x", b"a: !!binary ???", b"\x00", b"\xff\xfe", b"sources: {x: {}}",
        b"<<: {sources: []}", b"seed: .nan", b"=: =",
    ]  # fmt: skip

    def make(seed: int, flat: int) -> bytes:
        chance = random.Random(seed)
        found = content
        for _ in range(flat):
            if chance.random() < 0.4:
                lines = found.split(b"\n")
                lines[chance.randrange(len(lines))] += b"\n" + chance.choice(odd)
                found = b"\n".join(lines)
            else:
                found = damage(found, chance)
        return found

    return st.one_of(
        st.builds(make, st.integers(0, 2**32), st.integers(1, 4)),
        st.sampled_from(odd),
        st.binary(max_size=80),
    )


def _catalogue(content: bytes, folder: Path) -> None:
    (folder / "corpora.yaml").write_bytes(content)
    catalogue.load.__wrapped__(folder)


def _params(content: bytes, folder: Path) -> None:
    (folder / "params.yaml").write_bytes(content)
    params.read(folder / "params.yaml")


def _config(value: Any, _folder: Path) -> None:
    params.load(value)


def _pickle(content: bytes, folder: Path) -> None:
    (folder / "x.pickle").write_bytes(content)
    safe_load_pickle(folder / "x.pickle")


def _archive(value: tuple[str, bytes], folder: Path) -> None:
    path = folder / f"x.{value[0]}"
    path.write_bytes(value[1])
    for name, content in archive.members(path, ["*", "*/*", "a/*/*"]):
        assert archive.is_safe_path(name)
        assert len(content) <= archive.MEMBER_LIMIT
    archive.names(path)


_NAMES = ["a", "a/b", "../x", "/etc/x", "a/../../x", "a//b", ".", "C:x", "a\\..\\b", "\u202e", "é"]
_TYPES = [
    tarfile.REGTYPE,
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.CHRTYPE,
    tarfile.BLKTYPE,
    tarfile.FIFOTYPE,
    tarfile.DIRTYPE,
    tarfile.CONTTYPE,
    tarfile.GNUTYPE_SPARSE,
    b"x",
]


def _tar(seed: int) -> tuple[str, bytes]:
    chance, buffer = random.Random(seed), io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=chance.randrange(3)) as target:
        for _ in range(chance.randrange(1, 4)):
            info = tarfile.TarInfo(chance.choice(_NAMES))
            info.type, info.linkname = chance.choice(_TYPES), "/etc/passwd"
            body = b"x" * chance.randrange(2000)
            info.size = chance.choice([len(body), 0, 1 << 32, len(body) + 1])
            target.addfile(info)
            buffer.write(body + b"\0" * (-len(body) % 512))
    content = buffer.getvalue()
    for _ in range(chance.randrange(3)):
        content = damage(content, chance)
    content = gzip.compress(content, 1)
    return "tar.gz", damage(content, chance) if chance.random() < 0.3 else content


def _zip(seed: int) -> tuple[str, bytes]:
    chance, buffer = random.Random(seed), io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for _ in range(chance.randrange(1, 4)):
            info = zipfile.ZipInfo(chance.choice(_NAMES))
            info.compress_type = chance.choice([0, 8, 12, 14])
            info.external_attr = chance.choice([0o100644, 0o120777, 0o20644, 0o40755, 0]) << 16
            with warnings.catch_warnings(action="ignore"):  # two members of one name
                target.writestr(info, b"y" * chance.randrange(2000))
    content = buffer.getvalue()
    for _ in range(chance.randrange(4)):
        content = damage(content, chance)
    return "zip", content


_SHA = "0" * 40
_INFO = {
    "id": "o/n", "sha": _SHA, "private": False, "lastModified": "2024-01-01T00:00:00.000Z",
    "siblings": [
        {"rfilename": "data/test.parquet", "size": 3, "blobId": "b" * 40,
         "lfs": {"sha256": "c" * 64, "size": 3, "pointerSize": 130}},
        {"rfilename": "../../x", "size": 3, "blobId": "b" * 40},
    ],
}  # fmt: skip


def _wire(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """As a server may send them: bytes that are no ASCII are allowed there."""
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


def _hub(value: tuple[bytes, dict[str, str], int, str], folder: Path) -> None:
    """The Hub's real client reads the answer; what it gives is listed, remembered and picked."""
    import httpx2
    from huggingface_hub.utils import _http

    content, headers, status, revision = value

    def answer(_request: Any) -> httpx2.Response:
        return httpx2.Response(status, content=content, headers=_wire(headers))

    factory = _http._GLOBAL_CLIENT_FACTORY
    _http.set_client_factory(lambda: httpx2.Client(transport=httpx2.MockTransport(answer)))
    source = catalogue.Hub(
        hub="o/n", revision=revision, licence="l", citation="c",
        files={"f": {"pick": ["data/*", "*/*/x", "*"]}},
    )  # fmt: skip
    settings = {"SAGEBENCH_CACHE": str(folder / "cache" / "deep"), "HF_HUB_CACHE": str(folder)}
    before = set(folder.rglob("*"))
    with mock.patch.dict(os.environ, settings), mock.patch.object(client.connection, "DELAYS", ()):
        try:
            found = listing.of_hub("o/n", revision)
            for remote in picked._choose("n", source, found).values():
                assert archive.is_safe_path(remote)
        finally:
            _http.set_client_factory(factory)
            inside = folder / "cache" / "deep"
            new = set(folder.rglob("*")) - before - {inside, inside.parent}
            assert all(inside in path.parents for path in new), new


_HEADERS = st.sampled_from([
    {}, {"Retry-After": "²"}, {"Retry-After": "1e9"}, {"X-Error-Code": "RevisionNotFound"},
    {"X-Error-Code": "GatedRepo"}, {"Content-Type": "text/html"}, {"Content-Encoding": "gzip"},
    {"Content-Length": "-1"}, {"Location": "//"}, {"X-Error-Message": "é\t"},
])  # fmt: skip
_WAITS = [
    {name: value}
    for name in ("Retry-After", "retry-after-ms")
    for value in ("nan", "inf", "-1", "Mon, 01 Jan 0001 00:00:00 GMT", "Mon, 99 Jan 2024", "²",
                  "Fri, 31 Dec 9999 23:59:59 -0000", "1e400")
]  # fmt: skip
_REVISIONS = st.sampled_from([_SHA, "refs/convert/parquet"])


def _remembered(content: bytes, folder: Path) -> None:
    with mock.patch.dict(os.environ, {"SAGEBENCH_CACHE": str(folder)}):
        path = listing.kept("o/n") / f"{_SHA}.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        listing._remembered("o/n", _SHA)


_ROWS = [[0.5, 1.0], [2.0, 0.0]]
_ANSWERS = {
    "openai": {
        "data": [{"index": i, "embedding": row} for i, row in enumerate(_ROWS)],
        "usage": {"total_tokens": 4},
    },
    "cohere": {
        "embeddings": {"float": _ROWS},
        "meta": {"billed_units": {"input_tokens": 4.0}},
    },
    "gemini": {"embeddings": [{"values": row} for row in _ROWS]},
    "ollama": {"embeddings": _ROWS, "prompt_eval_count": 4},
}


def _provider(value: tuple[str, bytes, dict[str, str], int], _folder: Path) -> None:
    """An answer of a server of embeddings, through the encoder that asked for it."""
    import httpx2

    from sagebench.embeddings import api, patience

    provider, content, headers, status = value
    counting = SimpleNamespace(count=len, cut=lambda text, limit: text[:limit])
    with (
        redirect_stderr(io.StringIO()),  # every encoder says whom it asks
        mock.patch.object(api, "cutter", return_value=counting),
        mock.patch.object(patience, "DELAYS", ()),
    ):
        encoder = api.ApiEncoder(
            "fuzzed", Path(), provider=provider, model="m", dimensions=2, key="",
            base_url="http://127.0.0.1:9", tokenizer="own",
        )  # fmt: skip
        made = httpx2.Client(
            transport=httpx2.MockTransport(
                lambda _request: httpx2.Response(status, content=content, headers=_wire(headers))
            )
        )
        with mock.patch.object(httpx2, "Client", return_value=made):
            encoder._reach()
        for vector in encoder.encode(["one", "two"]):
            assert abs(float((vector**2).sum()) - 1) < 1e-5 or not vector.any()


_PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
_STORED = {"data/test.parquet": {"size": 3, "sha256": None, "blob": "b" * 40}}
_PICKLED = [pickle.dumps([{"a": 1.5}, {"b": ("c", None)}, {"NN"}, b"x", 2**80], protocol)
            for protocol in range(6)]  # fmt: skip


def _spoiled_config(seed: int) -> Any:
    chance, value = random.Random(seed), _PARAMS
    for _ in range(chance.randrange(1, 4)):
        value = spoil(value, chance)
    return value


def _damaged(contents: list[bytes]) -> st.SearchStrategy[bytes]:
    def make(seed: int, content: bytes) -> bytes:
        chance = random.Random(seed)
        for _ in range(chance.randrange(1, 4)):
            content = damage(content, chance)
        return content

    return st.builds(make, st.integers(0, 2**32), st.sampled_from(contents))


_SEEDS = st.integers(0, 2**32)
TARGETS = {
    "catalogue": Target(_yaml(catalogue.FOLDER / "corpora.yaml"), _catalogue),
    "catalogue_hub": Target(_yaml(catalogue.FOLDER / "hub.yaml"), _catalogue),
    "params": Target(_yaml(ROOT / "params.yaml"), _params),
    "params_values": Target(st.builds(_spoiled_config, _SEEDS), _config),
    "pickle": Target(st.one_of(_damaged(_PICKLED), st.binary(max_size=40)), _pickle),
    "tar": Target(st.builds(_tar, _SEEDS), _archive),
    "zip": Target(st.builds(_zip, _SEEDS), _archive),
    "hub": Target(
        st.tuples(
            st.one_of(spoiled(_INFO, as_json), st.binary(max_size=30)),
            _HEADERS, st.sampled_from([200, 200, 200, 200, 404, 401, 500, 429, 302, 304, 206]),
            _REVISIONS,
        ),
        _hub,
    ),
    **{
        f"provider_{name}": Target(
            st.tuples(
                st.just(name),
                st.one_of(spoiled(answer, as_json), st.binary(max_size=30)),
                st.one_of(_HEADERS, st.sampled_from(_WAITS)),
                st.sampled_from([200, 200, 200, 200, 400, 401, 402, 404, 429, 503]),
            ),
            _provider,
        )
        for name, answer in _ANSWERS.items()
    },
    "hub_remembered": Target(spoiled(_STORED, as_json), _remembered),
    **{f"parser_{name}": _parser(name, seed) for name, seed in SEEDS.items()},
}  # fmt: skip
