"""Archives kept per user: found, downloaded and hash-checked once, checked again at every use."""

import os
from pathlib import Path

from sagebench.corpora import pip_settings
from sagebench.corpora.catalogue import Source
from sagebench.corpora.connection import client
from sagebench.corpora.download import download
from sagebench.corpora.index import find
from sagebench.errors import BenchError
from sagebench.provenance import file_sha256

FOLDER_VARIABLE = "SAGEBENCH_CACHE"


def folder() -> Path:
    """The cache: $SAGEBENCH_CACHE, or the user's cache folder of this platform."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("sagebench"))


def archive(source: Source, progress: bool = True) -> Path:
    """Path of the source's archive, whose sha256 was just checked.

    Downloads it if it is missing or damaged. Processes that want the same archive wait for each
    other. BenchError if it cannot be had, or if what the index serves has another sha256.
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
    """Download to a `.part` file, check, then rename: `path` never holds unchecked bytes."""
    part = path.with_name(f"{path.name}.part")
    settings = pip_settings.read()
    with client(settings) as session:
        link = find(source, settings, session)
        continued = part.exists()
        download(link, part, session, progress)
        if continued and file_sha256(part) != source.sha256:
            # What an earlier run left may not be the beginning of this file.
            part.unlink()
            download(link, part, session, progress)
    found = file_sha256(part)
    if found != source.sha256:
        part.unlink()
        raise BenchError(
            f"{source.archive}: checksum mismatch, expected sha256 {source.sha256}, got {found} "
            f"from {link.redacted}. The download was deleted. If a proxy or a mirror changed the "
            "file, use another index; do not change the expected value without knowing why."
        )
    os.replace(part, path)
