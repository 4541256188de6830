"""Fetching from the Hub, by its real client, against a Hub on this machine that misbehaves."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hub_server import Hub, git_blob, serve, sha256

from sagebench.corpora import cache, connection, mirror
from sagebench.corpora.catalogue import Hub as HubSource
from sagebench.corpora.catalogue import Own
from sagebench.corpora.hub import client, listing, picked
from sagebench.errors import BenchError

ROOT = Path(__file__).resolve().parents[1]
REPO, COMMIT, REF = "demo/set", "a" * 40, "refs/convert/parquet"
LARGE, SMALL = os.urandom(3_000_000), b'{"_id": "1"}\n'


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serve() as running:
        yield running


@pytest.fixture(autouse=True)
def isolated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Empty caches, no waiting between tries, the test's Hub in the place of the real one."""
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hf"))
    # The client keeps what came in whole blocks, of 10 MB in earnest.
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 100_000)
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)
    monkeypatch.setattr(connection, "DELAYS", (0.0, 0.0, 0.0))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "token"))
    for name in (mirror.VARIABLE, listing.FOLDERS_VARIABLE, "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    url = request.getfixturevalue("hub").url if "hub" in request.fixturenames else "http://[::1]:9"
    monkeypatch.setenv("HF_ENDPOINT", url)


def entry(revision: str = COMMIT, **files: list[str] | str) -> HubSource:
    """A catalogue entry; a file's patterns, best first."""
    picks = {k: {"pick": [v] if isinstance(v, str) else v} for k, v in files.items()}
    fixed = {"hub": REPO, "revision": revision, "licence": "CC0", "citation": "none"}
    return HubSource.model_validate(fixed | {"files": picks})


def fetch(tmp_path: Path, source: HubSource | Own, name: str = "demo") -> dict:
    """Fetch into tmp_path/raw; the record of what was picked."""
    picked.fetch(name, source, tmp_path / "raw", progress=False)
    return json.loads((tmp_path / "raw" / "source.json").read_text(encoding="utf-8"))


def both(hub: Hub, revision: str = COMMIT) -> tuple[HubSource, str]:
    commit = hub.add(REPO, revision, {"big/x.bin": LARGE, "small.jsonl": SMALL, "s.py": b"boom"})
    return entry(revision, big="big/*.bin", small="small.jsonl"), commit


def test_files_arrive_and_the_record_says_what_they_are(hub: Hub, tmp_path: Path) -> None:
    source, _ = both(hub)
    record = fetch(tmp_path, source)
    assert (tmp_path / "raw" / "big").read_bytes() == LARGE
    assert (tmp_path / "raw" / "small").read_bytes() == SMALL
    assert record == {
        "hub": REPO, "revision": COMMIT, "commit": COMMIT,
        "files": {
            "big": {"name": "big/x.bin", "size": len(LARGE), "sha256": sha256(LARGE),
                    "checked": "sha256"},
            "small": {"name": "small.jsonl", "size": len(SMALL), "sha256": sha256(SMALL),
                      "checked": "git blob"},
        },
    }  # fmt: skip
    assert not [path for _, path, _ in hub.requests if path.endswith(".py")]


def test_a_second_fetch_asks_nobody(hub: Hub, tmp_path: Path) -> None:
    source, _ = both(hub)
    first = fetch(tmp_path, source)
    asked = len(hub.requests)
    shutil.rmtree(tmp_path / "raw")
    assert fetch(tmp_path, source) == first
    assert len(hub.requests) == asked


def test_the_moving_ref_is_resolved_and_recorded(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, commit = both(hub, REF)
    assert fetch(tmp_path, source)["commit"] == commit
    moved = hub.add(REPO, REF, {"big/x.bin": LARGE[::-1], "small.jsonl": SMALL})
    record = fetch(tmp_path, source)
    assert (record["commit"], record["revision"]) == (moved, REF)
    assert (tmp_path / "raw" / "big").read_bytes() == LARGE[::-1]
    # Without a connection, what it stood for last time counts.
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert fetch(tmp_path, source) == record


@pytest.mark.parametrize("ranges", [True, False])
def test_a_cut_connection_goes_on_where_it_stopped(hub: Hub, tmp_path: Path, ranges: bool) -> None:
    source, _ = both(hub)
    hub.cuts, hub.ranges = 3, ranges
    fetch(tmp_path, source)
    assert (tmp_path / "raw" / "big").read_bytes() == LARGE
    starts = [int(r.removeprefix("bytes=").rstrip("-")) for r in hub.bodies if r]
    assert len(starts) == 3
    assert starts[0] == 1_500_000
    if ranges:
        assert starts == sorted(set(starts))


def test_what_came_is_kept_for_the_next_run(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, _ = both(hub)
    part = listing.kept(REPO) / COMMIT / "big" / "x.bin.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(LARGE[:2_000_000])
    fetch(tmp_path, source)
    assert (tmp_path / "raw" / "big").read_bytes() == LARGE
    assert "bytes=2000000-" in hub.bodies
    assert not part.exists()


def test_a_broken_off_download_says_how_to_go_on(hub: Hub, tmp_path: Path) -> None:
    source, _ = both(hub)
    listing.of_hub(REPO, COMMIT)
    hub.busy = 1000
    with pytest.raises(BenchError, match=r"127\.0\.0\.1 answers 503.*run again.*0 bytes are kept"):
        fetch(tmp_path, source)
    hub.busy = 0
    fetch(tmp_path, source)


@pytest.mark.parametrize("size", [10, 5_000_000])  # shorter and longer than the file
def test_a_strange_partial_file_does_no_harm(hub: Hub, tmp_path: Path, size: int) -> None:
    source, _ = both(hub)
    part = listing.kept(REPO) / COMMIT / "big" / "x.bin.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * size)
    fetch(tmp_path, source)
    assert (tmp_path / "raw" / "big").read_bytes() == LARGE


@pytest.mark.parametrize("file", ["big", "small"])
def test_other_bytes_are_refused(hub: Hub, tmp_path: Path, file: str) -> None:
    both(hub)
    hub.tampered = True
    source = entry(**{file: {"big": "big/x.bin", "small": "small.jsonl"}[file]})
    right = {"big": sha256(LARGE), "small": git_blob(SMALL)}[file]
    with pytest.raises(BenchError, match=rf"checksum mismatch.*{right}.*deleted"):
        fetch(tmp_path, source)
    assert not (tmp_path / "raw" / file).exists()
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.suffix == ".part"]


def test_a_pinned_digest_counts_more_than_the_server_s(hub: Hub, tmp_path: Path) -> None:
    both(hub)
    source = HubSource.model_validate(
        entry(big="big/x.bin").model_dump()
        | {"files": {"big": {"pick": ["big/x.bin"], "sha256": "0" * 64}}}
    )
    with pytest.raises(BenchError, match=rf"expected sha256 {'0' * 64}, got {sha256(LARGE)}"):
        fetch(tmp_path, source)


def test_a_damaged_copy_in_the_cache_is_replaced(hub: Hub, tmp_path: Path) -> None:
    source, _ = both(hub)
    fetch(tmp_path, source)
    (listing.kept(REPO) / COMMIT / "big" / "x.bin").write_bytes(b"cut short")
    fetch(tmp_path, source)
    assert (tmp_path / "raw" / "big").read_bytes() == LARGE


def test_a_busy_server_is_asked_again(hub: Hub, tmp_path: Path) -> None:
    source, _ = both(hub)
    hub.busy = 3
    fetch(tmp_path, source)


def test_the_server_s_wait_is_kept(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(client.time, "sleep", waited.append)
    source, _ = both(hub)
    hub.limited, hub.retry_after = 2, 7
    fetch(tmp_path, source)
    assert waited.count(7.0) == 2
    hub.limited = 1000
    with pytest.raises(BenchError, match="answers 429"):
        listing.of_hub(REPO, REF)


@pytest.mark.parametrize(
    ("header", "after", "waited"),
    [
        ('"api";r=0;t=20', None, 21.0),
        ('"api";r=0;t=20', 40, 40.0),
        ('"api";r=3;t=20', None, 0.0),  # some are left: the limit is another one
        ('"api";r=0;t=99999', None, 300.0),
        ("nonsense", None, 0.0),
    ],
)
def test_the_window_of_a_rate_limit_is_waited_for(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, header: str, after: int | None, waited: float
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(client.time, "sleep", slept.append)
    both(hub)
    hub.limited, hub.retry_after, hub.rate_limit = 1, after, header
    listing.of_hub(REPO, COMMIT)
    assert slept == [waited]


def test_a_server_that_never_answers_a_listing_is_left(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DOWNLOAD_TIMEOUT", 0.2)
    hub.silent = True
    with pytest.raises(BenchError, match=r"cannot be reached \(ReadTimeout\)"):
        listing.of_hub(REPO, COMMIT)


@pytest.mark.parametrize("status", [403, 503])
def test_a_blocked_host_of_files_is_named_itself(hub: Hub, tmp_path: Path, status: int) -> None:
    source, _ = both(hub)
    hub.blocked = status
    said = rf"127\.0\.0\.1 has it, but sends to localhost.*which answers {status}.*allow localhost"
    with pytest.raises(BenchError, match=said):
        fetch(tmp_path, source)


SECRET = "hf_MadeForTheTests"


@pytest.mark.parametrize("where", ["variable", "file"])
def test_a_token_opens_what_is_private_and_goes_to_no_other_host(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str,
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    source, _ = both(hub)
    hub.private = SECRET
    with pytest.raises(BenchError, match=r"answers 401.*no token was sent"):
        fetch(tmp_path, source)
    if where == "variable":
        monkeypatch.setenv("HF_TOKEN", f" {SECRET}\n")
    else:
        (tmp_path / "token").write_text(SECRET)
    hub.tokens.clear()
    hub.cuts = 1  # sent again when a download goes on
    with caplog.at_level("DEBUG"):
        fetch(tmp_path, source)
    assert (tmp_path / "raw" / "big").read_bytes() == LARGE
    assert {sent for host, sent in hub.tokens if host == "127.0.0.1"} == {f"Bearer {SECRET}"}
    assert {sent for host, sent in hub.tokens if host != "127.0.0.1"} == {""}
    assert SECRET not in caplog.text + "".join(capfd.readouterr())
    kept = [p for p in tmp_path.rglob("*") if p.is_file() and p.name != "token"]
    assert not [p for p in kept if SECRET.encode() in p.read_bytes()]


def test_an_old_token_closes_nothing_that_is_public(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, _ = both(hub)
    monkeypatch.setenv("HF_TOKEN", SECRET)
    hub.private = "-"
    fetch(tmp_path, source)
    assert (tmp_path / "raw" / "big").read_bytes() == LARGE


@pytest.mark.parametrize(
    ("own", "asked", "sent"),
    [
        (None, None, True),
        (None, "https://huggingface.co", True),
        (None, "https://mirror.example", False),
        (None, "http://huggingface.co", False),
        ("https://hub.example", None, True),
        ("https://hub.example", "https://hub.example", True),
        ("https://hub.example", "https://hub.example:8443", False),
        ("https://hub.example", "https://huggingface.co", False),
        ("http://hub.example", None, False),  # anybody on the way could read it
        ("http://127.0.0.1:80", None, True),
    ],
)
def test_whom_a_token_is_for(
    monkeypatch: pytest.MonkeyPatch, own: str | None, asked: str | None, sent: bool
) -> None:
    monkeypatch.delenv("HF_ENDPOINT")
    if own:
        monkeypatch.setenv("HF_ENDPOINT", own)
    monkeypatch.setenv("HF_TOKEN", SECRET)
    assert client.token(asked) == (SECRET if sent else None)


def test_a_mirror_of_the_parameters_gets_no_token(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, _ = both(hub)
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example")
    monkeypatch.setenv(mirror.VARIABLE, hub.url)
    monkeypatch.setenv("HF_TOKEN", SECRET)
    fetch(tmp_path, source)
    assert {sent for _, sent in hub.tokens} == {""}


def test_a_token_that_is_none_is_not_shown(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    both(hub)
    monkeypatch.setenv("HF_TOKEN", f"{SECRET}\x7fé")
    with pytest.raises(BenchError, match="a character that no token has") as caught:
        listing.of_hub(REPO, COMMIT)
    assert SECRET not in str(caught.value)


def test_a_missing_repository_is_a_401_and_explained(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"demo/set at a+: 127\.0\.0\.1 answers 401.*renamed, rem"):
        fetch(tmp_path, entry(a="a"))
    assert len(hub.requests) == 1  # no patience with a clear answer


def test_a_missing_revision_is_named(hub: Hub, tmp_path: Path) -> None:
    hub.add(REPO, "b" * 40, {})
    with pytest.raises(BenchError, match="has the repository but not this revision"):
        fetch(tmp_path, entry(a="a"))


def test_the_first_layout_that_fits_is_taken(hub: Hub, tmp_path: Path) -> None:
    hub.add(REPO, COMMIT, {"test.jsonl.gz": b"gz", "corpus/test-00000-of-00001-0af.parquet": b"p"})
    source = entry(one=["test.jsonl", "test.jsonl.gz"], two=["x", "corpus/test-*.parquet"])
    files = fetch(tmp_path, source)["files"]
    assert files["one"]["name"] == "test.jsonl.gz"
    assert files["two"]["name"] == "corpus/test-00000-of-00001-0af.parquet"


@pytest.mark.parametrize(
    ("there", "patterns", "message"),
    [
        (["other.csv"], "a.jsonl", "no file for 'one'.*a.jsonl.*1 files: other.csv.*changed"),
        (["a-1.txt", "a-2.txt"], "a-*.txt", "2 files fit 'one': a-1.txt, a-2.txt"),
        (
            ["t/train-00000-of-00002-ab.parquet", "t/train-00001-of-00002-cd.parquet"],
            "t/train-00000-of-*.parquet",
            "one of 2 parts, and t/train-00001-of-00002-cd.parquet was not picked",
        ),
        (["c/0000.parquet", "c/0001.parquet"], "c/0000.parquet", "parts, and c/0001.parquet"),
    ],
)
def test_what_does_not_fit_one_file_is_an_error(
    hub: Hub, tmp_path: Path, there: list[str], patterns: str, message: str
) -> None:
    hub.add(REPO, COMMIT, dict.fromkeys(there, b"x"))
    with pytest.raises(BenchError, match=message):
        fetch(tmp_path, entry(one=patterns))


def test_all_parts_may_be_listed(hub: Hub, tmp_path: Path) -> None:
    names = [f"t/train-0000{i}-of-00002-a{i}.parquet" for i in range(2)]
    hub.add(REPO, COMMIT, {n: n.encode() for n in names} | {"t/dev-00000-of-00001.parquet": b""})
    record = fetch(tmp_path, entry(a="t/train-00000*", b="t/train-00001*"))
    assert [record["files"][k]["name"] for k in "ab"] == names


def test_without_a_connection_the_way_out_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"cannot be reached.*HF_ENDPOINT or a `mirror`"):
        fetch(tmp_path, entry(a="a"))


def test_offline_on_purpose(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, _ = both(hub)
    fetch(tmp_path, source)
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from sagebench.corpora.hub import picked\nfrom sagebench.corpora.catalogue import Hub\n"
        "picked.fetch('demo', Hub.model_validate_json(sys.argv[1]), Path(sys.argv[2]))\n"
    )
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT / "workflow")}

    def run(given: HubSource) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", script, given.model_dump_json(), str(tmp_path / "again")]
        return subprocess.run(
            command, env=environment, text=True, capture_output=True, timeout=60, check=False
        )

    asked = len(hub.requests)
    assert run(source).returncode == 0
    assert (tmp_path / "again" / "big").read_bytes() == LARGE
    unknown = run(entry("c" * 40, a="a"))
    assert "HF_HUB_OFFLINE forbids to ask" in unknown.stderr
    assert len(hub.requests) == asked


def test_the_hub_client_s_own_cache_is_used(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another tool of the Hub downloaded need not come twice, and serves without a network."""
    from huggingface_hub import snapshot_download

    source, commit = both(hub, REF)
    snapshot_download(
        REPO, repo_type="dataset", revision=REF, cache_dir=str(tmp_path / "hf"),
        endpoint=hub.url,
    )  # fmt: skip
    bodies = len(hub.bodies)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    record = fetch(tmp_path, source)
    assert record["commit"] == commit
    assert {file["checked"] for file in record["files"].values()} == {"sha256", "git blob"}
    assert len(hub.bodies) == bodies


@pytest.mark.parametrize("revision", [COMMIT, REF])
def test_a_mirror_s_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str) -> None:
    root = tmp_path / "mirror"
    folder = root / "datasets" / REPO / "resolve" / quote(revision, safe="")
    folder.mkdir(parents=True)
    (folder / "small.jsonl").write_bytes(SMALL)
    monkeypatch.setenv(mirror.VARIABLE, str(root))
    record = fetch(tmp_path, entry(revision, a="small.jsonl"))
    assert record["files"]["a"]["checked"] == "nothing"
    assert record["commit"] == (COMMIT if revision == COMMIT else None)
    with pytest.raises(BenchError, match=r"mirror .* has no demo/set at d+"):
        fetch(tmp_path, entry("d" * 40, a="small.jsonl"))


def test_a_mirror_s_address(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, _ = both(hub)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv(mirror.VARIABLE, f"{hub.url}/")
    fetch(tmp_path, source)


def test_a_set_that_is_not_public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Own.model_validate(
        {
            "why": "Demo is given out on request only.",
            "licence": "by agreement",
            "citation": "none",
            "files": {"corpus": {"pick": ["corpus.jsonl"]}},
        }
    )
    with pytest.raises(BenchError, match=r"^Demo is given out on request only\. .*folders\.demo$"):
        fetch(tmp_path, source)
    monkeypatch.setenv(listing.FOLDERS_VARIABLE, json.dumps({"demo": str(tmp_path / "mine")}))
    with pytest.raises(BenchError, match=r"folders\.demo: there is no folder"):
        fetch(tmp_path, source)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "corpus.jsonl").write_bytes(SMALL)
    record = fetch(tmp_path, source)
    assert (record["own"], record["commit"]) == ("demo", None)
    assert (tmp_path / "raw" / "corpus").read_bytes() == SMALL


def test_progress_shows_bytes(
    hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    source, _ = both(hub)
    picked.fetch("demo", source, tmp_path / "raw")
    shown = capsys.readouterr().err
    assert "x.bin" in shown
    assert "3.00M/3.00M" in shown
