"""Hostile sizes do not decide how much memory is used: readers under a hard limit.

Each case runs in a process of its own that may take `LIMIT` bytes beyond its libraries, so
whatever reads on without end dies instead of being refused.
"""

import gzip
import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from sagebench import registry

LIMIT = 1 << 30
GIB = 1 << 30

_READ = """
import resource, sys
from pathlib import Path
import polars
from sagebench.corpora import archive, folder, rows
from sagebench.corpora.unpickle import safe_load_pickle
from sagebench.errors import BenchError
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[3]),) * 2)
path = Path(sys.argv[2])
try:
    {"rows": lambda: sum(1 for _ in rows.rows(path, ())),
     "archive": lambda: sum(len(c) for _, c in archive.members(path, ["*"])),
     "names": lambda: archive.names(path),
     "pickle": lambda: safe_load_pickle(path)}[sys.argv[1]]()
    print("read")
except BenchError as error:
    print("refused:", error)
"""


def outcome(how: str, path: Path) -> str:
    package = str(Path(registry.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": package, "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _READ, how, str(path), str(LIMIT)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-800:]
    return done.stdout


def zeros(path: Path, start: bytes, size: int) -> None:
    """A gzip file of `size` blanks after `start`: a thousandth of that on disk."""
    block = b" " * (1 << 20)
    with gzip.open(path, "wb", 1) as stream:
        stream.write(start)
        for _ in range(size // len(block)):
            stream.write(block)


def test_a_line_of_100_mb_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(json.dumps({"text": "x" * 100_000_000}).encode() + b"\n")
    assert outcome("rows", path) == "read\n"


@pytest.mark.parametrize("start", [b'{"text": "', b"a,b\n1,"], ids=["json", "csv"])
def test_a_packed_line_without_end_is_refused(tmp_path: Path, start: bytes) -> None:
    zeros(tmp_path / "x.gz", start, 2 * GIB)
    assert "a line above 256 MiB" in outcome("rows", tmp_path / "x.gz")


@pytest.mark.parametrize("opening", [b"[", b'{"a":'], ids=["lists", "objects"])
def test_deep_json_is_refused(tmp_path: Path, opening: bytes) -> None:
    (tmp_path / "x.jsonl").write_bytes(b'{"a":' + opening * 2_000_000)
    assert "line 1 is not JSON" in outcome("rows", tmp_path / "x.jsonl")


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
        target.open("bomb", "w", force_zip64=True) as stream,
    ):
        for _ in range(600):
            stream.write(b"\0" * (1 << 20))
    assert "bomb is larger than 256 MiB" in outcome("archive", tmp_path / "x.zip")
    # The directory lies: it claims ten bytes.
    content = (tmp_path / "x.zip").read_bytes()
    at = content.rindex(b"PK\x01\x02") + 24
    lying = content[:at] + struct.pack("<I", 10) + content[at + 4 :]
    (tmp_path / "y.zip").write_bytes(lying)
    assert "refused" in outcome("archive", tmp_path / "y.zip")


def test_a_tar_bomb_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("bomb")
    info.size = 2 * GIB
    zeros(tmp_path / "x.tar.gz", info.tobuf(tarfile.GNU_FORMAT), 300 << 20)
    assert "bomb is larger than 256 MiB" in outcome("archive", tmp_path / "x.tar.gz")


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME], ids=["pax", "name"])
def test_a_header_that_claims_gigabytes_is_refused(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("header")
    info.size, info.type = 4 * GIB, kind
    zeros(tmp_path / "x.tar.gz", info.tobuf(tarfile.GNU_FORMAT), 4 << 20)
    for how in ("archive", "names"):
        assert "a header claims" in outcome(how, tmp_path / "x.tar.gz")


@pytest.mark.parametrize(
    "content",
    [b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40), b"\x80\x02Nr\xff\xff\xff\x7f."],
    ids=["bytes", "memo"],
)
def test_a_pickle_that_claims_gigabytes_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.pickle").write_bytes(content)
    assert "refused" in outcome("pickle", tmp_path / "x.pickle")


def test_many_members_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sagebench.corpora import archive
    from sagebench.errors import BenchError

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name in "abc":
            target.writestr(name, b"x" * 400)
    (tmp_path / "x.zip").write_bytes(buffer.getvalue())
    monkeypatch.setattr(archive, "TOTAL_LIMIT", 1000)
    found = []
    with pytest.raises(BenchError, match="holds more than"):
        found.extend(archive.members(tmp_path / "x.zip", ["*"]))
