"""Task 5: ranking quality that survives the perturbation of the documents."""

from __future__ import annotations

from typing import Any

from sagebench.params import Retrieval
from sagebench.tables import caption, paper, truncation
from sagebench.tables.context import ALL, Context
from sagebench.tables.estimate import Estimate
from sagebench.tables.panels import Column, by_system
from sagebench.tables.scores import Scores
from sagebench.tables.table import Panel, Table, tidy
from sagebench.tasks.base import NEEDLES
from sagebench.tasks.retrieval_score import version_name

TASK = "retrieval"
MEANS = {
    "score": "Harmonic mean",
    "arithmetic_mean": "Arithmetic mean",
    "without_worst": "Harmonic, without the worst",
}
LAYOUTS = {
    "paired": "originals and one perturbation's copies share the corpus and only copies count",
    "replace": "one perturbation's copies alone are the corpus",
    "mixed": "originals and all copies share the corpus and only one perturbation's copies count",
}


def task_score(found: Scores, system: str) -> Estimate:
    """Unweighted mean of the corpora's harmonic means."""
    return found.mean(system, "score")


def build(context: Context) -> Table:
    """Clean NDCG and the means of the retentions, then every retention."""
    settings = context.params.tasks.retrieval
    found = Scores(context, TASK)
    kinds = _perturbations(settings)
    measures = ["ndcg", *MEANS, *(f"retention:{name}" for kind in kinds.values() for name in kind)]
    rows = [row for system in context.systems for row in found.rows(system, measures)]
    for system in context.systems:
        ties = {"measure": "ties", "value": found.ties(system.name, "ndcg"), "note": ""}
        rows.append(system.labels | {"corpus": ALL} | ties)
    rows += truncation.rows(context, [TASK])
    rows += paper.rows(context, paper.SUMMARY, "Retrieval", f"{paper.OTHER}: 18 BEIR sets")
    frame = tidy(rows)
    panels = [by_system(frame, _columns(context, found), context.system_notes)]
    panels += [_retentions(context, frame, title, names) for title, names in kinds.items()]
    return Table("Retrieval robustness (task 5)", _caption(context, found), frame, panels)


def _perturbations(settings: Retrieval) -> dict[str, list[str]]:
    """Group title -> the names of its perturbations as the scores have them."""
    kinds = {"Transforms": list(settings.transforms)}
    for kind, name in NEEDLES.items():
        needles = getattr(settings, kind)
        kinds[kind.capitalize()] = [
            version_name(name, size, position)
            for size in needles.sizes
            for position in needles.positions
        ]
    return kinds


def header(name: str) -> str:
    """A perturbation as a header: "numerization", "15% at 0.5"."""
    name, *edit = name.split("@")
    if not edit:
        return name.replace("_", " ").capitalize()
    size, position = map(float, edit)
    return f"{size:.0%} at {position:g}"


def _columns(context: Context, found: Scores) -> list[Column]:
    cutoff = context.params.tasks.retrieval.cutoff
    return [
        *(Column(context.corpus_title(corpus), corpus, "score") for corpus in found.corpora),
        *(Column(title, ALL, measure) for measure, title in MEANS.items()),
        paper.column("Paper, harmonic mean", "Retrieval"),
        Column(f"NDCG@{cutoff}", ALL, "ndcg"),
        Column("Ties", ALL, "ties", form="count", best=False),
        truncation.COLUMN,
    ]


def _retentions(context: Context, frame: Any, title: str, names: list[str]) -> Panel:
    columns = [Column(header(name), ALL, f"retention:{name}", best=False) for name in names]
    return by_system(frame, columns, context.system_notes, f"Retention after {title.lower()}")


def _caption(context: Context, found: Scores) -> str:
    settings = context.params.tasks.retrieval
    return caption.join(
        caption.corpora(context, found.units("score"), "queries"),
        f"Retention: NDCG@{settings.cutoff} on perturbed documents divided by NDCG@"
        f"{settings.cutoff} on the originals; columns of corpora and the score are the harmonic "
        "mean over all perturbations, which the worst one decides: hence the two means beside it.",
        f"Layout {settings.layout}: {LAYOUTS[settings.layout]}. Ties: ranks up to "
        f"{settings.cutoff} on the originals whose similarity another document shares.",
        truncation.CAPTION,
        caption.settings(context, "queries", layout=settings.layout, **_drawn(settings.draw)),
    )


def _drawn(draw: str) -> dict[str, str]:
    """Said where it is not how the other tasks draw."""
    return {"documents drawn": "every second one judged"} if draw == "judged" else {}
