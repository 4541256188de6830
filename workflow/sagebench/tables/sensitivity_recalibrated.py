"""Task 3 without the scale: order, and the error that is left after a monotone recalibration."""

from __future__ import annotations

import numpy as np

from sagebench.tables import caption
from sagebench.tables.context import ALL, Context
from sagebench.tables.panels import Column, by_system
from sagebench.tables.scores import Scores
from sagebench.tables.sensitivity import TASK
from sagebench.tables.table import Table, tidy
from sagebench.tasks.base import NEEDLES
from sagebench.tasks.recalibration import FOLDS, ordered_correlation

COLUMNS = {
    "score": "Score",
    "recalibrated": "Score, recalibrated",
    "explained": "Explained",
    "rank": "Rank correlation",
    "rank:insertion": "of insertions",
    "rank:removal": "of removals",
}


def build(context: Context) -> Table:
    """The paper's score beside those that a constant cannot win."""
    found = Scores(context, TASK)
    rows = [row for system in context.systems for row in found.rows(system, COLUMNS)]
    frame = tidy(rows)
    columns = [Column(title, ALL, measure) for measure, title in COLUMNS.items()]
    columns += [
        Column(f"Explained, {context.corpus_title(corpus)}", corpus, "explained")
        for corpus in found.corpora
    ]
    text = caption.join(
        caption.corpora(context, found.units("score"), "documents"),
        "Recalibrated: each system's similarities are mapped to 1/(1 + p) by the rising step "
        f"function of least squared error, learnt on the other documents ({FOLDS} folds), one for "
        "insertions and removals together; then scored as before. Explained: the share of the "
        "best constant's squared error that this takes away; 0 for a constant, 1 at best, below 0 "
        "worse than a constant. Rank correlation: Spearman's, of falling similarity with the "
        "fraction edited, in each document; 1 if the fraction alone decides, "
        f"{_by_place(context)} if similarity also depends on the place but never confuses two "
        "sizes. Intervals keep the maps as they are.",
        caption.settings(context, "documents"),
    )
    panel = by_system(frame, columns, context.system_notes)
    return Table("Sensitivity without the scale (task 3)", text, frame, [panel])


def _by_place(context: Context) -> str:
    """The rank correlation of a system that orders all edits, those of one size too."""
    best = set()
    for kind in NEEDLES:
        grid = getattr(context.params.tasks.sensitivity, kind)
        sizes = np.array([size for size in grid.sizes for _ in grid.positions])
        best.add(f"{ordered_correlation(sizes):.3f}")
    return " and ".join(sorted(best))
