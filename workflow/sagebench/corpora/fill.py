"""Filling a mirror: every archive and Hub file that a set of sources needs, each checked."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sagebench.corpora import cache, catalogue, mirror
from sagebench.corpora.catalogue import Hub, Source
from sagebench.corpora.files import write_bytes
from sagebench.corpora.hub import listing, picked
from sagebench.errors import BenchError
from sagebench.provenance import file_sha256


@dataclass(frozen=True)
class Kept:
    """A source's part of the mirror; `size` in bytes, `new` if some file was not there before."""

    source: str
    size: int
    new: bool
    licence: str


def archives() -> list[str]:
    """Every source of the catalogue that is a pinned archive."""
    known = catalogue.load().sources
    return sorted(name for name, source in known.items() if isinstance(source, Source))


def fill(root: Path, sources: Iterable[str], progress: bool = True) -> Iterator[Kept]:
    """Bring each source's files into the folder `root`; what is there and right stays.

    A source that cannot be had keeps no other from being filled: BenchError at the end names all
    such sources and why. Folders of the user's are passed over, for they are no one else's.
    """
    failed = []
    for name in sources:
        source = catalogue.load().source(name)
        try:
            if isinstance(source, Source):
                yield _archive(root, name, source, progress)
            elif isinstance(source, Hub):
                yield _hub(root, name, source, progress)
        except BenchError as error:
            failed.append(f"  {name}: {error}")
    if failed:
        raise BenchError(f"the mirror {root} lacks {len(failed)} sources:\n" + "\n".join(failed))


def _archive(root: Path, name: str, source: Source, progress: bool) -> Kept:
    target = mirror.archive(root, source.archive)
    new = not target.is_file() or file_sha256(target) != source.sha256
    if new:
        mirror.copy(cache.archive(source, progress), target)
        if file_sha256(target) != source.sha256:
            target.unlink()
            raise BenchError(f"{target} did not come out as it was written: check the disk")
    return Kept(name, target.stat().st_size, new, source.licence)


def _hub(root: Path, name: str, source: Hub, progress: bool) -> Kept:
    """The files first, then what the Hub says of them: the answer is there if they are."""
    found = listing.of_hub(source.hub, source.revision)
    size, new = 0, False
    for _, remote, path, known in picked.files(name, source, found, progress):
        target = listing.place(root, source.hub, found.commit or source.revision) / remote
        if not target.is_file() or picked.differs(target, known):
            mirror.copy(path, target)
            new = True
        size += target.stat().st_size
    if found.commit:
        text = listing.answer(source.hub, found)
        for revision in {found.commit, source.revision}:
            write_bytes(listing.answer_place(root, source.hub, revision), text)
    return Kept(name, size, new, source.licence)
