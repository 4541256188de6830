"""Task 2 (paper, table 4), with the three condition rates that its score is the mean of."""

from __future__ import annotations

from sagebench.tables import caption, paper, truncation
from sagebench.tables.context import ALL, Context
from sagebench.tables.estimate import Estimate
from sagebench.tables.panels import Column, by_system
from sagebench.tables.scores import Scores
from sagebench.tables.table import Table, tidy

TASK = "robustness"
CONDITIONS = {
    "summary_above_semantic": "Summary above meaning change",
    "superficial_above_summary": "Surface edit above summary",
    "superficial_above_semantic": "Surface edit above meaning change",
}
READINGS = {
    "all_then_mean": (
        "A condition counts for a document if it holds for every transform; the score is the mean "
        "of the three conditions' rates."
    ),
    "simultaneous": (
        "A condition counts for a document if it holds for every transform; the score is the share "
        "of documents that meet all three."
    ),
    "average": (
        "A condition's rate is the share of single comparisons that hold; the score is the mean of "
        "the three rates."
    ),
}
SHUFFLES = (
    "A system that ignores word order hardly passes 1/3: shuffles leave its similarity at 1, which "
    "no summary and no surface edit exceeds."
)


def task_score(found: Scores, system: str) -> Estimate:
    """Unweighted mean of the corpora's scores."""
    return found.mean(system, "score")


def build(context: Context) -> Table:
    """Scores per corpus, and each condition's rate over all corpora."""
    found = Scores(context, TASK)
    measures = ["score", *CONDITIONS]
    rows = [row for system in context.systems for row in found.rows(system, measures)]
    rows += truncation.rows(context, [TASK])
    rows += paper.task_rows(context, paper.ROBUSTNESS, found.corpora)
    frame = tidy(rows)
    columns = [Column(context.corpus_title(corpus), corpus, "score") for corpus in found.corpora]
    columns += [
        Column("Score", ALL, "score"),
        *paper.task_columns(context, paper.ROBUSTNESS, found.corpora),
        truncation.COLUMN,
    ]
    rates = [Column(title, ALL, measure, best=False) for measure, title in CONDITIONS.items()]
    notes = context.system_notes
    panels = [
        by_system(frame, columns, notes),
        by_system(frame, rates, notes, "Share of documents that meet each condition"),
    ]
    return Table("Transformation robustness (task 2)", _caption(context, found), frame, panels)


def _caption(context: Context, found: Scores) -> str:
    settings = context.params.tasks.robustness
    return caption.join(
        caption.corpora(context, found.units("score"), "documents"),
        READINGS[settings.reading],
        SHUFFLES if {"sentence_shuffling", "word_shuffling"} & {*settings.semantic} else "",
        f"Superficial: {_names(settings.superficial)}. Meaning: {_names(settings.semantic)}.",
        truncation.CAPTION,
        caption.settings(context, "documents", reading=settings.reading),
    )


def _names(names: list[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)
