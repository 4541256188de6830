"""Task 4: V-measure per corpus."""

from __future__ import annotations

from sagebench.tables import caption, paper, truncation
from sagebench.tables.context import ALL, Context
from sagebench.tables.estimate import Estimate
from sagebench.tables.panels import Column, by_system
from sagebench.tables.scores import Scores
from sagebench.tables.table import Table, tidy

TASK = "clustering"
PARTS = {"homogeneity": "Homogeneity", "completeness": "Completeness"}


def task_score(found: Scores, system: str) -> Estimate:
    """Unweighted mean of the corpora's V-measures."""
    return found.mean(system, "score")


def build(context: Context) -> Table:
    """V-measure per corpus; homogeneity and completeness over all."""
    found = Scores(context, TASK)
    measures = ["score", *PARTS]
    rows = [row for system in context.systems for row in found.rows(system, measures)]
    rows += truncation.rows(context, [TASK])
    rows += paper.rows(context, paper.SUMMARY, "Clustering", f"{paper.OTHER}: 11 MTEB sets")
    frame = tidy(rows)
    columns = [
        *(Column(context.corpus_title(corpus), corpus, "score") for corpus in found.corpora),
        Column("V-measure", ALL, "score"),
        *(Column(title, ALL, measure, best=False) for measure, title in PARTS.items()),
        paper.column("Paper", "Clustering"),
        truncation.COLUMN,
    ]
    text = caption.join(
        caption.corpora(context, found.units("score"), "texts"),
        "V-measure of complete-linkage clusters on 1 − similarity, as many as there are classes.",
        truncation.CAPTION,
        caption.settings(context, "texts", texts_per_corpus=context.params.tasks.clustering.texts),
    )
    panel = by_system(frame, columns, context.system_notes)
    return Table("Clustering performance (task 4)", text, frame, [panel])
