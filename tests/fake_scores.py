"""Made-up scores, embeddings and perturbed texts of every system, for tests of tables and figures.

Seeded, and shaped like real ones: values differ by system, task and corpus; draws scatter around
the value.
"""

from pathlib import Path

import numpy as np
import polars as pl

from sagebench import frames, layout, rng
from sagebench.params import Params
from sagebench.tables.context import AGREEMENT, TASKS, task_corpora
from sagebench.tables.perturbations import PERTURBED, names
from sagebench.tables.robustness import CONDITIONS
from sagebench.tasks.base import NEEDLES
from sagebench.tasks.human_preference import TIES
from sagebench.tasks.ideal import CEILING
from sagebench.tasks.length import BINS
from sagebench.tasks.ranking import LAYOUTS
from sagebench.tasks.retrieval_score import perturbations
from sagebench.tasks.robustness import READINGS

ASPECTS = {
    "daily_news_aspects": ["fluent", "understandable", "informative", "compact", "overall"],
    "lee50": ["similarity"],
}


def system_names(params: Params) -> list[str]:
    models = [entry if isinstance(entry, str) else entry.name for entry in params.models]
    return [*models, *params.metrics, *params.references]


def measures(params: Params, task: str, corpus: str) -> list[str]:
    """The measures that a task scores on a corpus."""
    kind = task.removeprefix("agreement_")
    section = getattr(params.tasks, kind)
    if kind == "human_preference":
        if corpus in section.preferences:
            numbers = ["accuracy", "precision", "recall", "f1", "score"]
            rules = [f"{number}:{rule}" for number in numbers for rule in TIES]
            lengths = [f"accuracy:{g}" for g in (*BINS, "longer", "shorter", "balanced")]
            return [*numbers, *rules, *lengths, "pearson:choice", "partial:choice"]
        aspects = ASPECTS.get(corpus, ["overall"])
        return ["score", *(f"{m}:{a}" for a in aspects for m in ("pearson", "partial", "rating"))]
    if kind == "robustness":
        transforms = [*section.superficial, *section.semantic]
        single = [f"{measure}:{name}" for measure in ("holds", "auc") for name in transforms]
        readings = [f"score:{reading}" for reading in READINGS]
        return ["score", *CONDITIONS, *readings, "auc", "auc_within", *single]
    if kind == "sensitivity":
        grid = [
            f"similarity:{needle}:{float(size)}:{float(position)}"
            for needle in NEEDLES
            for size in getattr(section, needle).sizes
            for position in getattr(section, needle).positions
        ]
        order = ["rank", "rank:insertion", "rank:removal", "recalibrated", "explained"]
        return ["insertion", "removal", "score", *order, *grid]
    if kind == "clustering":
        return ["score", "homogeneity", "completeness"]
    retained = [f"retention:{name}" for name in perturbations(section.model_dump())]
    means = ["score", "arithmetic_mean", "without_worst"]
    layouts = [f"{mean}:{layout}" for mean in means for layout in LAYOUTS]
    return ["ndcg", *retained, *means, *layouts]


def write_scores(data: Path, params: Params, seed: int = 1) -> None:
    """Cells and draws of all tasks, agreement included."""
    for task in (*TASKS, *AGREEMENT):
        systems = params.agreement.systems if task in AGREEMENT else system_names(params)
        for corpus in task_corpora(params, task):
            write_task(data, params, task, corpus, [*systems, CEILING], seed)


def write_task(
    data: Path, params: Params, task: str, corpus: str, systems: list[str], seed: int = 1
) -> None:
    cells, draws = [], []
    for system in systems:
        for measure in measures(params, task, corpus):
            generator = rng.generator(seed, task, corpus, system, measure)
            value = float(generator.uniform(0.1, 0.9))
            scatter = value + generator.normal(0, 0.03, params.bootstrap.resamples)
            low, high = np.quantile(scatter, [0.025, 0.975])
            cells.append(
                {"system": system, "measure": measure, "value": value,
                 "low": min(low, value), "high": max(high, value), "n": 60, "ties": 3, "note": ""}
            )  # fmt: skip
            draws.append(
                pl.DataFrame({"value": scatter}).select(
                    pl.lit(system).alias("system"),
                    pl.lit(measure).alias("measure"),
                    pl.int_range(pl.len()).alias("draw"),
                    "value",
                )
            )
    put_cells(data, task, corpus, pl.DataFrame(cells, schema=frames.CELLS.empty().schema))
    path = layout.scores(data, task, corpus, "draws")
    frames.write(pl.concat(draws), path, frames.DRAWS)


def put_cells(data: Path, task: str, corpus: str, cells: pl.DataFrame) -> None:
    frames.write(cells, layout.scores(data, task, corpus, "cells"), frames.CELLS)


def cells_of(data: Path, task: str, corpus: str) -> pl.DataFrame:
    return frames.read(layout.scores(data, task, corpus, "cells"), frames.CELLS)


def draws_of(data: Path, task: str, corpus: str) -> pl.DataFrame:
    return frames.read(layout.scores(data, task, corpus, "draws"), frames.DRAWS)


def write_embeddings(data: Path, params: Params, inputs: int = 40) -> None:
    """Embeddings of which the first texts are truncated: as many as the model's place, times 3."""
    for place, model in enumerate(system_names(params)[: len(params.models)]):
        frame = pl.DataFrame(
            {
                "text_sha256": [f"{index:064x}" for index in range(inputs)],
                "vector": [[1.0, 0.0]] * inputs,
                "tokens": [300] * inputs,
                "truncated": [index < 3 * place for index in range(inputs)],
                "valid": [True] * inputs,
            },
            schema=frames.EMBEDDINGS.empty().schema,
        )
        for task in TASKS:
            frames.write(frame, layout.embeddings(data, task, model), frames.EMBEDDINGS)


def write_perturbed(data: Path, params: Params, documents: int = 4) -> None:
    """Perturbed texts of which the first document's is unchanged."""
    for task in PERTURBED:
        for corpus in task_corpora(params, task):
            for name in names(params, task):
                frame = pl.DataFrame(
                    {
                        "doc_id": [f"d{index}" for index in range(documents)],
                        "perturbation": [name] * documents,
                        "size": [None] * documents,
                        "position": [None] * documents,
                        "text": ["x"] * documents,
                        "changed": [index > 0 for index in range(documents)],
                        "tokens_before": [1] * documents,
                        "tokens_after": [1] * documents,
                    },
                    schema=frames.PERTURBED.empty().schema,
                )
                path = layout.perturbed(data, task, corpus, name)
                frames.write(frame, path, frames.PERTURBED)
