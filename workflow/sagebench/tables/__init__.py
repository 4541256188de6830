"""The result tables: each as CSV (tidy, for machines), Markdown and LaTeX (for readers).

    write("summary", params, Path("data"), Path("results/tables"))

A table is a function from a `Context` to a `Table`, listed once in `TABLES` with what it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sagebench import layout, registry
from sagebench.corpora import catalogue
from sagebench.corpora.files import write_bytes
from sagebench.params import Params
from sagebench.tables import (
    agreement,
    chance_corrected,
    clustering,
    differences,
    human_preference,
    latex,
    markdown,
    perturbations,
    picks,
    preference_length,
    ranks,
    readings,
    retrieval,
    retrieval_layouts,
    robustness,
    robustness_separation,
    sensitivity,
    sensitivity_recalibrated,
    summary,
    truncation,
)
from sagebench.tables.context import AGREEMENT, TASKS, Context, task_corpora
from sagebench.tables.scores import PARTS
from sagebench.tables.table import Table

FORMATS = ("csv", "md", "tex")


@dataclass(frozen=True)
class Recipe:
    """How a table is made, and the tasks whose scores, embeddings, perturbed texts it reads."""

    build: Callable[[Context], Table]
    scores: tuple[str, ...] = ()
    embeddings: tuple[str, ...] = ()
    perturbed: tuple[str, ...] = ()


def _of_task(build: Callable[[Context], Table], *tasks: str) -> Recipe:
    return Recipe(build, scores=tasks, embeddings=tasks)


TABLES = {
    "summary": _of_task(summary.build, *TASKS),
    "picks": Recipe(picks.build, scores=tuple(TASKS)),
    "human_preference": _of_task(human_preference.build, "human_preference"),
    "robustness": _of_task(robustness.build, "robustness"),
    "sensitivity_insertion": _of_task(sensitivity.insertion, "sensitivity"),
    "sensitivity_removal": _of_task(sensitivity.removal, "sensitivity"),
    "sensitivity_grid": Recipe(sensitivity.grid, scores=("sensitivity",)),
    "clustering": _of_task(clustering.build, "clustering"),
    "retrieval": _of_task(retrieval.build, "retrieval"),
    # What the scores hide, beside them and never in their place (docs/validity.md).
    "chance_corrected": Recipe(chance_corrected.build, scores=tuple(TASKS)),
    "preference_length": Recipe(preference_length.build, scores=("human_preference",)),
    "robustness_separation": Recipe(robustness_separation.build, scores=("robustness",)),
    "sensitivity_recalibrated": Recipe(sensitivity_recalibrated.build, scores=("sensitivity",)),
    "retrieval_layouts": Recipe(retrieval_layouts.build, scores=("retrieval",)),
    "differences": Recipe(differences.build, scores=tuple(TASKS)),
    "ranks": Recipe(ranks.build, scores=tuple(TASKS)),
    "readings": Recipe(readings.build, scores=tuple(TASKS)),
    "truncation": Recipe(truncation.build, embeddings=tuple(TASKS)),
    "perturbations": Recipe(perturbations.build, perturbed=perturbations.PERTURBED),
    "agreement": Recipe(agreement.build, scores=AGREEMENT),
}


def outputs(name: str, out: Path) -> list[Path]:
    """The files that `write` writes."""
    return [out / f"{name}.{suffix}" for suffix in FORMATS]


def inputs(name: str, params: Params, data: Path) -> list[Path]:
    """The files under `data` that `write` reads, besides the catalogue."""
    recipe = _recipe(name)
    models = [entry if isinstance(entry, str) else entry.name for entry in params.models]
    scores = [
        layout.scores(data, task, corpus, part)
        for task in recipe.scores
        for corpus in task_corpora(params, task)
        for part in PARTS
    ]
    embeddings = [
        layout.embeddings(data, task, model) for task in recipe.embeddings for model in models
    ]
    perturbed = [
        layout.perturbed(data, task, corpus, perturbation)
        for task in recipe.perturbed
        for corpus in task_corpora(params, task)
        for perturbation in perturbations.names(params, task)
    ]
    return [*scores, *embeddings, *perturbed]


def write(
    name: str,
    params: Params,
    data: Path,
    out: Path,
    entries: catalogue.Catalogue | None = None,
) -> list[Path]:
    """Build the table `name` from `data` and write it to `out`; the paths written.

    BenchError if the name is unknown, a file is missing or malformed, or a score is missing
    without an explanation. `entries` is the catalogue to take titles from (default: this
    project's).
    """
    build = _recipe(name).build
    return save(build(Context(params, entries or catalogue.load(), data)), name, out)


def save(table: Table, name: str, out: Path) -> list[Path]:
    """Write a table to `out` in every format; the paths written."""
    tidy = table.tidy.to_csv(index=False, lineterminator="\n")
    texts = (tidy, markdown.render(table), latex.render(table))
    paths = outputs(name, out)
    for path, text in zip(paths, texts, strict=True):
        write_bytes(path, text.encode("utf-8", "backslashreplace"))
    return paths


def _recipe(name: str) -> Recipe:
    if name not in TABLES:
        raise registry.unknown("table", name, TABLES)
    return TABLES[name]
