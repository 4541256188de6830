"""Task 2 without its cap: AUC of surface edits against changes of meaning, and each transform."""

from __future__ import annotations

from sagebench.tables import caption
from sagebench.tables.context import ALL, Context
from sagebench.tables.panels import Column, by_system
from sagebench.tables.robustness import CONDITIONS, TASK
from sagebench.tables.scores import Scores
from sagebench.tables.table import Table, tidy

AUC = {"auc": "AUC", "auc_within": "AUC within documents"}


def build(context: Context) -> Table:
    """Score, condition rates and AUC; then what each transform contributes."""
    found, section = Scores(context, TASK), context.params.tasks.robustness
    transforms = [*section.superficial, *section.semantic]
    single = [f"{measure}:{name}" for measure in ("holds", "auc") for name in transforms]
    measures = ["score", *CONDITIONS, *AUC, *single]
    rows = [row for system in context.systems for row in found.rows(system, measures)]
    frame, notes = tidy(rows), context.system_notes
    head = [
        Column("Score", ALL, "score"),
        *(Column(title, ALL, name, best=False) for name, title in CONDITIONS.items()),
        *(Column(title, ALL, name) for name, title in AUC.items()),
    ]
    titles = {name: name.replace("_", " ").capitalize() for name in transforms}
    holds = [Column(title, ALL, f"holds:{name}") for name, title in titles.items()]
    auc = [Column(title, ALL, f"auc:{name}") for name, title in titles.items()]
    panels = [
        by_system(frame, head, notes),
        by_system(frame, holds, notes, "Share of documents whose summary lies on the right side"),
        by_system(frame, auc, notes, "AUC of one transform against all of the other kind"),
    ]
    text = caption.join(
        caption.corpora(context, found.units("score"), "documents"),
        "AUC: the chance that a superficial copy of a document is nearer to it than a copy of "
        "changed meaning of any document, equal similarities counting half; within documents: of "
        "the same document. 0.5 is chance, and nothing caps it. The right side of the summary: "
        "below a superficial copy, above a copy of changed meaning.",
        caption.settings(context, "documents", reading=section.reading),
    )
    return Table("Surface edits against changes of meaning (task 2)", text, frame, panels)
