"""Scores in a data folder as one frame: the cells of the summary and of the tasks' tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from sagebench import tables
from sagebench.tables import clustering, human_preference, retrieval, robustness, sensitivity
from sagebench.tables.context import ALL, TASKS, Context, System
from sagebench.tables.estimate import Estimate, mean
from sagebench.tables.scores import Scores
from sagebench.tables.summary import OVERALL
from sagebench.tables.truncation import MEASURE as TRUNCATED

SUMMARY = "summary"
# Task -> its tables, by their names in results/tables.
OF_TASK = {
    "human_preference": ("human_preference",),
    "robustness": ("robustness",),
    "sensitivity": ("sensitivity_insertion", "sensitivity_removal", "sensitivity_grid"),
    "clustering": ("clustering",),
    "retrieval": ("retrieval",),
}
SCHEMA = {
    "table": pl.String,
    "system": pl.String,
    "title": pl.String,
    "kind": pl.String,  # embedding, classical, reference
    "corpus": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "note": pl.String,
}


@dataclass(frozen=True)
class Rows(Context):
    """A context whose rows are given, rather than those of the parameters."""

    rows: tuple[System, ...] = ()

    @property
    def systems(self) -> list[System]:
        """The rows, in order."""
        return list(self.rows)


def collect(context: Rows, tasks: Sequence[str], silent: Sequence[str]) -> pl.DataFrame:
    """Columns as in SCHEMA; first the summary's rows, with `overall` if all five tasks are there.

    `silent` are the systems that do not say what they truncate: their share is null, with a note.
    """
    found = _summary(context, tasks)
    for task in tasks:
        for name in OF_TASK[task]:
            frame = tables.TABLES[name].build(context).tidy
            found += [{"table": name, **row} for row in frame.to_dict("records")]
    names = {system.name for system in context.systems}
    frame = pl.DataFrame(found, schema=SCHEMA, strict=False).with_columns(
        pl.col("value", "low", "high").fill_nan(None)
    )
    # The paper's numbers, which the result tables print beside ours, are no result of this run.
    frame = frame.filter(pl.col("system").is_in(names), pl.col("measure") != "paper")
    unknown = pl.col("system").is_in(list(silent)) & (pl.col("measure") == TRUNCATED)
    return frame.with_columns(
        value=pl.when(~unknown).then("value"),
        note=pl.when(unknown).then(pl.lit("the function does not say")).otherwise("note"),
    )


def _summary(context: Rows, tasks: Sequence[str]) -> list[dict[str, Any]]:
    scores = {task: _task_scores(context, task) for task in tasks}
    rows = []
    for system in context.systems:
        found = {task: score(system.name) for task, score in scores.items()}
        if set(tasks) == set(TASKS):
            ordered = [found[task] for task in TASKS]
            found[OVERALL] = mean(ordered, context.params.bootstrap.level)
        for measure, score in found.items():
            rows.append(score.row(table=SUMMARY, **system.labels, corpus=ALL, measure=measure))
    for row in rows:
        for key in ("value", "low", "high"):  # as the tables round
            row[key] = None if row[key] is None else round(row[key], 6) + 0.0
    return rows


def _task_scores(context: Rows, task: str) -> Callable[[str], Estimate]:
    """The task's score of a system, an unweighted mean over the task's corpora."""
    if task == human_preference.TASK:
        return human_preference.Preferences(context).task_score
    modules = {m.TASK: m for m in (robustness, sensitivity, clustering, retrieval)}
    return partial(modules[task].task_score, Scores(context, task))
