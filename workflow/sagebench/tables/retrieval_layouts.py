"""Task 5 under every layout, beside the ranking quality on clean documents."""

from __future__ import annotations

from sagebench.tables import caption
from sagebench.tables.context import ALL, Context
from sagebench.tables.panels import Column, by_system
from sagebench.tables.retrieval import LAYOUTS, TASK
from sagebench.tables.scores import Scores
from sagebench.tables.table import Table, tidy

MEANS = {"score": "harmonic", "arithmetic_mean": "arithmetic"}


def build(context: Context) -> Table:
    """Clean NDCG, then the harmonic and arithmetic mean of the retentions in each layout."""
    found, section = Scores(context, TASK), context.params.tasks.retrieval
    titles = {
        f"{measure}:{layout}": f"{layout.capitalize()}, {title}"
        for layout in LAYOUTS
        for measure, title in MEANS.items()
    }
    rows = [row for system in context.systems for row in found.rows(system, ["ndcg", *titles])]
    frame = tidy(rows)
    columns = [Column(f"NDCG@{section.cutoff}", ALL, "ndcg")]
    columns += [Column(title, ALL, measure) for measure, title in titles.items()]
    text = caption.join(
        caption.corpora(context, found.units("score"), "queries"),
        "Retention of ranking quality, its harmonic and arithmetic mean over the perturbations, by "
        "what is searched. " + " ".join(f"{name}: {text}." for name, text in LAYOUTS.items()),
        "Retention says nothing of how well a system ranks: read it beside NDCG. Where a copy and "
        "its original share the corpus, a system that cannot tell them apart loses.",
        caption.settings(context, "queries"),
    )
    panel = by_system(frame, columns, context.system_notes)
    return Table("Retrieval under every layout (task 5)", text, frame, [panel])
