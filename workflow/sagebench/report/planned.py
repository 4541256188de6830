"""The history that a run of the present plan leaves, before its records are written.

The records that `sagebench trace` reads are collected when a whole run has ended; the report is
made within the run. So its traces come from the plan, which is what the rules execute, and from
the bytes that are there. A test holds the two against each other.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from sagebench import figures, layout, tables
from sagebench.audit.history import History, Job
from sagebench.embeddings import snapshots
from sagebench.errors import BenchError
from sagebench.jobs import Jobs
from sagebench.plan import DATA, RESULTS, Plan
from sagebench.provenance import file_sha256
from sagebench.tables import metrics


def history(plan: Plan) -> History:
    """Jobs by output path, as `History.of` gives them after the run.

    Fetched files have no digest here: the catalogue pins their archives. BenchError if another
    file is missing.
    """
    jobs = {path: job for job in _jobs(plan) for path in job.outputs}
    return History(Path(), dict(sorted(jobs.items())), {})


def digest(path: str, known: dict[str, str]) -> str:
    """sha256 of a file, read once; BenchError if it is not there."""
    if path not in known:
        try:
            known[path] = file_sha256(path)
        except OSError as error:
            raise BenchError(f"{path} cannot be read ({error.strerror}); run again") from None
    return known[path]


def inputs(plan: Plan) -> list[Path]:
    """Every file that the report reads: all that was made after fetching, and the cards."""
    fetched = {"fetch", "snapshot"}
    made = [Path(path) for job in _jobs(plan) for path in job.outputs if job.name not in fetched]
    skipped = {".tex", ".png"}
    return [path for path in made if path.suffix not in skipped and path.name != "metrics.json"]


def _jobs(plan: Plan) -> Iterator[Job]:
    jobs = Jobs(plan)
    for source in plan.sources():
        yield _job("fetch", f"fetch_{source}", [], plan.raw_files(source), jobs.source_spec(source))
    for model in plan.snapshots:
        made = [snapshots.record_path(DATA / "raw", model)]
        yield _job("snapshot", f"snapshot_{model}", [], made, jobs.snapshot_spec(model))
    for corpus in plan.corpora():
        made = [*plan.corpus_files(corpus), layout.card(DATA, plan.role(corpus), corpus)]
        spec = json.dumps(json.loads(jobs.corpus_spec(corpus)) | json.loads(jobs.draw_spec(corpus)))
        yield _job("corpus", f"corpus_{corpus}", plan.corpus_inputs(corpus), made, spec)
    for task in plan.tasks.values():
        for corpus in task.corpora:
            yield from _task_jobs(plan, jobs, task.name, corpus)
        for model in task.models:
            made = [layout.embeddings(DATA, task.name, model)]
            spec = jobs.embed_spec(task.name, model)
            yield _job("embed", "embed", plan.embed_inputs(task.name, model), made, spec)
    for name in tables.TABLES:
        read = tables.inputs(name, plan.params, DATA)
        made = tables.outputs(name, RESULTS / "tables")
        yield _job("table", "table", read, made, jobs.params_spec())
    for name in figures.FIGURES:
        read = figures.inputs(name, RESULTS / "tables")
        yield _job("figure", "figure", read, figures.outputs(name, RESULTS / "figures"))
    yield _job("card", "data_card", plan.cards(), [RESULTS / "corpora.md"])
    read = [RESULTS / "tables" / f"{name}.csv" for name in metrics.TABLES]
    yield _job("metrics", "metrics", read, [RESULTS / "metrics.json"])


def _task_jobs(plan: Plan, jobs: Jobs, task: str, corpus: str) -> Iterator[Job]:
    """Everything between a corpus and its scores, but the embeddings."""
    samples, texts = plan.sample_files(task, corpus), plan.task_inputs(task, corpus)
    yield _job(
        "sample", f"sample_{task}_{corpus}", plan.corpus_files(corpus), samples,
        jobs.sample_spec(task, corpus),
    )  # fmt: skip
    for name in plan.tasks[task].perturbations:
        read = [samples[0], *plan.needs("perturbation", name)]
        made = [layout.perturbed(DATA, task, corpus, name)]
        yield _job("perturb", "perturb", read, made, jobs.perturb_spec(task, name))
    for system in plan.tasks[task].systems:
        read = [*texts, *plan.system_inputs(task, system)]
        made = [layout.similarity(DATA, task, corpus, system)]
        spec = jobs.similarity_spec(task, corpus, system)
        yield _job("similarity", "similarity", read, made, spec)
    made = [layout.scores(DATA, task, corpus, part) for part in layout.SCORE_PARTS]
    read = [*texts, *plan.similarity_files(task, corpus)]
    yield _job("score", "score", read, made, jobs.score_spec(task, corpus))


def _job(name: str, rule: str, read: list[Path], made: list[Path], spec: str = "{}") -> Job:
    paths = [path.as_posix() for path in made]
    return Job(
        rule=rule,
        command=f"python -m sagebench {name} {paths[0]}",
        inputs=tuple(path.as_posix() for path in read),
        outputs=tuple(sorted(paths)),
        spec=json.loads(spec),
        code="",
        read={},
    )
