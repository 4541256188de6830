"""The tables of a result folder or of a Git revision."""

import csv
import io
import subprocess
from pathlib import Path, PurePosixPath

from sagebench.errors import BenchError

Rows = list[dict[str, str]]
_TABLES = "results/tables"


def read(given: str, root: Path) -> dict[str, Rows]:
    """Table -> its rows as the CSV file has them, sorted by table.

    A folder is taken as such (a project, its `results`, or the `tables` themselves); anything
    else is a revision of the project at `root`.
    """
    folder = Path(given)
    texts = _of_folder(folder) if given and folder.is_dir() else _of_revision(given, root)
    if not texts:
        raise BenchError(f"{given!r} has no tables: looked for {_TABLES}/*.csv")
    return {name: _rows(given, name, texts[name]) for name in sorted(texts)}


def _of_folder(folder: Path) -> dict[str, bytes]:
    for place in (folder / _TABLES, folder / "tables", folder):
        if found := sorted(place.glob("*.csv")):
            return {path.stem: path.read_bytes() for path in found}
    return {}


def _of_revision(revision: str, root: Path) -> dict[str, bytes]:
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options",
                  f"{revision}^{{commit}}")  # fmt: skip
    if commit is None:
        raise BenchError(
            f"{revision!r} is neither a folder nor a Git revision of {root.resolve()}: give a "
            "result folder, a branch, a tag or a commit"
        )
    name = commit.decode().strip()
    listed = _git(root, "ls-tree", "-r", "--name-only", "-z", name, f"./{_TABLES}/") or b""
    paths = [path for path in listed.decode().split("\0") if path.endswith(".csv")]
    return {PurePosixPath(path).stem: _git(root, "show", f"{name}:./{path}") or b""
            for path in paths}  # fmt: skip


def _git(root: Path, *arguments: str) -> bytes | None:
    """What Git prints; None if it fails or is not there."""
    try:
        done = subprocess.run(  # noqa: S603  (no shell)
            ["git", *arguments],  # noqa: S607  (whichever Git the user has)
            cwd=root,
            capture_output=True,
            check=False,
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def _rows(given: str, name: str, content: bytes) -> Rows:
    try:
        text = content.decode("utf-8")
        found = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BenchError(f"table {name} of {given!r} is no CSV file: {error}") from None
    if any(None in row or None in row.values() for row in found):
        raise BenchError(f"table {name} of {given!r} has rows of other length than its header")
    return found
