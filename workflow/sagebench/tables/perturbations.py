"""What the perturbations did: texts made, and how many of them came out unchanged."""

from __future__ import annotations

from typing import Any

from sagebench import frames, layout
from sagebench.params import Params
from sagebench.tables import caption
from sagebench.tables.context import TASKS, Context, task_corpora
from sagebench.tables.panels import share_text
from sagebench.tables.table import Cell, Panel, Table, tidy
from sagebench.tasks.base import NEEDLES

COLUMNS = ["task", "corpus", "perturbation", "documents", "texts", "changed", "share"]
PERTURBED = ("robustness", "sensitivity", "retrieval")


def names(params: Params, task: str) -> list[str]:
    """The perturbations of a task, in the order of params.yaml, needles last."""
    section = getattr(params.tasks, task)
    needles = list(NEEDLES.values())
    if task == "robustness":
        return [*section.superficial, *section.semantic]
    return needles if task == "sensitivity" else [*section.transforms, *needles]


def build(context: Context) -> Table:
    """Task × corpus × perturbation: documents, texts, changed texts and their share."""
    rows = []
    panels = []
    for task in PERTURBED:
        found = [
            _count(context, task, corpus, name)
            for corpus in task_corpora(context.params, task)
            for name in names(context.params, task)
        ]
        rows += found
        panels.append(_panel(context, task, found))
    text = caption.join(
        "A text that a perturbation cannot change (one without a negation, say, or of a single "
        "sentence) still counts in the scores. Needles make one text per size and position.",
        caption.settings(context),
    )
    return Table("Perturbed texts", text, tidy(rows, COLUMNS), panels)


def _count(context: Context, task: str, corpus: str, name: str) -> dict[str, Any]:
    path = layout.perturbed(context.data, task, corpus, name)
    frame = frames.read(path, frames.PERTURBED)
    changed = int(frame["changed"].sum())
    return {
        "task": task,
        "corpus": corpus,
        "perturbation": name,
        "documents": frame["doc_id"].n_unique(),
        "texts": frame.height,
        "changed": changed,
        "share": changed / max(frame.height, 1),
    }


def _panel(context: Context, task: str, rows: list[dict[str, Any]]) -> Panel:
    groups: dict[str, list[list[Cell]]] = {}
    for row in rows:
        counts = [f"{row[name]:,}" for name in ("documents", "texts", "changed")]
        cells = [row["perturbation"].replace("_", " "), *counts, share_text(row["share"])]
        title = context.corpus_title(row["corpus"])
        groups.setdefault(title, []).append([Cell(text) for text in cells])
    header = ["Perturbation", "Documents", "Texts", "Changed", "Share"]
    return Panel([Cell(text) for text in header], list(groups.items()), TASKS[task])
