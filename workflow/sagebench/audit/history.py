"""What was done: every artifact behind the results, and the job that made it, from the records."""

import ast
import json
import re
import shlex
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Self

from sagebench.errors import BenchError
from sagebench.lineage import records
from sagebench.results import results_files

_DIGEST = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Job:
    """One run of a command; paths are relative to the project, in the order of the record."""

    rule: str
    command: str  # the shell's line
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    spec: dict[str, Any]  # its parameters, as the command was given them
    code: str  # digest of the modules behind it (of a table also of the catalogue)
    read: dict[str, str]  # sha256 of its inputs when it ran
    log: str = ""

    @cached_property
    def arguments(self) -> list[str]:
        """The command line, split: ["python", "-m", "sagebench", "score", …]."""
        return shlex.split(self.command)

    @property
    def name(self) -> str:
        """The command: fetch, corpus, sample, perturb, embed, similarity, score, table, …"""
        return self.arguments[3] if len(self.arguments) > 3 else self.rule

    @property
    def place(self) -> str:
        """Where it works: a source, "robustness/aclsum_papers/numerization", "summary"."""
        path = PurePosixPath(self.outputs[0])
        if self.name == "fetch":
            return path.parts[2]
        stem = path.name.partition(".")[0]
        return "/".join([*path.parts[2:-1], stem])

    @property
    def task(self) -> str:
        """The task whose data it makes, or the role of a corpus; "" for sources and results."""
        parts = PurePosixPath(self.outputs[0]).parts
        return parts[2] if parts[0] == "data" and parts[1] != "raw" else ""

    @property
    def label(self) -> str:
        """For people: "score robustness/aclsum_papers"."""
        return self.name if self.place == self.name else f"{self.name} {self.place}"


@dataclass(frozen=True)
class History:
    """The jobs behind the results of the project at `root`.

    `sha256` holds each artifact's recorded digest; `lacking` are files that the results need and
    that no record describes.
    """

    root: Path
    jobs: dict[str, Job]  # by output path
    sha256: dict[str, str]
    lacking: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, root: Path) -> Self:
        """Read the records and follow them back from the results; BenchError if there are none."""
        found = records.read_all(root / records.FOLDER)
        if not found:
            raise BenchError(
                f"{root / records.FOLDER} holds no records: they are written at the end of a whole "
                "run (`make results`), or come with `dvc pull`"
            )
        made = _jobs(found)
        jobs, lacking = _behind(made, [path.as_posix() for path in results_files(Path("results"))])
        sha256 = {path: found[path].sha256 for path in sorted(jobs)}
        return cls(root, dict(sorted(jobs.items())), sha256, lacking)

    @cached_property
    def all_jobs(self) -> list[Job]:
        """Each job once, sources first, sorted by what it is and where it works."""
        return sorted({job.command: job for job in self.jobs.values()}.values(), key=_order)

    def job(self, path: str) -> Job:
        """The job that made `path`; BenchError if no record says."""
        if path not in self.jobs:
            raise BenchError(
                f"no record says how {path} was made: run `make results`, or `dvc pull` it "
                "together with data/provenance"
            )
        return self.jobs[path]


ORDER = (
    "fetch", "snapshot", "corpus", "sample", "perturb", "embed", "similarity", "score",
    "table", "figure", "card", "metrics", "report",
)  # fmt: skip


def _order(job: Job) -> tuple[int, str]:
    return ORDER.index(job.name) if job.name in ORDER else len(ORDER), job.place


def _behind(made: dict[str, Job], wanted: list[str]) -> tuple[dict[str, Job], list[str]]:
    """The jobs that `wanted` rest on by output path, and the paths that nothing describes."""
    todo, seen = deque(wanted), set(wanted)
    jobs: dict[str, Job] = {}
    lacking = []
    while todo:
        path = todo.popleft()
        job = made.get(path)
        if job is None:
            lacking.append(path)
            continue
        jobs[path] = job
        for other in (*job.outputs, *job.inputs):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return jobs, sorted(lacking)


def _jobs(found: dict[str, records.Recorded]) -> dict[str, Job]:
    """Output path -> job; outputs of one command line are one job's."""
    outputs: dict[str, list[str]] = {}
    for path, recorded in sorted(found.items()):
        outputs.setdefault(recorded.fields["shellcmd"], []).append(path)
    made: dict[str, Job] = {}
    for command, paths in outputs.items():
        record = found[paths[0]].fields
        spec, code = _parameters(record["params"])
        job = Job(
            rule=record["rule"],
            command=command,
            inputs=tuple(record["input"]),
            outputs=tuple(paths),
            spec=spec,
            code=code,
            read={
                source: digest.removeprefix("sha256:")
                for source, digest in (record["input_checksums"] or {}).items()
            },
            log=next(iter(record["log"] or []), ""),
        )
        made |= dict.fromkeys(paths, job)
    return made


def _parameters(values: list[str]) -> tuple[dict[str, Any], str]:
    """(parameters, code digests) out of what Snakemake keeps: a sorted list of literals."""
    spec: dict[str, Any] = {}
    digests = []
    for value in map(ast.literal_eval, values):
        if _DIGEST.fullmatch(value):
            digests.append(value)
        elif value.startswith("{"):
            spec |= json.loads(value)  # a corpus has one of its own, and which part of it is kept
    return spec, " ".join(digests)
