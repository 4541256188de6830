"""A mirror that is filled by one command and used where the registry or the network is not."""

import errno
import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fetch_support
import hub_server
import hub_sets
import pytest
from conftest import ROOT
from fetch_support import Index, sha256, source, wheel
from hub_server import Hub
from loopback import address, running

from sagebench.__main__ import main
from sagebench.corpora import cache, catalogue, connection, fetch, fill, mirror, pip_settings
from sagebench.corpora.catalogue import Catalogue, Source
from sagebench.corpora.hub import listing
from sagebench.corpora.pip_settings import PipSettings
from sagebench.errors import BenchError
from sagebench.plan import Plan

CONTENT = b"one\n" * 1000
NAME = "demo-1.0-py3-none-any.whl"
WHEEL = wheel({"demo/text.txt": CONTENT})
ENTRY = source(NAME, WHEEL, {"text.txt": {"member": "demo/text.txt", "sha256": sha256(CONTENT)}})
REF, LARGE, SMALL = "refs/convert/parquet", bytes(range(256)) * 20, b'{"_id": "1"}\n'


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty caches, no index, no Hub, no waiting between tries."""
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hf"))
    monkeypatch.setattr(connection, "DELAYS", (0.0,))
    monkeypatch.setattr(pip_settings, "read", lambda: PipSettings(indexes=("http://[::1]:9/",)))
    monkeypatch.setenv("HF_ENDPOINT", "http://[::1]:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.delenv(mirror.VARIABLE, raising=False)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    with fetch_support.serve() as running:
        running.archives[NAME] = WHEEL
        settings = PipSettings(indexes=(f"{running.url}/simple",))
        monkeypatch.setattr(pip_settings, "read", lambda: settings)
        yield running


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with the archive, which is set."""
    folder = tmp_path / "a mirror"
    (folder / "archives").mkdir(parents=True)
    (folder / "archives" / NAME).write_bytes(WHEEL)
    monkeypatch.setenv(mirror.VARIABLE, str(folder))
    return folder


