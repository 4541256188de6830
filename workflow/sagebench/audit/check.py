"""Comparing the bytes that are there with the records, the catalogue and DVC's lock."""

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from sagebench.audit import lock
from sagebench.audit.checksums import Checksum, checksums
from sagebench.audit.findings import Finding
from sagebench.audit.history import History
from sagebench.corpora.catalogue import RECORD, Catalogue, File, Hub, Own, Pick
from sagebench.provenance import file_sha256

_ROOTS = ("data", "results")
# The records, the audit itself, what a test of the report saw, what `make bench` measured.
_BESIDE = ("data/provenance/", "results/audit/", "results/screenshots/", "results/bench/")
_SHORT = 16  # digits of a digest in a message
_NOTES = {".gitkeep", ".gitignore", "README.md"}


def check(history: History, catalogue: Catalogue) -> list[Finding]:
    """Every difference, sorted by kind and path; empty if all is as it was made."""
    outputs = lock.outputs(history.root)
    present = _present(history.root)
    wanted = sorted({*present, *lock.files_below(history.root, outputs)})
    known = checksums(history.root, wanted)
    found = [
        *_against_records(history, present, known),
        *_against_each_other(history),
        *_against_catalogue(history, catalogue, known),
        *_against_lock(outputs, known),
    ]
    return sorted(found, key=lambda finding: (finding.kind, finding.path))


def _present(root: Path) -> list[str]:
    """The files of data/ and results/ that a job should have made."""
    paths = [path for top in _ROOTS for path in (root / top).rglob("*") if path.is_file()]
    names = [path.relative_to(root).as_posix() for path in paths if path.name not in _NOTES]
    return sorted(name for name in names if not name.startswith(_BESIDE))


def _against_records(
    history: History, present: list[str], known: Mapping[str, Checksum]
) -> Iterator[Finding]:
    for path in history.lacking:
        yield Finding("no record", path)
    for path, recorded in history.sha256.items():
        if path not in known:
            yield Finding("missing", path)
        elif known[path].sha256 != recorded:
            detail = f"{known[path].size} bytes, sha256 {known[path].sha256[:_SHORT]}…"
            yield Finding("changed", path, f"{detail}, recorded {recorded[:_SHORT]}…")
    for path in present:
        if path not in history.jobs and path not in history.lacking:
            yield Finding("unrecorded", path)


def _against_each_other(history: History) -> Iterator[Finding]:
    """Records of what jobs read against those of what was written."""
    for path, job in history.jobs.items():
        for source, digest in job.read.items():
            if history.sha256.get(source, digest) != digest:
                yield Finding(
                    "other input", path, f"made from {source} with sha256 {digest[:_SHORT]}…"
                )


def _against_catalogue(
    history: History, catalogue: Catalogue, known: Mapping[str, Checksum]
) -> Iterator[Finding]:
    """Fetched files against the pins that are there now, whatever was recorded."""
    for path, job in history.jobs.items():
        if job.name != "fetch" or path not in known:
            continue
        file_id = path.removeprefix(f"data/raw/{job.place}/")
        source = catalogue.all_sources.get(job.place)
        if file_id == RECORD and isinstance(source, Hub | Own):
            continue  # of what was picked: the digests of the others are in it
        pinned = source.files.get(file_id) if source else None
        if isinstance(pinned, Pick):
            if pinned.sha256 and file_sha256(history.root / path) != pinned.sha256:
                yield Finding("other source", path, f"pinned are bytes of sha256 {pinned.sha256}")
        elif pinned is None:
            yield Finding("other source", path, "the catalogue has no such file any more")
        elif _content(history.root / path, pinned) != pinned.sha256:
            yield Finding("other source", path, f"pinned are the bytes of sha256 {pinned.sha256}")


def _content(path: Path, pinned: File) -> str:
    """sha256 as the catalogue gives it: of several packed members, of their contents in order."""
    if not pinned.members:
        return file_sha256(path)
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(path) as packed:
            for name in sorted(packed.namelist()):
                digest.update(packed.read(name))
    except zipfile.BadZipFile:
        return "no zip archive"
    return digest.hexdigest()


def _against_lock(outputs: list[lock.Output], known: Mapping[str, Checksum]) -> Iterator[Finding]:
    for output in lock.compare(outputs, known)[1]:
        yield Finding("not in the lock", output.path, f"stage {output.stage}, see `dvc status`")
