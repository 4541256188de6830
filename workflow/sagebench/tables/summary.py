"""Tasks × systems, and the Overall (paper, table 1)."""

from __future__ import annotations

from typing import Any

from sagebench.tables import (
    caption,
    clustering,
    human_preference,
    paper,
    retrieval,
    robustness,
    sensitivity,
    truncation,
)
from sagebench.tables.context import ALL, TASKS, Context
from sagebench.tables.estimate import Estimate, mean
from sagebench.tables.panels import Column, by_system
from sagebench.tables.scores import Scores
from sagebench.tables.table import Table, tidy

OVERALL = "overall"

# Task -> the paper's column.
PAPER = {
    "human_preference": "Human Pref",
    "robustness": "Robustness",
    "sensitivity": "Sensitivity",
    "clustering": "Clustering",
    "retrieval": "Retrieval",
    OVERALL: "Overall",
}
COLUMNS = {**TASKS, OVERALL: "Overall"}


class Found:
    """The scores of all tasks."""

    def __init__(self, context: Context) -> None:
        self._level = context.params.bootstrap.level
        self._preferences = human_preference.Preferences(context)
        others = (task for task in TASKS if task != human_preference.TASK)
        self._scores = {task: Scores(context, task) for task in others}

    def of(self, system: str) -> dict[str, Estimate]:
        """Task -> a system's score, an unweighted mean over the task's corpora; and `OVERALL`."""
        found = {human_preference.TASK: self._preferences.task_score(system)}
        for module in (robustness, sensitivity, clustering, retrieval):
            found[module.TASK] = module.task_score(self._scores[module.TASK], system)
        found[OVERALL] = mean(list(found.values()), self._level)
        return found

    def units(self, task: str) -> dict[str, int]:
        """Corpus -> the documents, pairs, queries or texts behind its scores."""
        found = self._preferences.found if task == human_preference.TASK else self._scores[task]
        return found.units("score")


def build(context: Context) -> Table:
    """Every task's score and their unweighted mean, with the paper's numbers beneath."""
    found = Found(context)
    rows: list[dict[str, Any]] = []
    for system in context.systems:
        for measure, score in found.of(system.name).items():
            rows.append(score.row(**system.labels, corpus=ALL, measure=measure))
    rows += truncation.rows(context, list(TASKS))
    for name in PAPER.values():
        rows += paper.rows(context, paper.SUMMARY, name, paper.OTHER)
    frame = tidy(rows)
    columns = [Column(title, ALL, measure) for measure, title in COLUMNS.items()]
    panels = [
        by_system(frame, [*columns, truncation.COLUMN], context.system_notes),
        paper.panel(frame, {PAPER[measure]: title for measure, title in COLUMNS.items()}),
    ]
    return Table("SAGE scores by task", _caption(context, found), frame, panels)


def _caption(context: Context, found: Found) -> str:
    tasks = context.params.tasks
    return caption.join(
        "In brackets the documents, choices or rated items, texts or queries of each corpus.",
        *(caption.corpora(context, found.units(task), label=TASKS[task]) for task in TASKS),
        "Overall: unweighted mean of the five tasks, which have different floors and ceilings: "
        "read it beside the reference rows, which know nothing of meaning.",
        truncation.CAPTION,
        caption.settings(
            context,
            "documents, pairs, queries or texts",
            robustness_reading=tasks.robustness.reading,
            retrieval_layout=tasks.retrieval.layout,
            preference_ties=tasks.human_preference.ties,
        ),
    )
