"""What dvc.lock says of single files."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from sagebench.audit.checksums import Checksum
from sagebench.errors import BenchError

FILE = "dvc.lock"


@dataclass(frozen=True)
class Output:
    """An output of a stage: a file, or a folder whose md5 ends in ".dir"."""

    path: str
    stage: str
    md5: str


def outputs(root: Path) -> list[Output]:
    """Every output that dvc.lock names, in its order; none where there is no dvc.lock."""
    path = root / FILE
    if not path.is_file():
        return []
    try:
        stages = (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).get("stages", {})
        return [
            Output(out["path"], name, out["md5"])
            for name, stage in stages.items()
            for out in stage.get("outs", [])
        ]
    except (yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise BenchError(f"{path} is not readable: {error!r}; restore it with git") from None


def compare(
    found: list[Output], known: Mapping[str, Checksum]
) -> tuple[dict[str, str], list[Output]]:
    """The md5 of every file that is as in the lock, and the outputs that are not.

    The lock holds one md5 per folder, of the list of its files' md5s: when that agrees, so does
    each file's. `known` needs the digests of every file below the outputs.
    """
    agreed: dict[str, str] = {}
    differing: list[Output] = []
    for output in found:
        files = _files(output, known)
        if _md5(output, files) == output.md5:
            agreed |= files
        else:
            differing.append(output)
    return agreed, differing


def files_below(root: Path, found: list[Output]) -> list[str]:
    """The files that lie in the outputs now, sorted."""
    paths: set[Path] = set()
    for output in found:
        top = root / output.path
        paths |= {top} if top.is_file() else {path for path in top.rglob("*") if path.is_file()}
    return sorted(path.relative_to(root).as_posix() for path in paths)


def _files(output: Output, known: Mapping[str, Checksum]) -> dict[str, str]:
    prefix = f"{output.path}/"
    return {
        path: known[path].md5
        for path in sorted(known)
        if path == output.path or path.startswith(prefix)
    }


def _md5(output: Output, files: dict[str, str]) -> str:
    if not output.md5.endswith(".dir"):
        return files.get(output.path, "")
    listed = [
        {"md5": md5, "relpath": path.removeprefix(f"{output.path}/")} for path, md5 in files.items()
    ]
    listed.sort(key=lambda entry: entry["relpath"])
    text = json.dumps(listed, sort_keys=True)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() + ".dir"
