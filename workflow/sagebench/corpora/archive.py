"""Reading listed members of a wheel or sdist: nothing is unpacked but what was asked for."""

import fnmatch
import io
import re
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sagebench.errors import BenchError

MEMBER_LIMIT = 256 << 20  # bytes of one member, unpacked
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

    BenchError for a link, a path that leaves the archive, a member above MEMBER_LIMIT, or an
    archive that cannot be read.
    """
    opener = _tar_members if path.name.endswith(".tar.gz") else _zip_members
    try:
        for name, size, regular, stream in opener(path):
            if not any(matches(name, pattern) for pattern in patterns):
                continue
            if not is_safe_path(name) or not regular:
                raise BenchError(f"{path.name}: refusing {name!r}: a link, or it leads outside")
            yield name, _bounded(path, name, size, stream)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise BenchError(f"{path.name} is not a readable archive: {error}") from error


def names(path: Path) -> list[str]:
    """The paths of all members, sorted; for messages."""
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path, "r:gz", encoding="utf-8") as container:
            return sorted(container.getnames())
    with zipfile.ZipFile(path) as container:
        return sorted(container.namelist())


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


def _tar_members(path: Path) -> Iterator[tuple[str, int, bool, IO[bytes]]]:
    with tarfile.open(path, "r:gz", encoding="utf-8") as container:
        for info in container:
            stream = container.extractfile(info) if info.isreg() else io.BytesIO()
            yield info.name, info.size, info.isreg(), stream or io.BytesIO()
