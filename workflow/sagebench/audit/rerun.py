"""Doing jobs again, each in an empty folder with the same inputs, to compare the bytes."""

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import sagebench
from sagebench import rng
from sagebench.audit.checksums import checksum
from sagebench.audit.findings import Finding
from sagebench.audit.gap import gap
from sagebench.audit.history import History, Job
from sagebench.corpora.archive import is_safe_path
from sagebench.embeddings.store import FOLDER_VARIABLE

# Sources are not fetched again: their files are compared with the catalogue.
_REPEATABLE = (
    "corpus", "sample", "perturb", "embed", "similarity", "score",
    "table", "figure", "card", "metrics", "report",
)  # fmt: skip


def sample(history: History, count: int, seed: int) -> list[Job]:
    """`count` jobs, drawn without replacement: every command once before any comes twice.

    The same seed and history give the same jobs; a larger sample begins with the smaller one.
    """
    groups: dict[str, list[Job]] = defaultdict(list)
    for job in history.all_jobs:
        if job.name in _REPEATABLE and not _paid(job):
            groups[job.name].append(job)
    for name, jobs in groups.items():
        order = rng.hash_order([job.command for job in jobs], seed, "verify", name)
        groups[name] = [jobs[position] for position in order]
    names = sorted(groups)
    names = [names[position] for position in rng.hash_order(names, seed, "verify")]
    longest = max(map(len, groups.values()), default=0)
    turns = [groups[name][turn] for turn in range(longest) for name in names
             if turn < len(groups[name])]  # fmt: skip
    return turns[:count]


def _paid(job: Job) -> bool:
    """Whether running the job anew would ask an API, and perhaps pay, for every vector again."""
    return job.name == "embed" and (job.spec.get("entry") or {}).get("backend") == "api"


def rerun(root: Path, job: Job) -> Iterator[Finding]:
    """What differs when the job's recorded command is run again by the code that is here.

    Only the recorded inputs are there, so a job that reads anything else fails.
    """
    if not _is_ours(job):
        yield Finding("not rerun", job.outputs[0], "its record holds another program's command")
        return
    with TemporaryDirectory(prefix="sagebench-verify-") as folder:
        scratch = Path(folder)
        for path in _read(root, job):
            there = scratch / path
            there.parent.mkdir(parents=True, exist_ok=True)
            there.symlink_to((root / path).resolve())
        done = subprocess.run(  # noqa: S603  (this interpreter, no shell)
            [sys.executable, *job.arguments[1:]], cwd=scratch, env=_environment(), check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        if done.returncode:
            last = (done.stdout.strip().splitlines() or ["no message"])[-1]
            yield Finding("not rerun", job.outputs[0], f"{job.label} failed: {last}")
            return
        yield from _compare(root, scratch, job)


def _compare(root: Path, scratch: Path, job: Job) -> Iterator[Finding]:
    for path in job.outputs:
        ours, theirs = scratch / path, root / path
        if not ours.is_file():
            yield Finding("rerun differs", path, f"{job.label} does not write it any more")
        elif not theirs.is_file() or ours.read_bytes() != theirs.read_bytes():
            apart = gap(ours, theirs)
            detail = f"{job.label} now gives sha256 {checksum(ours).sha256}"
            yield Finding("rerun differs", path, f"{detail}; {apart}" if apart else detail)


def _read(root: Path, job: Job) -> list[str]:
    """Its recorded inputs, and the folder of a model of the user's own below the project."""
    model = job.spec.get("model")
    own = PurePosixPath(model["path"]).as_posix() if isinstance(model, dict) else ""
    return [*job.inputs, *([own] if is_safe_path(own) and (root / own).exists() else [])]


def _is_ours(job: Job) -> bool:
    """A record comes with the data: only this project's commands are run, on paths inside it."""
    words = [word for word in job.arguments[4:] if not word.startswith(("{", "--"))]
    paths = [*words, *job.inputs, *job.outputs]
    ours = job.arguments[:3] == ["python", "-m", "sagebench"] and job.name in _REPEATABLE
    return ours and all(map(is_safe_path, paths))


def _environment() -> dict[str, str]:
    """This code, no network, and no vectors that were kept from the first time."""
    kept = {name: value for name, value in os.environ.items() if name != FOLDER_VARIABLE}
    code = str(Path(sagebench.__file__).parents[1])
    return kept | {"PYTHONPATH": code, "PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1"}
