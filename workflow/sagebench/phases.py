"""The workflow's phases as DVC sees them: for each, the rules it may run and the files it makes."""

from dataclasses import dataclass
from pathlib import Path

from sagebench import layout
from sagebench.errors import BenchError
from sagebench.plan import DATA, RESULTS, Plan
from sagebench.results import results_files

# A phase and the commands that its rules call.
PHASES = {
    "acquire": ("fetch", "corpus"),
    "perturb": ("sample", "perturb"),
    "embed": ("embed",),
    "similarity": ("similarity",),
    "score": ("score",),
    "results": ("table", "figure", "card", "metrics"),
}
WITHOUT_TASK = ("acquire", "results")


@dataclass(frozen=True)
class Phase:
    """Rule names for `snakemake --allowed-rules`, and the files to ask it for."""

    rules: list[str]
    files: list[Path]


def phase(plan: Plan, name: str, task: str | None = None) -> Phase:
    """One phase of one task; `acquire` and `results` span all tasks."""
    if name not in PHASES or (task is None) != (name in WITHOUT_TASK):
        raise BenchError(
            f"phase {name!r} with task {task!r}: {', '.join(PHASES)} take a task, "
            f"except {' and '.join(WITHOUT_TASK)}"
        )
    if task is None:
        return _acquire(plan) if name == "acquire" else _results()
    if task not in plan.tasks:
        raise BenchError(f"no task {task!r}; there are {', '.join(plan.tasks)}")
    return _of_task(plan, name, task)


def _acquire(plan: Plan) -> Phase:
    rules = [f"fetch_{source}" for source in plan.catalogue.sources]
    rules += [f"corpus_{corpus}" for corpus in plan.corpora()]
    files = [path for corpus in plan.corpora() for path in plan.corpus_files(corpus)]
    return Phase(rules, [*files, *plan.cards(), *plan.source_files()])


def _results() -> Phase:
    return Phase(["table", "figure", "data_card", "metrics"], results_files(RESULTS))


def _of_task(plan: Plan, name: str, task: str) -> Phase:
    this = plan.tasks[task]
    if name == "perturb":
        rules = [f"sample_{task}_{corpus}" for corpus in this.corpora] + ["perturb"]
        return Phase(rules, [path for c in this.corpora for path in plan.task_inputs(task, c)])
    if name == "embed":
        return Phase(["embed"], [layout.embeddings(DATA, task, model) for model in this.models])
    if name == "similarity":
        return Phase(
            ["similarity"], [p for c in this.corpora for p in plan.similarity_files(task, c)]
        )
    parts = [
        layout.scores(DATA, task, c, part) for c in this.corpora for part in layout.SCORE_PARTS
    ]
    return Phase(["score"], parts)
