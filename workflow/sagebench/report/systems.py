"""What the report says of each system: what it is, its scores, their ranks, their traces."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sagebench.plan import Plan
from sagebench.report.rows import Row, Scale, Scores, reference
from sagebench.report.traces import Trace, Traces
from sagebench.tables.context import AGREEMENT, KINDS, TASKS

# Task -> the tables and measures that show it corpus by corpus.
_BY_CORPUS = {
    "human_preference": [("human_preference", "score")],
    "robustness": [("robustness", "score")],
    "sensitivity": [("sensitivity_insertion", "insertion"), ("sensitivity_removal", "removal")],
    "clustering": [("clustering", "score")],
    "retrieval": [("retrieval", "score")],
}


@dataclass(frozen=True)
class TaskScore:
    """A system's score of a task: `rank` among the systems that are no reference rows."""

    task: str
    title: str
    row: Row
    rank: int | None
    scale: Scale
    reference: Row | None  # the highest row that knows nothing of meaning
    corpora: list[tuple[str, Row]]
    trace: Trace


@dataclass(frozen=True)
class System:
    """A section of the page."""

    name: str
    title: str
    kind: str
    overall: Row | None
    facts: list[tuple[str, str]]
    scores: list[TaskScore]
    checks: list[Trace]  # of the comparison with the paper's own cells

    @property
    def group(self) -> str:
        """The kind in words."""
        return KINDS.get(self.kind, "")


def systems(plan: Plan, found: dict[str, Scores], traces: Traces) -> Iterator[System]:
    """Every system in row order, with what `found` (table -> its numbers) says of it."""
    summary = found["summary"]
    for name in plan.systems:
        first = next(row for row in summary.systems() if row.system == name)
        scores = [each for task in TASKS if (each := _score(plan, found, traces, name, task))]
        checks = [
            traces.of("agreement", name, task)
            for task in AGREEMENT
            if name in plan.tasks[task].systems
        ]
        overall = summary.get(name, "overall")
        facts = list(_facts(plan, name))
        yield System(name, first.title, first.kind, overall, facts, scores, checks)


def rank(row: Row, column: list[Row]) -> int | None:
    """1 + the systems with a higher value; None for a reference row or without a value."""
    if row.kind == "reference" or row.value is None:
        return None
    others = [each.value for each in column if each.kind != "reference" and each.value is not None]
    return 1 + sum(value > row.value for value in others)


def _score(
    plan: Plan, found: dict[str, Scores], traces: Traces, system: str, task: str
) -> TaskScore | None:
    row = found["summary"].get(system, task)
    if row is None:
        return None
    column = found["summary"].of(task)
    corpora = [
        (plan.catalogue.corpus(corpus).title + (f", {measure}" if measure != "score" else ""), each)
        for table, measure in _BY_CORPUS[task]
        for corpus in plan.tasks[task].corpora
        if (each := found[table].get(system, measure, corpus))
    ]
    trace = traces.of("summary", system, task)
    return TaskScore(
        task,
        TASKS[task],
        row,
        rank(row, column),
        Scale.around(column),
        reference(column),
        corpora,
        trace,
    )


def _facts(plan: Plan, name: str) -> Iterator[tuple[str, str]]:
    """What the parameters and the catalogue say of a system."""
    if name in plan.models:
        entry = plan.models[name]
        if not isinstance(entry, str):
            yield from _shown(
                entry.model_dump(mode="json", exclude={"name"}, exclude_defaults=True)
            )
            return
        known = plan.catalogue.model(entry)
        yield "kind of model", known.backend.replace("_", " ")
        yield "reads", f"{known.max_tokens:,} tokens" if known.max_tokens else "a whole text"
        yield "licence", known.licence
        if known.note:
            yield "note", known.note
        return
    metric, options = plan.metrics[name]
    yield "metric", metric
    yield from _shown(options)


def _shown(options: dict[str, Any]) -> Iterator[tuple[str, str]]:
    given = {key: value for key, value in options.items() if value not in (None, "")}
    yield from ((key, str(given[key])) for key in sorted(given))
