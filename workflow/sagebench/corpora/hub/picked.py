"""Fetching a source whose files are picked by pattern: of the Hub, a mirror, or a user's folder."""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sagebench.corpora import archive, mirror
from sagebench.corpora.catalogue import RECORD, Hub, Own, Pick
from sagebench.corpora.files import write_bytes
from sagebench.corpora.hub import client, listing
from sagebench.corpora.hub.listing import Known, Listing
from sagebench.errors import BenchError
from sagebench.provenance import file_sha256

_SHOWN = 12  # names in a message


def fetch(name: str, source: Hub | Own, destination: Path, progress: bool = True) -> None:
    """Write every file to destination/<file id>, and what was picked to destination/source.json.

    The record has the commit, and of each file its name at the source, its size, its sha256 and
    what that was checked against. BenchError if the source has no fitting file, or other bytes.
    """
    if isinstance(source, Hub):
        found = listing.of_hub(source.hub, source.revision)
        record: dict[str, Any] = {"hub": source.hub, "revision": source.revision}
    else:
        found, record = listing.of_own(name, source.why), {"own": name}
    record |= {"commit": found.commit, "files": {}}
    for file_id, remote, path, known in files(name, source, found, progress):
        target = destination / file_id
        mirror.copy(path, target)
        record["files"][file_id] = {
            "name": remote,
            "size": target.stat().st_size,
            "sha256": file_sha256(target),
            "checked": "sha256" if known.sha256 else "git blob" if known.blob else "nothing",
        }
    text = json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False)
    write_bytes(destination / RECORD, f"{text}\n".encode())


def files(
    name: str, source: Hub | Own, found: Listing, progress: bool = True
) -> Iterator[tuple[str, str, Path, Known]]:
    """(file id, name at the source, checked file on this machine, what it was checked against)."""
    for file_id, remote in _choose(name, source, found).items():
        known = _expected(source.files[file_id], found.files[remote])
        path = Path(found.folder or "") / remote
        here = found.folder is not None and path.is_file()
        if not here and isinstance(source, Hub) and found.commit:
            path = _downloaded(source.hub, found.commit, remote, known, progress)
        if problem := differs(path, known):
            raise BenchError(f"{name}: {path}: {problem}; put the right file there")
        yield file_id, remote, path, known


def _choose(name: str, source: Hub | Own, found: Listing) -> dict[str, str]:
    """File id -> path at the source: of the first pattern that fits anything."""
    chosen = {}
    for file_id, pick in source.files.items():
        fitting = next((fits for pattern in pick.pick if (fits := _fitting(found, pattern))), None)
        if not fitting:
            there = ", ".join(sorted(found.files)[:_SHOWN]) or "nothing"
            raise BenchError(
                f"{name}: no file for {file_id!r} (looked for {', '.join(pick.pick)}); there are "
                f"{len(found.files)} files: {there}. Its layout has changed: correct the patterns "
                "in workflow/catalogue/hub.yaml"
            )
        if len(fitting) > 1:
            raise BenchError(
                f"{name}: {len(fitting)} files fit {file_id!r}: {', '.join(fitting[:_SHOWN])}; "
                "list them one by one in workflow/catalogue/hub.yaml"
            )
        chosen[file_id] = fitting[0]
    for remote in chosen.values():
        if not archive.is_safe_path(remote):
            raise BenchError(f"{name}: refusing the file {remote!r}: its name leads outside")
        parts = [other for other in found.files if _shape(other) == _shape(remote)]
        if left := sorted(set(parts) - set(chosen.values())):
            raise BenchError(
                f"{name}: {remote} is one of {len(parts)} parts, and {left[0]} was not picked: "
                "list every part in workflow/catalogue/hub.yaml"
            )
    return chosen


def _fitting(found: Listing, pattern: str) -> list[str]:
    # A name such as ../x of a listing is no file of the repository.
    names = filter(archive.is_safe_path, found.files)
    return sorted(path for path in names if archive.matches(path, pattern))


def _shape(path: str) -> str:
    """A path without part numbers and digests: what the parts of one table have in common."""
    folder, _, file = path.rpartition("/")
    numbered = re.fullmatch(r"(?:(.+?)-)?\d+(?:-of-\d+(?:-[0-9a-f]+)?)?(\.[a-z.]+)", file)
    return f"{folder}/{numbered[1]}#{numbered[2]}" if numbered else path


def _expected(pick: Pick, known: Known) -> Known:
    return Known(known.size, pick.sha256, None) if pick.sha256 else known


def _downloaded(repo: str, commit: str, name: str, known: Known, progress: bool) -> Path:
    """The file in the per-user cache, whose digest was just checked; downloaded if need be."""
    from filelock import FileLock

    path = listing.kept(repo) / commit / name
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with FileLock(f"{path}.lock"):
        if path.exists() and not differs(path, known):
            return path
        path.unlink(missing_ok=True)
        if (had := _in_hub_cache(repo, commit, name)) and not differs(had, known):
            return had

        def bring() -> str:
            client.download(
                repo, commit, name, part,
                size=known.size, endpoint=listing.endpoint(), progress=progress,
            )  # fmt: skip
            return differs(part, known)

        continued = part.exists()
        problem = bring()
        if problem and continued:
            # What an earlier run left may not be the beginning of this file.
            part.unlink()
            problem = bring()
        if problem:
            part.unlink()
            raise BenchError(
                f"{repo}/{name} at {commit}: {problem}. The download was deleted. If a proxy or a "
                "mirror changed the file, use another; do not change an expected value without "
                "knowing why."
            )
        os.replace(part, path)
    return path


def _in_hub_cache(repo: str, commit: str, name: str) -> Path | None:
    """The file in the cache of the Hub's own client, where other tools may have put it."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repo, name, revision=commit, repo_type="dataset")
    return Path(found) if isinstance(found, str) else None


def differs(path: Path, known: Known) -> str:
    """What is wrong with a file's bytes, or ""."""
    size = path.stat().st_size
    if known.size is not None and size != known.size:
        return f"{size} bytes, {known.size} were expected"
    if known.sha256 and (digest := file_sha256(path)) != known.sha256:
        return f"checksum mismatch, expected sha256 {known.sha256}, got {digest}"
    if known.blob and (digest := _git_blob(path)) != known.blob:
        return f"checksum mismatch, expected git blob {known.blob}, got {digest}"
    return ""


def _git_blob(path: Path) -> str:
    """Git's digest of a file: SHA-1 over a header with its size, then its bytes."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
