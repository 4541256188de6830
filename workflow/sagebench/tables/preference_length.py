"""Task 1 beyond length: how much of the agreement with people is left."""

from __future__ import annotations

from typing import Any

from sagebench.tables import caption
from sagebench.tables.context import ALL, Context, System
from sagebench.tables.human_preference import Preferences
from sagebench.tables.panels import Column, by_system
from sagebench.tables.table import Table, tidy

CHOICES = {
    "pearson:choice": "r of choices",
    "partial:choice": "given length",
    "accuracy": "Accuracy",
    "accuracy:balanced": "Balanced by length",
    "accuracy:longer": "Longer preferred",
    "accuracy:shorter": "Shorter preferred",
    "accuracy:near": "Lengths alike",
    "accuracy:middle": "Middle third",
    "accuracy:far": "Lengths far apart",
}
RATINGS = {"ratings:pearson": "r of ratings", "ratings:partial": "given length"}


def build(context: Context) -> Table:
    """Correlations with and without length; accuracy by difference of length."""
    preferences = Preferences(context)
    rows = [row for system in context.systems for row in _rows(preferences, system)]
    frame = tidy(rows)
    columns = [Column(title, ALL, measure) for measure, title in (CHOICES | RATINGS).items()]
    single = [
        Column(f"{aspect.capitalize()}, {context.corpus_title(corpus)}", corpus, f"{kind}:{aspect}")
        for aspect, corpora in preferences.aspects.items()
        for corpus in corpora
        for kind in ("pearson", "partial")
    ]
    panels = [
        by_system(frame, columns, context.system_notes),
        by_system(frame, single, context.system_notes, "Ratings: r, then r given length"),
    ]
    units = preferences.found.units("score")
    ties = context.params.tasks.human_preference.ties
    text = caption.join(
        caption.corpora(context, units, "pairs or items"),
        "Given length: partial correlation, of choices with the difference of the two summaries' "
        "lengths taken out, of ratings with the rated text's length (characters, linear). "
        "Balanced: mean of the accuracies where people preferred the longer and the shorter "
        "summary, 0.5 for a system that looks at length alone. Thirds of the pairs by the "
        "difference of lengths relative to the longer one. Means over corpora, of ratings over "
        "aspects.",
        caption.settings(context, "pairs and items", ties=ties),
    )
    return Table("Human preference beyond length (task 1)", text, frame, panels)


def _rows(preferences: Preferences, system: System) -> list[dict[str, Any]]:
    found, name, rows = preferences.found, system.name, []
    for measure in CHOICES:
        for corpus in preferences.choices:
            cell = found.cell(name, corpus, measure)
            rows.append(cell.row(**system.labels, corpus=corpus, measure=measure))
        overall = found.mean(name, measure, preferences.choices)
        rows.append(overall.row(**system.labels, corpus=ALL, measure=measure))
    for kind in ("pearson", "partial"):
        parts = []
        for aspect, corpora in preferences.aspects.items():
            measure = f"{kind}:{aspect}"
            for corpus in corpora:
                cell = found.cell(name, corpus, measure)
                rows.append(cell.row(**system.labels, corpus=corpus, measure=measure))
            parts.append(found.mean(name, measure, corpora))
        overall = found.combine(parts)
        rows.append(overall.row(**system.labels, corpus=ALL, measure=f"ratings:{kind}"))
    return rows
