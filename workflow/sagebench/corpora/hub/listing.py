"""What a repository of the Hub, a mirror of it or a user's folder holds at a revision."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import quote

from sagebench.corpora import cache
from sagebench.corpora.files import write_bytes
from sagebench.corpora.hub import client
from sagebench.errors import BenchError

MIRROR_VARIABLE = "SAGEBENCH_MIRROR"  # `mirror` of params.yaml: a folder or an address
FOLDERS_VARIABLE = "SAGEBENCH_FOLDERS"  # `folders` of params.yaml as JSON
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Known:
    """What a listing says of a file; a digest that it does not give is None."""

    size: int | None = None  # bytes
    sha256: str | None = None
    blob: str | None = None  # Git's own digest, for files that are not in large-file storage


@dataclass(frozen=True)
class Listing:
    """The files at one commit; with a `folder` they lie there, otherwise on the Hub."""

    commit: str | None  # None: a folder that does not say
    files: Mapping[str, Known] = field(default_factory=dict)
    folder: Path | None = None


def of_hub(repo: str, revision: str) -> Listing:
    """The listing of a repository, from the mirror that is set, or from the Hub.

    A pinned commit that was listed before needs no network. A moving ref is asked for anew; when
    the Hub cannot be reached, what it stood for last time counts. BenchError says what to do.
    """
    mirror = os.environ.get(MIRROR_VARIABLE, "")
    if mirror and "://" not in mirror:
        return _of_mirror(Path(mirror).expanduser(), repo, revision)
    try:
        return _remembered(repo, revision) or _remember(repo, revision, _ask(repo, revision))
    except client.UnreachableError as error:
        last = kept(repo) / "refs" / quote(revision, safe="")
        if last.is_file() and (found := _remembered(repo, last.read_text(encoding="utf-8"))):
            return found
        if found := _of_hub_cache(repo, revision):
            return found
        raise BenchError(str(error)) from None


def of_own(name: str, why: str) -> Listing:
    """The listing of the folder that the user names for a set that is not public."""
    folders = json.loads(os.environ.get(FOLDERS_VARIABLE) or "{}")
    if name not in folders:
        raise BenchError(f"{why} With the files at hand, name their folder as folders.{name}")
    folder = Path(folders[name]).expanduser()
    if not folder.is_dir():
        raise BenchError(f"folders.{name}: there is no folder {folder}")
    return _of_folder(folder, None)


def endpoint() -> str | None:
    """The mirror's address, or None: the Hub itself or what HF_ENDPOINT names."""
    chosen = os.environ.get(MIRROR_VARIABLE) or os.environ.get("HF_ENDPOINT") or ""
    return chosen.rstrip("/") or None


def kept(repo: str) -> Path:
    """Where this user's copies of a repository's files lie: <commit>/<path>."""
    return cache.folder() / "hub" / repo.replace("/", "--")


def _ask(repo: str, revision: str) -> Listing:
    info = client.dataset_info(repo, revision, endpoint())
    files = {
        entry.rfilename: Known(entry.size, entry.lfs.sha256, None)
        if entry.lfs
        else Known(entry.size, None, entry.blob_id)
        for entry in info.siblings or []
    }
    if _COMMIT.fullmatch(revision) and info.sha != revision:
        raise BenchError(f"{repo}: asked for commit {revision}, the server answers with {info.sha}")
    return Listing(info.sha, files)


def _remember(repo: str, revision: str, found: Listing) -> Listing:
    files = {name: asdict(known) for name, known in sorted(found.files.items())}
    write_bytes(kept(repo) / f"{found.commit}.json", json.dumps(files).encode())
    if not _COMMIT.fullmatch(revision):
        write_bytes(kept(repo) / "refs" / quote(revision, safe=""), str(found.commit).encode())
    return found


def _remembered(repo: str, commit: str) -> Listing | None:
    path = kept(repo) / f"{commit}.json"
    if not _COMMIT.fullmatch(commit) or not path.is_file():
        return None
    try:
        files = json.loads(path.read_text(encoding="utf-8"))
        return Listing(commit, {name: Known(**known) for name, known in files.items()})
    except (ValueError, TypeError):  # cut short: ask again
        return None


def _of_mirror(mirror: Path, repo: str, revision: str) -> Listing:
    """A folder laid out like the Hub's addresses, or like the Hub client's own cache."""
    resolve = mirror / "datasets" / repo / "resolve"
    for name in (revision, quote(revision, safe="")):
        if (resolve / name).is_dir():
            return _of_folder(resolve / name, revision if _COMMIT.fullmatch(revision) else None)
    if found := _of_cache(mirror, repo, revision):
        return found
    raise BenchError(
        f"mirror {mirror} has no {repo} at {revision}: neither {resolve / revision} nor "
        f"{mirror / _cache_name(repo)}/snapshots is a folder with its files"
    )


def _of_hub_cache(repo: str, revision: str) -> Listing | None:
    from huggingface_hub import constants

    return _of_cache(Path(constants.HF_HUB_CACHE), repo, revision)


def _of_cache(root: Path, repo: str, revision: str) -> Listing | None:
    """A folder as `hf download --repo-type dataset` fills it."""
    base, commit = root / _cache_name(repo), revision
    if not _COMMIT.fullmatch(commit) and (base / "refs" / revision).is_file():
        commit = (base / "refs" / revision).read_text(encoding="utf-8").strip()
    snapshot = base / "snapshots" / commit
    return _of_folder(snapshot, commit) if snapshot.is_dir() else None


def _cache_name(repo: str) -> str:
    return f"datasets--{repo.replace('/', '--')}"


def _of_folder(folder: Path, commit: str | None) -> Listing:
    """Every file below; where one is a link into the Hub's cache, its digest is the link's goal."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest = path.resolve().name if path.is_symlink() else ""
            sha256 = digest if re.fullmatch(r"[0-9a-f]{64}", digest) else None
            blob = digest if _COMMIT.fullmatch(digest) else None
            name = path.relative_to(folder).as_posix()
            files[name] = Known(path.stat().st_size, sha256, blob)
    return Listing(commit, files, folder)
