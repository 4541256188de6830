"""Models of the Hub: fetched in the acquire phase at one commit, read offline ever after.

The files stay in the Hub's own per-user cache, which every tool shares and where an interrupted
download goes on. What enters the workflow is a record of them: the commit that was meant, and
each file's size and sha256.
"""

import json
import os
from pathlib import Path
from typing import Any

from sagebench import provenance
from sagebench.corpora.files import write_bytes
from sagebench.errors import BenchError

FOLDER = "hub"  # below data/raw

# Other frameworks' copies of the same weights, which a repository often holds as well.
_OTHERS = ("*.h5", "*.msgpack", "*.ot", "*.tflite", "*.gguf")
_GRAPHS = {"onnx": ("onnx/*", "*.onnx"), "openvino": ("openvino/*",)}


def record_path(raw: Path, name: str) -> Path:
    """Where the record of the model called `name` lies: data/raw/hub/<name>.json."""
    return raw / FOLDER / f"{name}.json"


def is_hub_id(path: str) -> bool:
    """Whether a model's path is an id on the Hub rather than a folder."""
    return not path.startswith((".", "/", "~")) and path.count("/") <= 1 and not Path(path).is_dir()


def fetch(model: dict[str, Any], out: Path) -> None:
    """Bring the model's files into the Hub's cache and write their record.

    `model`: name, repo, revision (a branch, tag or commit; None: the default branch) and backend.
    BenchError if the Hub cannot be reached, or has no such model or revision.
    """
    from huggingface_hub import snapshot_download

    repo, revision = model["repo"], model.get("revision")
    try:
        folder = Path(
            snapshot_download(repo, revision=revision, ignore_patterns=_ignored(model["backend"]))
        )
    except (OSError, ValueError) as error:
        raise _unreachable(model["name"], repo, revision, error) from error
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    record = {
        "repo": repo,
        "revision": folder.name,  # snapshots are kept by commit
        "files": {
            path.relative_to(folder).as_posix(): {
                "size": path.stat().st_size,
                "sha256": provenance.file_sha256(path),
            }
            for path in files
        },
    }
    write_bytes(out, (json.dumps(record, indent=1, sort_keys=True) + "\n").encode())


def revision(raw: Path, name: str) -> str | None:
    """The commit at which a model was fetched; None if it was not."""
    path = record_path(raw, name)
    if not path.exists():
        return None
    return str(json.loads(path.read_text(encoding="utf-8"))["revision"])


def locate(name: str, path: str, revision: str | None, backend: str = "torch") -> Path:
    """A model's folder on this machine: the user's own, or the Hub's snapshot, without network."""
    if not is_hub_id(path):
        folder = Path(path).expanduser()
        if not folder.is_dir():
            raise BenchError(f"model {name!r}: there is no folder {path!r}")
        return folder
    from huggingface_hub import snapshot_download

    try:
        found = snapshot_download(
            path, revision=revision, ignore_patterns=_ignored(backend), local_files_only=True
        )
    except (OSError, ValueError) as error:
        raise _unreachable(name, path, revision, error) from error
    return Path(found)


def _ignored(backend: str) -> list[str]:
    wanted = _GRAPHS.get(backend, ())
    graphs = [pattern for patterns in _GRAPHS.values() for pattern in patterns]
    return [*_OTHERS, *(pattern for pattern in graphs if pattern not in wanted)]


def _unreachable(name: str, repo: str, revision: str | None, error: Exception) -> BenchError:
    at = f" at revision {revision}" if revision else ""
    place = os.environ.get("HF_ENDPOINT", "the Hub")
    return BenchError(
        f"model {name!r}: {repo!r}{at} is neither a folder, nor in the Hub's cache on this "
        f"machine, nor could it be fetched from {place} ({type(error).__name__}). Check the "
        "spelling (a private or missing model answers 401 alike) and the network; models are "
        "fetched by the workflow's rule `snapshot`, which sets no HF_HUB_OFFLINE"
    )
