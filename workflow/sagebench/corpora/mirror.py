"""The user's mirror: a folder or an address that keeps archives and the Hub's files for us.

Archives lie in `archives/` by their file name, the Hub's files as its own addresses have them, so
that a folder is also a mirror when a plain web server shows it.
"""

import os
import shlex
import shutil
from pathlib import Path

from sagebench.errors import BenchError

VARIABLE = "SAGEBENCH_MIRROR"  # `mirror` of params.yaml
ARCHIVES = "archives"


def folder() -> Path | None:
    """The mirror, if it is a folder."""
    chosen = os.environ.get(VARIABLE, "")
    return Path(chosen).expanduser() if chosen and "://" not in chosen else None


def address() -> str | None:
    """The mirror, if it is an address; without a slash at its end."""
    chosen = os.environ.get(VARIABLE, "")
    return chosen.rstrip("/") if "://" in chosen else None


def archive(root: Path, name: str) -> Path:
    """Where a mirror's folder has an archive."""
    return root / ARCHIVES / name


def copy(source: Path, target: Path) -> None:
    """A copy under a new name, then renamed. No link: neither is to be edited through the other.

    What an OSError leaves unfinished is deleted.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        shutil.copyfile(source, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def lacks(root: Path, what: str) -> BenchError:
    """The error for a file that a mirror's folder does not have."""
    return BenchError(
        f"the mirror {root} has no {what}: where there is a network, fill it with "
        f"`python -m sagebench mirror {shlex.quote(str(root))}`"
    )
