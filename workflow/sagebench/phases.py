"""The workflow's phases as DVC sees them: for each stage, the rules it may run and its files."""

from dataclasses import dataclass
from pathlib import Path

from sagebench import layout
from sagebench.embeddings import snapshots
from sagebench.errors import BenchError
from sagebench.plan import DATA, RESULTS, Plan, TaskPlan
from sagebench.results import results_files

# A phase and the commands that its rules call.
PHASES = {
    "fetch": ("fetch", "snapshot"),
    "corpus": ("corpus",),
    "perturb": ("sample", "perturb"),
    "embed": ("embed",),
    "similarity": ("similarity",),
    "score": ("score",),
    "results": ("table", "figure", "card", "metrics", "report"),
}
ROLES = ("documents", "preferences", "ratings", "labelled", "retrieval")


@dataclass(frozen=True)
class Stage:
    """One stage of dvc.yaml: a phase, of one task or of the corpora of one role.

    `rules` are those that `snakemake --allowed-rules` lets run in it, `files` everything that
    they write under the present parameters, `outs` the folders and lone files that hold these.
    """

    phase: str
    part: str | None
    rules: list[str]
    files: list[Path]
    outs: list[Path]

    @property
    def name(self) -> str:
        """The name in dvc.yaml."""
        return f"{self.phase}-{self.part}" if self.part else self.phase


def stages(plan: Plan) -> list[Stage]:
    """Every stage, in the order in which data walks through.

    Which stages there are does not depend on the parameters, only what lies in their folders.
    """
    found = [_fetch(plan), *(_corpus(plan, role) for role in ROLES)]
    for task in plan.tasks.values():
        found.append(_perturb(plan, task))
        if embeds(task):
            found.append(_embed(task))
        found += [_similarity(plan, task), _score(task)]
    return [*found, _results()]


def stage(plan: Plan, phase: str, part: str | None = None) -> Stage:
    """One stage; a BenchError lists what there is."""
    found = {(stage.phase, stage.part): stage for stage in stages(plan)}
    if (phase, part) not in found:
        names = ", ".join(" ".join(filter(None, key)) for key in found)
        raise BenchError(f"no phase {' '.join(filter(None, (phase, part)))!r}; there are {names}")
    return found[phase, part]


def embeds(task: TaskPlan) -> bool:
    """Whether models take part in a task: in all but the agreement check."""
    return task.name == task.kind


def _fetch(plan: Plan) -> Stage:
    sources = plan.sources()
    files = [path for source in sources for path in plan.raw_files(source)]
    files += [snapshots.record_path(DATA / "raw", model) for model in plan.snapshots]
    rules = [f"fetch_{source}" for source in sources] + [f"snapshot_{m}" for m in plan.snapshots]
    return Stage("fetch", None, rules, files, [DATA / "raw"])


def _corpus(plan: Plan, role: str) -> Stage:
    corpora = plan.corpora(role)
    files = [path for corpus in corpora for path in plan.corpus_files(corpus)]
    files += [layout.card(DATA, role, corpus) for corpus in corpora]
    rules = [f"corpus_{corpus}" for corpus in corpora]
    return Stage("corpus", role, rules, files, [DATA / "corpora" / role])


def _perturb(plan: Plan, task: TaskPlan) -> Stage:
    rules = [f"sample_{task.name}_{corpus}" for corpus in task.corpora] + ["perturb"]
    files = [path for corpus in task.corpora for path in plan.task_inputs(task.name, corpus)]
    kinds = ("samples", "perturbed") if task.perturbations else ("samples",)
    return Stage("perturb", task.name, rules, files, [DATA / kind / task.name for kind in kinds])


def _embed(task: TaskPlan) -> Stage:
    files = [layout.embeddings(DATA, task.name, model) for model in task.models]
    return Stage("embed", task.name, ["embed"], files, [DATA / "embeddings" / task.name])


def _similarity(plan: Plan, task: TaskPlan) -> Stage:
    files = [path for corpus in task.corpora for path in plan.similarity_files(task.name, corpus)]
    return Stage("similarity", task.name, ["similarity"], files, [DATA / "similarity" / task.name])


def _score(task: TaskPlan) -> Stage:
    files = [
        layout.scores(DATA, task.name, corpus, part)
        for corpus in task.corpora
        for part in layout.SCORE_PARTS
    ]
    return Stage("score", task.name, ["score"], files, [DATA / "scores" / task.name])


def _results() -> Stage:
    rules = ["table", "figure", "data_card", "metrics", "report"]
    names = ("tables", "figures", "corpora.md", "metrics.json", "report.html")
    outs = [RESULTS / name for name in names]
    return Stage("results", None, rules, results_files(RESULTS), outs)
