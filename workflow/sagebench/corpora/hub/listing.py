"""What a repository of the Hub, a mirror of it or a user's folder holds at a revision."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from sagebench.corpora import cache, mirror
from sagebench.corpora.files import write_bytes
from sagebench.corpora.hub import client
from sagebench.errors import BenchError

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo

FOLDERS_VARIABLE = "SAGEBENCH_FOLDERS"  # `folders` of params.yaml as JSON
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Known:
    """What a listing says of a file; a digest that it does not give is None."""

    size: int | None = None  # bytes
    sha256: str | None = None
    blob: str | None = None  # Git's own digest, for files that are not in large-file storage


_FILES = TypeAdapter(dict[str, Known])


@dataclass(frozen=True)
class Listing:
    """The files at one commit; with a `folder` they lie there, otherwise on the Hub."""

    commit: str | None  # None: a folder that does not say
    files: Mapping[str, Known] = field(default_factory=dict)
    folder: Path | None = None


def of_hub(repo: str, revision: str) -> Listing:
    """The listing of a repository, from the mirror's folder, or else from the mirror or the Hub.

    A pinned commit that was listed before needs no network. A moving ref is asked for anew; when
    the Hub cannot be reached, what it stood for last time counts. BenchError says what to do.
    """
    root = mirror.folder()
    if root and (found := _of_mirror(root, repo, revision)):
        return found
    try:
        return _remembered(repo, revision) or _remember(repo, revision, _ask(repo, revision))
    except client.UnreachableError as error:
        last = kept(repo) / "refs" / quote(revision, safe="")
        if last.is_file() and (found := _remembered(repo, last.read_text(encoding="utf-8"))):
            return found
        if found := _of_hub_cache(repo, revision):
            return found
        also = f"\n{mirror.lacks(root, f'{repo} at {revision}')}" if root else ""
        raise BenchError(f"{error}{also}") from None


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
    chosen = mirror.address() or os.environ.get("HF_ENDPOINT") or ""
    return chosen.rstrip("/") or None


def kept(repo: str) -> Path:
    """Where this user's copies of a repository's files lie: <commit>/<path>."""
    return cache.folder() / "hub" / repo.replace("/", "--")


def _ask(repo: str, revision: str) -> Listing:
    info = client.dataset_info(repo, revision, endpoint())
    files = _described(repo, revision, info)
    if not _COMMIT.fullmatch(str(info.sha)):  # it becomes the name of a file
        raise BenchError(f"{repo} at {revision}: the server names no commit, but {info.sha!r:.80}")
    if _COMMIT.fullmatch(revision) and info.sha != revision:
        raise BenchError(f"{repo}: asked for commit {revision}, the server answers with {info.sha}")
    return Listing(info.sha, files)


def _described(repo: str, revision: str, info: "DatasetInfo") -> dict[str, Known]:
    try:
        return _FILES.validate_python(
            {
                entry.rfilename: Known(entry.size, entry.lfs.sha256, None)
                if entry.lfs
                else Known(entry.size, None, entry.blob_id)
                for entry in info.siblings or []
            }
        )
    except (ValidationError, TypeError) as error:
        raise BenchError(
            f"{repo} at {revision}: the server's list is none of files: {error}"
        ) from None


def answer(repo: str, found: Listing) -> bytes:
    """The listing as the Hub's own interface gives it, for a mirror that is to answer like it."""
    siblings: list[dict[str, object]] = []
    for name, known in sorted(found.files.items()):
        entry: dict[str, object] = {"rfilename": name, "size": known.size, "blobId": known.blob}
        if known.sha256:
            large = {"sha256": known.sha256, "size": known.size, "pointerSize": None}
            entry = {**entry, "lfs": large}
        siblings.append(entry)
    text = json.dumps({"id": repo, "sha": found.commit, "siblings": siblings}, indent=1)
    return f"{text}\n".encode()


def place(root: Path, repo: str, revision: str) -> Path:
    """The folder of a mirror with a repository's files at a revision."""
    return root / "datasets" / repo / "resolve" / revision


def answer_place(root: Path, repo: str, revision: str) -> Path:
    """The file of a mirror with the Hub's answer about a revision."""
    return root / "api" / "datasets" / repo / "revision" / revision


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
        return Listing(commit, _FILES.validate_json(path.read_bytes()))
    except ValidationError:  # damaged: ask again
        return None


def _of_mirror(root: Path, repo: str, revision: str) -> Listing | None:
    """A folder laid out like the Hub's addresses, or like the Hub client's own cache."""
    if found := _of_answer(root, repo, revision):
        return found
    for name in (revision, quote(revision, safe="")):
        if (at := place(root, repo, name)).is_dir():
            return _of_folder(at, revision if _COMMIT.fullmatch(revision) else None)
    return _of_cache(root, repo, revision)


def _of_answer(root: Path, repo: str, revision: str) -> Listing | None:
    """With the Hub's answer beside the files: all names and digests as if it had been asked."""
    from huggingface_hub import DatasetInfo

    path = answer_place(root, repo, revision)
    if not path.is_file():
        return None
    try:
        info = DatasetInfo(**json.loads(path.read_text(encoding="utf-8")))
        files = _described(repo, revision, info)
    except (ValueError, TypeError, KeyError) as error:
        raise BenchError(
            f"{path} is no answer of the Hub ({error}); fill the mirror anew"
        ) from None
    return Listing(info.sha, files, place(root, repo, str(info.sha)))


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
