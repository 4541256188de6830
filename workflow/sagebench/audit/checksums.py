"""Digests of files, each file read once."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sagebench.errors import BenchError

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Checksum:
    """A file's size in bytes, and its digests in hex."""

    size: int
    sha256: str
    md5: str


def checksum(path: Path) -> Checksum:
    """Both digests of a file: sha256 is what records hold, md5 what DVC's lock holds."""
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    with open(path, "rb") as stream:
        while block := stream.read(_BLOCK):
            sha256.update(block)
            md5.update(block)
            size += len(block)
    return Checksum(size, sha256.hexdigest(), md5.hexdigest())


def checksums(root: Path, paths: Iterable[str]) -> dict[str, Checksum]:
    """Path (relative to `root`) -> digests, of those paths that are files.

    A bar shows progress where a person looks on. BenchError if a file cannot be read.
    """
    from tqdm import tqdm

    found = [path for path in paths if (root / path).is_file()]
    bar = tqdm(found, desc="digests", unit="file", disable=None, leave=False)
    try:
        return {path: checksum(root / path) for path in bar}
    except OSError as error:
        raise BenchError(f"{error.filename} cannot be read: {error.strerror}") from None
