"""Reading listed members of a wheel or sdist: nothing is unpacked but what was asked for."""

import fnmatch
import gzip
import io
import lzma
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sagebench.errors import BenchError

MEMBER_LIMIT = 256 << 20  # bytes of one member, unpacked
TOTAL_LIMIT = 2 << 30  # bytes of all members that are asked for
# RuntimeError: a password is needed; NotImplementedError: an unknown way of packing.
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    LookupError,
)
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can hold


def is_safe_path(path: str) -> bool:
    """Whether `path` is relative, without "..", backslashes, drive letters or NUL."""
    parts = path.split("/")
    return bool(path) and not ({"", ".", ".."} & set(parts)) and not re.search(r"[\\:\0]", path)


def matches(name: str, pattern: str) -> bool:
    """Whether a member's path fits the pattern; wildcards stay within one folder."""
    parts, patterns = name.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatch.fnmatchcase, parts, patterns))


def members(path: Path, patterns: list[str]) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the members that fit a pattern, in the archive's own order, one pass.

    BenchError for a link, a path that leaves the archive, a member above MEMBER_LIMIT, more than
    TOTAL_LIMIT in all, or an archive that cannot be read.
    """
    total = 0
    opener = _tar_members if path.name.endswith(".tar.gz") else _zip_members
    try:
        for name, size, regular, stream in opener(path):
            if not any(matches(name, pattern) for pattern in patterns):
                continue
            if not is_safe_path(name) or not regular:
                raise BenchError(f"{path.name}: refusing {name!r}: a link, or it leads outside")
            content = _bounded(path, name, size, stream)
            total += len(content)
            if total > TOTAL_LIMIT:
                raise BenchError(f"{path.name} holds more than {TOTAL_LIMIT >> 20} MiB")
            yield name, content
    except _DAMAGE as error:
        raise BenchError(f"{path.name} is not a readable archive: {error}") from error


def names(path: Path) -> list[str]:
    """The paths of all members, sorted; for messages."""
    try:
        if path.name.endswith(".tar.gz"):
            with _tar(path) as tar:
                return sorted(tar.getnames())
        with zipfile.ZipFile(path) as container:
            return sorted(container.namelist())
    except _DAMAGE as error:
        raise BenchError(f"{path.name} is not a readable archive: {error}") from error


def pack(contents: dict[str, bytes]) -> bytes:
    """A stored zip of the contents: sorted names, fixed times, so equal inputs give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as target:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, _FIXED_TIME)
            entry.create_system = 3  # the same on every platform
            entry.external_attr = 0o644 << 16
            target.writestr(entry, contents[name])
    return buffer.getvalue()


def _bounded(path: Path, name: str, size: int, stream: IO[bytes]) -> bytes:
    content = stream.read(MEMBER_LIMIT + 1) if size <= MEMBER_LIMIT else b""
    # The header may lie about the size.
    if max(size, len(content)) > MEMBER_LIMIT:
        raise BenchError(f"{path.name}: {name} is larger than {MEMBER_LIMIT >> 20} MiB")
    return content


def _zip_members(path: Path) -> Iterator[tuple[str, int, bool, IO[bytes]]]:
    with zipfile.ZipFile(path) as container:
        for info in container.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            regular = not info.is_dir() and kind in {0, stat.S_IFREG}
            with container.open(info) as stream:
                yield info.filename, info.file_size, regular, stream


class _Unpacked(gzip.GzipFile):
    """tarfile reads a header of any size that it claims at once."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > MEMBER_LIMIT + tarfile.RECORDSIZE:
            raise tarfile.ReadError(f"a header claims {size} bytes")
        return super().read(size)


@contextmanager
def _tar(path: Path) -> Iterator[tarfile.TarFile]:
    with (
        _Unpacked(path) as stream,
        tarfile.open(fileobj=stream, mode="r:", encoding="utf-8") as container,
    ):
        yield container


def _tar_members(path: Path) -> Iterator[tuple[str, int, bool, IO[bytes]]]:
    with _tar(path) as container:
        for info in container:
            stream = container.extractfile(info) if info.isreg() else io.BytesIO()
            yield info.name, info.size, info.isreg(), stream or io.BytesIO()
