"""Growth of the steps of the other three tasks: perturb, similarity, score, by their own code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from sagebench import registry
from sagebench.bench.measure import Place, Row, Section, child, curve
from sagebench.bench.texts import pieces
from sagebench.plan import Plan, TaskPlan
from sagebench.tasks.base import Inputs

SIZES = [50, 100, 200, 400]
WORDS, SUMMARY = 200, 30
_TASKS = ("human_preference", "robustness", "sensitivity")
_RUNS = 3


def measure(place: Place) -> Section:
    """Each task at four sizes; every step of it in a process of its own."""
    rows = []
    for task in _TASKS:
        for step in ("perturb", "similarity", "score"):
            if found := child(stage, task=task, step=step, data=place.data, sizes=SIZES):
                curve = [tuple(point) for point in found["curve"]]
                unit = "pairs" if task == "human_preference" else "documents"
                rows.append(
                    Row(
                        f"{task}, {step}", f"{SIZES[-1]} {unit}", curve[-1][1], runs=_RUNS,
                        peak_mb=found["peak_mb"], curve=curve,
                    )
                )  # fmt: skip
    notes = [
        f"Texts of {WORDS} words, summaries of {SUMMARY}, the perturbations and parameters of "
        "params.yaml, Jaccard as the system. Scores include the bootstrap. Embedding, clustering "
        "and retrieval have sections of their own; what a report costs does not grow with the data."
    ]
    return Section("Growth of the other stages", rows, notes=notes)


def stage(task: str, step: str, data: str, sizes: list[int]) -> dict[str, Any]:
    """Seconds of one step at each size; {} if the task has no such step."""
    plan = Plan.read("params.yaml")
    made, texts = plan.tasks[task], pieces(data, 2 * sizes[-1], WORDS)
    if step == "perturb" and not made.perturbations:
        return {}

    def prepare(n: int) -> Callable[[], object]:
        sample = _sample(texts, n, task)
        if step == "perturb":
            return lambda: _perturb(plan, made, sample, data)
        inputs: Inputs = {"sample": sample, "perturbed": _perturb(plan, made, sample, data)}
        metric, kind = registry.load("metric", "jaccard"), registry.load("task", task)()
        spec = {
            "task": made.section, "corpus": "pieces", "seed": plan.params.seed,
            "bootstrap": plan.params.bootstrap.model_dump(),
        }  # fmt: skip

        def similarity() -> pl.DataFrame:  # with a system that knows no tokens yet
            found: pl.DataFrame = kind.similarity(inputs, metric(Path(data) / "raw"), spec)
            return found

        if step == "similarity":
            return similarity
        similar = {"jaccard": similarity()}
        return lambda: kind.score(inputs, similar, spec)

    return curve(prepare, sizes, _RUNS)


def _sample(texts: list[str], n: int, task: str) -> pl.DataFrame:
    ids = [f"{number:06d}" for number in range(n)]
    own, other = (
        [" ".join(text.split()[:SUMMARY]) for text in part] for part in (texts, texts[n:])
    )
    sample = pl.DataFrame({"doc_id": ids, "text": texts[:n], "summary": own[:n]})
    if task != "human_preference":
        return sample
    pairs = {
        "pair_id": ids, "doc_id": ids, "text": texts[:n], "summary_1": own[:n],
        "summary_2": other[:n], "choice": [1 + number % 2 for number in range(n)], "gap": [1.0] * n,
    }  # fmt: skip
    return pl.DataFrame(pairs)


def _perturb(
    plan: Plan, made: TaskPlan, sample: pl.DataFrame, data: str
) -> dict[str, pl.DataFrame]:
    from sagebench.perturbations.apply import perturb

    return {
        name: perturb(
            sample, name, plan.params.perturbations.get(name, {}), plan.params.seed,
            raw=Path(data) / "raw", needles=needles,
        )
        for name, needles in made.perturbations.items()
    }  # fmt: skip