@pytest.fixture
def web(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The same mirror as any plain web server shows it, which is set."""
    with shown(root) as url:
        monkeypatch.setenv(mirror.VARIABLE, f"{url}/")
        yield url


@contextmanager
def shown(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with running(server):
        yield address(server)


def catalogued(monkeypatch: pytest.MonkeyPatch, **sources: object) -> None:
    """These sources are the whole catalogue."""
    kinds: dict[str, dict[str, object]] = {"sources": {}, "hub": {}}
    for name, entry in sources.items():
        kinds["sources" if isinstance(entry, Source) else "hub"][name] = entry
    known = Catalogue.model_construct(**kinds, own={}, corpora={}, models={})
    monkeypatch.setattr(catalogue, "load", lambda: known)


def on_hub(hub: Hub, revision: str) -> catalogue.Hub:
    hub.add("demo/set", revision, {"big/x.bin": LARGE, "small.jsonl": SMALL, "y.bin": b"unasked"})
    return catalogue.Hub.model_validate(
        {
            "hub": "demo/set", "revision": revision, "licence": "CC0", "citation": "none",
            "files": {"big": {"pick": ["big/*.bin"]}, "small": {"pick": ["small.jsonl"]}},
        }
    )  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def fetched(tmp_path: Path, folder: str = "raw") -> bytes:
    fetch.fetch_source(ENTRY, tmp_path / folder, progress=False)
    return (tmp_path / folder / "text.txt").read_bytes()


def kept(tmp_path: Path) -> list[str]:
    return sorted(files(tmp_path / "cache"))


def test_a_folder_serves_without_an_index(root: Path, tmp_path: Path) -> None:
    assert fetched(tmp_path) == CONTENT
    assert kept(tmp_path) == [f"archives/{ENTRY.sha256[:16]}-{NAME}"]
    assert files(root) == {f"archives/{NAME}": WHEEL}  # nothing of ours is left in it


def test_a_folder_is_asked_before_the_index(root: Path, index: Index, tmp_path: Path) -> None:
    assert fetched(tmp_path) == CONTENT
    assert index.requests == []


@pytest.mark.parametrize("failure", ["unreachable", "not there", "gone", "other bytes"])
def test_an_address_serves_when_the_index_fails(
    web: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, failure: str, request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    del web, monkeypatch
    if failure != "unreachable":
        index: Index = request.getfixturevalue("index")
        index.archives[NAME] = b"other" if failure == "other bytes" else WHEEL
        index.gone = failure == "gone"
        if failure == "not there":
            index.archives.clear()
    assert fetched(tmp_path) == CONTENT
    assert "taken from another place, since" in capsys.readouterr().err  # said, not hidden


def test_an_address_goes_on_where_the_index_broke_off(
    web: str, index: Index, tmp_path: Path
) -> None:
    del web
    index.cuts = 2
    assert fetched(tmp_path) == CONTENT


@pytest.mark.parametrize("kind", ["root", "web"])
def test_other_bytes_of_the_mirror_are_refused_and_named(
    kind: str, root: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(kind)
    tampered = WHEEL[:-1] + b"x"
    (root / "archives" / NAME).write_bytes(tampered)
    with pytest.raises(BenchError) as caught:
        fetched(tmp_path)
    for part in (f"archives/{NAME}", ENTRY.sha256, sha256(tampered), "could be reached"):
        assert part in str(caught.value)
    assert kept(tmp_path) == []
    assert not (tmp_path / "raw").exists()
    assert (root / "archives" / NAME).read_bytes() == tampered  # not ours to delete


def test_other_bytes_of_the_mirror_are_told_when_the_index_has_the_right_ones(
    root: Path, index: Index, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del index
    (root / "archives" / NAME).write_bytes(b"short")
    assert fetched(tmp_path) == CONTENT
    assert f"{root}/archives/{NAME}" in capsys.readouterr().err


def test_a_mirror_without_the_archive_says_how_to_fill_it(root: Path, tmp_path: Path) -> None:
    (root / "archives" / NAME).unlink()
    with pytest.raises(
        BenchError, match=rf"(?s)has no archives/{NAME}.*sagebench mirror .*reached"
    ):
        fetch.fetch_source(ENTRY, tmp_path / "raw", progress=False)


def test_a_full_disk_leaves_nothing_half_written(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(source: Path, target: Path) -> None:
        target.write_bytes(Path(source).read_bytes()[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    catalogued(monkeypatch, demo=ENTRY)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", half)
        with pytest.raises(OSError, match="No space"):
            fetched(tmp_path)
        assert kept(tmp_path) == []
    fetched(tmp_path)
    monkeypatch.setattr(shutil, "copyfile", half)
    with pytest.raises(OSError, match="No space"):
        list(fill.fill(tmp_path / "new", ["demo"], progress=False))
    assert files(tmp_path / "new") == {}
    assert files(root) == {f"archives/{NAME}": WHEEL}


@pytest.mark.parametrize("revision", ["a" * 40, REF])
@pytest.mark.parametrize("kind", ["folder", "address"])
def test_a_filled_mirror_is_all_that_a_fetch_needs(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str, kind: str
) -> None:
    target = tmp_path / "mirror"
    with hub_server.serve() as hub, monkeypatch.context() as patch:
        patch.setenv("HF_ENDPOINT", hub.url)
        catalogued(monkeypatch, demo=ENTRY, twin=ENTRY, hubbed=on_hub(hub, revision))
        names = ["demo", "hubbed", "twin"]
        first = list(fill.fill(target, names, progress=False))
        assert [(each.source, each.new) for each in first] == [
            ("demo", True), ("hubbed", True), ("twin", False),
        ]  # fmt: skip
        assert first[1].size == len(LARGE) + len(SMALL)
        for name in names:
            fetch.fetch(name, tmp_path / "straight" / name, progress=False)
        again = list(fill.fill(target, names, progress=False))
        assert not any(each.new for each in again)
    index.archives.clear()
    shutil.rmtree(tmp_path / "cache")
    with shown(target) as url:
        monkeypatch.setenv(mirror.VARIABLE, str(target) if kind == "folder" else url)
        for name in names:
            fetch.fetch(name, tmp_path / "raw" / name, progress=False)
    # Bytes, records and what they were checked against: all as straight from the Hub.
    assert files(tmp_path / "raw") == files(tmp_path / "straight")
    assert not [path for path in files(target) if "y.bin" in path]


def test_damage_in_a_filled_mirror_is_found_and_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "mirror"
    with hub_server.serve() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        catalogued(monkeypatch, hubbed=on_hub(hub, "a" * 40))
        list(fill.fill(target, ["hubbed"], progress=False))
        path = target / "datasets/demo/set/resolve" / ("a" * 40) / "big/x.bin"
        path.write_bytes(LARGE[:-1] + b"x")
        with monkeypatch.context() as patch:
            patch.setenv(mirror.VARIABLE, str(target))
            with pytest.raises(BenchError, match=r"x\.bin: checksum mismatch, expected sha256"):
                fetch.fetch("hubbed", tmp_path / "raw", progress=False)
            assert files(tmp_path / "raw") == {}
        (kept,) = fill.fill(target, ["hubbed"], progress=False)
        assert kept.new
        assert path.read_bytes() == LARGE
        # A file that is lost comes from the Hub, under the same digest.
        path.unlink()
        monkeypatch.setenv(mirror.VARIABLE, str(target))
        fetch.fetch("hubbed", tmp_path / "raw", progress=False)
        assert (tmp_path / "raw" / "big").read_bytes() == LARGE


def test_a_mirror_without_the_set_says_how_to_fill_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hub_server.serve() as hub:
        catalogued(monkeypatch, hubbed=on_hub(hub, "a" * 40))
    with pytest.raises(BenchError, match=r"has no demo/set at a+: .*sagebench mirror"):
        fetch.fetch("hubbed", tmp_path / "raw", progress=False)
    answer = listing.answer_place(root, "demo/set", "a" * 40)
    answer.parent.mkdir(parents=True)
    answer.write_text('{"siblings": 3')
    with pytest.raises(BenchError, match="is no answer of the Hub"):
        fetch.fetch("hubbed", tmp_path / "raw", progress=False)


def test_names_that_lead_outside_are_never_taken_from_a_listing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hub_server.serve() as hub:
        entry = on_hub(hub, "a" * 40)
    entry = entry.model_copy(update={"files": {"x": catalogue.Pick(pick=["*/x.bin"])}})
    catalogued(monkeypatch, hubbed=entry)
    answer = listing.answer_place(root, "demo/set", "a" * 40)
    answer.parent.mkdir(parents=True)
    (listing.place(root, "demo/set", "a" * 40)).mkdir(parents=True)
    (listing.place(root, "demo/set", "x.bin")).write_bytes(b"outside")
    siblings = [{"rfilename": "../x.bin", "size": 7, "blobId": None}]
    answer.write_text(json.dumps({"id": "demo/set", "sha": "a" * 40, "siblings": siblings}))
    with pytest.raises(BenchError, match="no file for 'x'"):
        fetch.fetch("hubbed", tmp_path / "raw", progress=False)


def test_one_lost_source_keeps_no_other_from_being_filled(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.archives["demo-2.0-py3-none-any.whl"] = b"newer"
    lost = ENTRY.model_copy(update={"archive": "demo-0.9-py3-none-any.whl", "sha256": "0" * 64})
    catalogued(monkeypatch, a_lost=lost, demo=ENTRY)
    with pytest.raises(BenchError, match=r"lacks 1 sources:\n  a_lost: demo-0\.9.*withdrawn"):
        list(fill.fill(tmp_path / "mirror", ["a_lost", "demo"], progress=False))
    assert files(tmp_path / "mirror") == {f"archives/{NAME}": WHEEL}


def test_the_command_fills_what_the_parameters_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[str]] = []

    def noted(root: Path, sources: list[str]) -> Iterator[fill.Kept]:
        assert root == tmp_path
        asked.append(sources)
        yield fill.Kept("demo", 2_000_000, True, "CC0")

    monkeypatch.setattr(fill, "fill", noted)
    smoke = [str(ROOT / "params.yaml"), str(ROOT / "config/smoke.yaml")]
    assert main(["mirror", str(tmp_path), "--params", *smoke]) == 0
    assert f"demo: new, 2.0 MB, licence: CC0\n2.0 MB; to use it: `mirror: {tmp_path}`" in (
        capsys.readouterr().out
    )
    assert main(["mirror", str(tmp_path), "--params", *smoke, "--all"]) == 0
    needed, everything = asked
    assert needed == Plan.read(*smoke).sources()
    assert set(everything) >= {*needed, *fill.archives()}
    assert len(everything) > len(needed)


NARROWED = """
import sys
from sagebench.plan import Plan
Plan.sources = lambda self: ["beir_fever"]
from sagebench.__main__ import main
sys.exit(main(["mirror", *sys.argv[1:]]))
"""


def test_the_command_as_a_process_reaches_the_hub(tmp_path: Path) -> None:
    """In a process of its own, where `main` decides whether the Hub's client may go online."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "SAGEBENCH_"))}
    with hub_server.serve() as hub:
        known = catalogue.load()
        source, made = known.hub["beir_fever"], hub_sets.made("beir_fever", known)
        hub.add(source.hub, source.revision, made)
        environment = clean | {
            "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"),
            "NO_PROXY": "127.0.0.1,localhost", cache.FOLDER_VARIABLE: str(tmp_path / "cache"),
            "PYTHONPATH": str(ROOT / "workflow"),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", NARROWED, str(tmp_path / "filled"),
             "--params", str(ROOT / "params.yaml"), str(ROOT / "config/smoke.yaml")],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "beir_fever: new" in done.stdout
    folder = listing.place(tmp_path / "filled", source.hub, source.revision)
    assert (folder / "corpus.jsonl").read_bytes() == made["corpus.jsonl"]
