"""The chain from one number of a table back to the archives that it rests on."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from sagebench import registry
from sagebench.audit.history import ORDER, History, Job
from sagebench.errors import BenchError
from sagebench.tables.context import ALL, TASKS
from sagebench.tables.summary import OVERALL


@dataclass(frozen=True)
class Step:
    """A job of the chain, the files of it that matter here, and the jobs those came from.

    `others` counts inputs that play no part in this number, such as the other systems'
    similarities.
    """

    job: Job
    files: list[str]
    parents: list["Step"]
    others: int = 0


@dataclass(frozen=True)
class Chain:
    """A number, as the rows of the table that hold it, and how it was made."""

    table: str
    system: str
    task: str
    rows: list[dict[str, str]]
    step: Step


def chain(history: History, table: str, system: str, task: str, corpus: str | None = None) -> Chain:
    """The chain behind `system` x `task` in a table of results/tables (its CSV file).

    `task` is one of those that the table reads, or "overall". BenchError names a table, system,
    task or corpus that is not there, with the nearest names.
    """
    path = _table(history, table)
    job = history.jobs[path]
    rows = _read(history.root / path)
    systems = {row["system"] for row in rows if row.get("measure") != "expected"}
    if system not in systems:
        raise registry.unknown(f"system in {path}", system, systems)
    tasks = _tasks(job, task)
    corpora = {_corpus(file) for file in _scores(job, tasks)}
    if corpus is not None and corpus not in corpora:
        raise registry.unknown(f"corpus of {task}", corpus, corpora)
    scores = [file for file in _scores(job, tasks) if corpus in (None, _corpus(file))]
    step = Step(job, [path], _parents(history, scores, system), len(job.inputs) - len(scores))
    return Chain(path, system, task, _cell(rows, system, task, corpus), step)


def _table(history: History, given: str) -> str:
    """The recorded path of a table's CSV file, by path or by name."""
    known = {
        path: PurePosixPath(path).stem
        for path, job in history.jobs.items()
        if job.name == "table" and path.endswith(".csv")
    }
    wanted = PurePosixPath(Path(given).as_posix())
    for path, name in known.items():
        if given == name or wanted.with_suffix(".csv").as_posix().endswith(path):
            return path
    raise registry.unknown("table", wanted.stem, known.values())


def _read(path: Path) -> list[dict[str, str]]:
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, ValueError) as error:
        raise BenchError(f"{path} cannot be read ({error}); run `make results`") from None
    if not rows or "system" not in rows[0]:
        raise BenchError(f"{path} has no rows by system: there is no cell to trace in it")
    return rows


def _tasks(job: Job, task: str) -> list[str]:
    """The folders of data/scores behind a task's numbers."""
    read = {PurePosixPath(path).parts[2] for path in job.inputs if path.startswith("data/scores/")}
    if not read:
        raise BenchError(f"{job.outputs[0]} holds no scores: trace a table that has some")
    if task == OVERALL and set(TASKS) <= read:
        return list(TASKS)
    if task not in read:
        whole = {OVERALL} if set(TASKS) <= read else set()
        raise registry.unknown(f"task in {job.outputs[0]}", task, read | whole)
    return [task]


def _scores(job: Job, tasks: list[str]) -> list[str]:
    folders = tuple(f"data/scores/{task}/" for task in tasks)
    return [path for path in job.inputs if path.startswith(folders)]


def _corpus(score: str) -> str:
    return PurePosixPath(score).name.partition(".")[0]


def _cell(
    rows: list[dict[str, str]], system: str, task: str, corpus: str | None
) -> list[dict[str, str]]:
    """The rows of the number: the task's own measure, or the table's `score`."""
    measures = (task, "score")
    return [
        row
        for row in rows
        if row["system"] == system
        and row.get("measure") in measures
        and row.get("corpus") in (corpus or ALL, ALL)
    ]


def _parents(history: History, inputs: Iterable[str], system: str) -> list[Step]:
    """A step per job that made some of `inputs`."""
    files: dict[str, list[str]] = {}
    for path in inputs:
        files.setdefault(history.job(path).command, []).append(path)
    jobs = sorted((history.job(paths[0]) for paths in files.values()), key=_order)
    steps = []
    for job in jobs:
        kept = [path for path in job.inputs if _matters(job, path, system)]
        parents = _parents(history, kept, system)
        steps.append(Step(job, sorted(files[job.command]), parents, len(job.inputs) - len(kept)))
    return steps


def _matters(job: Job, path: str, system: str) -> bool:
    """Whether an input of a job can change this system's number."""
    if job.name == "score":
        return not path.startswith("data/similarity/") or PurePosixPath(path).stem == system
    if job.name == "embed":  # a vector depends on its own text, which is traced beside it
        return path.startswith("data/raw/")
    return True


def _order(job: Job) -> tuple[int, str]:
    """Texts before vectors before sources."""
    return (len(ORDER) if job.name in ("fetch", "snapshot") else ORDER.index(job.name)), job.place


# The parameters of each command that shape its result, by their place in its spec.
_SHAPING = {
    "corpus": ("parser", "options"),
    "sample": ("n", "min_gap", "seed"),
    "perturb": ("params", "needles", "seed"),
    "embed": ("model", "entry.backend", "entry.max_tokens"),
    "similarity": ("system.metric", "system.params", "settings.task"),
    "score": ("settings.task", "settings.bootstrap", "settings.seed"),
    "table": ("size", "seed"),
}


def key_parameters(job: Job) -> dict[str, Any]:
    """The parameters that shape a job's result, flat ("bootstrap.level"), in a fixed order."""
    flat = _flat(job.spec, "")
    found: dict[str, Any] = {}
    for wanted in _SHAPING.get(job.name, ()):
        for key, value in flat.items():
            if key == wanted or key.startswith(f"{wanted}."):
                found[key.removeprefix("settings.").removeprefix("task.")] = value
    return found


def _flat(value: dict[str, Any], prefix: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, entry in value.items():
        if isinstance(entry, dict):
            found |= _flat(entry, f"{prefix}{key}.")
        elif entry is not None:
            found[f"{prefix}{key}"] = entry
    return found
