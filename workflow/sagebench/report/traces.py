"""From a number back to the archives: the chain of `sagebench trace`, one block per corpus."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from sagebench.audit.chain import Step, chain, key_parameters
from sagebench.audit.chain_text import archive
from sagebench.audit.history import History, Job
from sagebench.plan import Plan
from sagebench.report import planned

# Commands of a chain in reading order, as their rows are called; perturbed texts are listed once
# per corpus, not under every system.
_TITLES = {
    "score": "score",
    "similarity": "similarity",
    "embed": "vectors",
    "sample": "sample",
    "corpus": "corpus",
}


@dataclass(frozen=True)
class File:
    """A file and its sha256; `what` says how it was made."""

    step: str
    what: str
    path: str
    sha256: str


@dataclass(frozen=True)
class Archive:
    """A pinned archive, a repository of the Hub or a folder, and what it is read for."""

    source: str
    package: str
    version: str
    archive: str
    sha256: str
    licence: str
    reader: str


@dataclass(frozen=True)
class Block:
    """The part of a chain that lies on one corpus; `texts` is the anchor of its perturbed files."""

    corpus: str
    files: list[File]
    perturbed: int
    archives: list[Archive]
    texts: str


@dataclass(frozen=True)
class Trace:
    """The chain behind one system's score of one task."""

    system: str
    task: str
    files: list[File]
    blocks: list[Block]

    @property
    def anchor(self) -> str:
        """The place on the page."""
        return anchor(self.system, self.task)


def anchor(system: str, task: str) -> str:
    """The trace's place on the page: "trace-jaccard-clustering"."""
    return f"trace-{system}-{task}"


@dataclass
class Traces:
    """Every trace of a plan; a file's bytes are read once."""

    plan: Plan
    history: History
    known: dict[str, str] = field(default_factory=dict)

    def of(self, table: str, system: str, task: str) -> Trace:
        """The chain from a table's cell to the archives, without what plays no part in it."""
        found = chain(self.history, table, system, task)
        top = [self._file("table", found.step.job, found.table)]
        blocks = [self._block(task, step) for step in found.step.parents]
        return Trace(system, task, top, blocks)

    def texts(self) -> Iterator[tuple[str, str, str, list[File]]]:
        """(anchor, task, corpus, perturbed files) of every corpus of a task that perturbs."""
        for task in self.plan.tasks.values():
            for corpus in task.corpora if task.perturbations else []:
                paths = [p.as_posix() for p in self.plan.perturbed_files(task.name, corpus)]
                files = [self._file("perturb", self.history.job(path), path) for path in paths]
                yield f"texts-{task.name}-{corpus}", task.name, corpus, files

    def _block(self, task: str, top: Step) -> Block:
        steps = _once(top)
        corpus = PurePosixPath(top.job.place).name
        files = [
            self._file(title, step.job, path)
            for name, title in _TITLES.items()
            for step in (each for each in steps if each.job.name == name)
            for path in step.files
        ]
        perturbed = sum(step.job.name == "perturb" for step in steps)
        archives = [_archive(step.job, steps) for step in steps if step.job.name == "fetch"]
        archives.sort(key=lambda each: (not each.reader.startswith("corpus"), each.source))
        return Block(corpus, files, perturbed, archives, f"texts-{task}-{corpus}")

    def _file(self, title: str, job: Job, path: str) -> File:
        # Lists (of perturbations, sizes) are among the parameters at the end of the page.
        scalars = {k: v for k, v in key_parameters(job).items() if not isinstance(v, list)}
        what = ", ".join(f"{key} {value}" for key, value in scalars.items())
        return File(title, what, path, planned.digest(path, self.known))


def _once(top: Step) -> list[Step]:
    """The steps of a chain, each job once."""
    found: dict[str, Step] = {}
    todo = [top]
    while todo:
        step = todo.pop(0)
        if step.job.command not in found:
            found[step.job.command] = step
            todo += step.parents
    return list(found.values())


def _archive(job: Job, steps: Iterable[Step]) -> Archive:
    stated = archive(job)
    readers = [step.job for step in steps if any(each.job is job for each in step.parents)]
    names = dict.fromkeys(
        {"corpus": "corpus", "embed": "model", "perturb": "perturbations"}.get(each.name, "metric")
        for each in sorted(readers, key=lambda each: each.name)
    )
    known = {key: stated[key] for key in ("package", "version", "archive", "sha256", "licence")}
    return Archive(source=job.place, reader=", ".join(names), **known)
