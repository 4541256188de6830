"""What an evaluation is made from, built once per user: corpora, samples, perturbed texts."""

import hashlib
import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

from sagebench import frames, layout
from sagebench.corpora import cache
from sagebench.corpora.build import build
from sagebench.corpora.fetch import fetch
from sagebench.corpora.sample import sample
from sagebench.errors import BenchError
from sagebench.jobs import Jobs
from sagebench.perturbations.apply import perturb
from sagebench.plan import Plan
from sagebench.tasks.base import Inputs


def folder() -> Path:
    """Where it lies: beside the archives in the per-user cache (SAGEBENCH_CACHE)."""
    return cache.folder() / "evaluation"


class Workspace:
    """The files of a plan, each below a folder named by a digest of all that it depends on.

    So nothing here is ever stale, runs with other parameters share what they have in common, and
    the whole folder may be deleted at any time. Processes that build wait for each other.
    """

    def __init__(self, plan: Plan) -> None:
        """BenchError if the folder cannot be made."""
        self.plan, self.jobs = plan, Jobs(plan)
        sources = [self.jobs.source_spec(name) for name in sorted(plan.catalogue.sources)]
        self._pins = _digest(*sources, self.jobs.code("fetch"))
        self.raw = folder() / f"raw-{self._pins}"
        try:
            self.raw.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BenchError(
                f"the folder {self.raw} cannot be made ({error}); name another in "
                f"{cache.FOLDER_VARIABLE}"
            ) from error

    def fetch(self, files: list[Path]) -> None:
        """Fetch the sources of `files` (paths of the plan, below data/raw) that are not there."""
        sources = {path.relative_to("data/raw").parts[0] for path in files}
        for source in sorted(sources):
            wanted = [self.raw / source / name for name in self.plan.catalogue.source(source).files]
            if not _all_there(wanted):
                with self._lock():
                    if not _all_there(wanted):
                        fetch(source, self.raw / source)

    def inputs(self, task: str, corpus: str) -> Inputs:
        """What a task reads for one corpus, built if it is not there yet."""
        data = self.data(task, corpus)
        role, names = self.plan.role(corpus), list(self.plan.tasks[task].perturbations)
        wanted = [data.parent / path for path in self.plan.task_inputs(task, corpus)]
        if not _all_there(wanted):
            with self._lock():
                self._build(task, corpus, data)
        return cast("Inputs", layout.read_inputs(data, task, corpus, role, names))

    def similarity(self, task: str, corpus: str, system: str) -> Path:
        """Where the similarities of a packaged metric are kept."""
        spec = self.jobs.similarity_spec(task, corpus, system)
        key = _digest(spec, self.jobs.similarity_code(task, system))
        return layout.similarity(self.data(task, corpus), task, corpus, f"{system}-{key}")

    def data(self, task: str, corpus: str) -> Path:
        """The data folder that holds a task's inputs on one corpus."""
        jobs, names = self.jobs, self.plan.tasks[task].perturbations
        facts = [self._corpus_key(corpus), jobs.sample_spec(task, corpus), jobs.code("sample")]
        for name in names:
            facts += [jobs.perturb_spec(task, name), jobs.code("perturb", ("perturbation", name))]
        return folder() / f"{task}-{corpus}-{_digest(*facts)}" / "data"

    def _build(self, task: str, corpus: str, data: Path) -> None:
        path = layout.sample(data, task, corpus)
        role, jobs = self.plan.role(corpus), self.jobs
        if not _all_there([data.parent / p for p in self.plan.sample_files(task, corpus)]):
            parts = layout.read_corpus(self._corpus(corpus), role)
            spec = json.loads(jobs.sample_spec(task, corpus))
            layout.write_corpus(sample(frames=parts, **spec), path, role)
        documents = None
        for name in self.plan.tasks[task].perturbations:
            out = layout.perturbed(data, task, corpus, name)
            if not out.is_file():
                self.fetch(self.plan.needs("perturbation", name))
                if documents is None:
                    documents = frames.read(path, frames.DOCUMENTS)
                spec = json.loads(jobs.perturb_spec(task, name))
                frames.write(perturb(documents, raw=self.raw, **spec), out, frames.PERTURBED)

    def _corpus(self, corpus: str) -> Path:
        data = folder() / f"corpus-{self._corpus_key(corpus)}" / "data"
        path = layout.corpus(data, self.plan.role(corpus), corpus)
        if not _all_there([data.parent / p for p in self.plan.corpus_files(corpus)]):
            self.fetch([Path("data/raw") / p for p in self.plan.catalogue.corpus(corpus).inputs])
            build(corpus, self.raw, path)
        return path

    def _corpus_key(self, corpus: str) -> str:
        parser = self.plan.catalogue.corpus(corpus).parser
        code = self.jobs.code("corpus", ("parser", parser))
        return _digest(self._pins, self.jobs.corpus_spec(corpus), code)

    def _lock(self) -> AbstractContextManager[Any]:
        from filelock import FileLock

        # One object per path and thread: fetching while building takes it again.
        return cast("AbstractContextManager[Any]", FileLock(folder() / ".lock", is_singleton=True))


def _all_there(paths: list[Path]) -> bool:
    """Files are renamed into place when they are whole."""
    return all(path.is_file() for path in paths)


def _digest(*facts: str) -> str:
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:16]
