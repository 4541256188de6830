"""The tables ask for exactly the measures that the tasks score: the made-up scores are honest."""

from pathlib import Path
from typing import Any

import fake_scores
import numpy as np
import polars as pl
import pytest

from sagebench import frames, registry
from sagebench import params as params_module
from sagebench.params import Params
from sagebench.tables import perturbations
from sagebench.tables.context import TASKS, task_corpora
from sagebench.tables.robustness import CONDITIONS
from sagebench.tasks.base import NEEDLES

IDS = [f"d{number}" for number in range(6)]


class Lengths:
    """A system that any text suits."""

    def pairs(self, a: list[str], b: list[str]) -> np.ndarray:
        return np.array([1 / (2 + abs(len(x) - len(y))) for x, y in zip(a, b, strict=True)])

    def matrix(self, queries: list[str], documents: list[str]) -> np.ndarray:
        return np.array([self.pairs([query] * len(documents), documents) for query in queries])

    def condensed(self, texts: list[str]) -> np.ndarray:
        return np.linspace(0, 1, len(texts) * (len(texts) - 1) // 2, dtype=np.float32)


def texts(mark: str = "x") -> list[str]:
    return [f"{name} {mark * (number + 2)}" for number, name in enumerate(IDS)]


def perturbed(params: Params, task: str) -> dict[str, pl.DataFrame]:
    """A perturbed frame per perturbation of the task, needles over their whole grid."""
    needles = {name: getattr(params.tasks, task) for name in NEEDLES.values()}
    found = {}
    for name in perturbations.names(params, task):
        edits: list[tuple[float | None, float | None]] = [(None, None)]
        if name in needles:
            kind = next(kind for kind, needle in NEEDLES.items() if needle == name)
            grid = getattr(needles[name], kind)
            edits = [(size, place) for size in grid.sizes for place in grid.positions]
        rows = [
            (doc, name, size, place, f"{text} {name} {size}", True, 3, 4)
            for size, place in edits
            for doc, text in zip(IDS, texts(), strict=True)
        ]
        found[name] = pl.DataFrame(rows, schema=frames.PERTURBED.empty().schema, orient="row")
    return found


def inputs(params: Params, task: str, corpus: str) -> dict[str, Any]:
    """A small sample of the task's kind."""
    documents = pl.DataFrame({"doc_id": IDS, "text": texts(), "summary": texts("s")})
    if task in ("robustness", "sensitivity"):
        return {"sample": documents, "perturbed": perturbed(params, task)}
    if task == "clustering":
        labels = ["a", "a", "b", "b", "c", "c"]
        return {"sample": documents.select("doc_id", "text", label=pl.Series(labels))}
    if task == "retrieval":
        queries = pl.DataFrame({"query_id": ["q1", "q2"], "text": ["d1 xx", "d4 xxxx"]})
        qrels = pl.DataFrame(
            {"query_id": ["q1", "q2"], "doc_id": ["d1", "d4"], "relevance": [1, 1]}
        )
        return {
            "sample": documents,
            "queries": queries,
            "qrels": qrels,
            "perturbed": perturbed(params, task),
        }
    if corpus in params.tasks.human_preference.preferences:
        sample = {"pair_id": IDS, "doc_id": IDS, "text": texts(), "summary_1": texts("a")}
        sample |= {"summary_2": texts("bbb"), "choice": [1, 2] * 3, "gap": [1.0] * 6}
        return {"sample": pl.DataFrame(sample)}
    aspects = fake_scores.ASPECTS.get(corpus, ["overall"])
    rows = [
        (item, aspect, text, other, float(number % 4), 3)
        for aspect in aspects
        for number, (item, text, other) in enumerate(zip(IDS, texts(), texts("zz"), strict=True))
    ]
    return {"sample": pl.DataFrame(rows, schema=frames.RATINGS.empty().schema, orient="row")}


@pytest.mark.parametrize("task", TASKS)
def test_made_up_scores_have_the_measures_of_real_ones(task: str) -> None:
    params = params_module.read(Path(__file__).resolve().parents[1] / "params.yaml")
    section = getattr(params.tasks, task).model_dump()
    for corpus in task_corpora(params, task):
        spec = {"task": section, "corpus": corpus, "seed": 1}
        scorer = registry.load("task", task)()
        given = inputs(params, task, corpus)
        similarity = scorer.similarity(given, Lengths(), spec)
        spec["bootstrap"] = {"resamples": 100, "level": 0.95}
        _, cells, draws = scorer.score(given, {"lengths": similarity}, spec)
        wanted = set(fake_scores.measures(params, task, corpus))
        assert wanted <= set(cells["measure"]), corpus
        assert set(draws["measure"]) == set(cells["measure"])
        assert draws.height == 100 * cells.height


def test_the_conditions_are_the_tasks() -> None:
    from sagebench.tasks import robustness

    assert tuple(CONDITIONS) == robustness.CONDITIONS
