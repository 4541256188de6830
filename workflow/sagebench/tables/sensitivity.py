"""Task 3 (paper, tables 5 and 6), and the similarities behind it by size and position."""

from __future__ import annotations

from typing import Any

from sagebench.tables import caption, paper, truncation
from sagebench.tables.context import ALL, Context
from sagebench.tables.estimate import Estimate
from sagebench.tables.panels import Column, by_system
from sagebench.tables.scores import Scores
from sagebench.tables.table import Panel, Table, tidy
from sagebench.tasks.base import NEEDLES
from sagebench.tasks.sensitivity import expected

TASK = "sensitivity"
PAPER = {"insertion": paper.INSERTION, "removal": paper.REMOVAL}
DONE = {"insertion": "inserted", "removal": "removed"}
EXPECTED = {"system": "expected", "title": "Expected, 1/(1 + p)", "kind": "expected"}


def task_score(found: Scores, system: str) -> Estimate:
    """Unweighted mean over corpus × {insertion, removal} cells."""
    parts = [found.mean(system, kind) for kind in NEEDLES]
    return found.combine(parts, parts[0].n)


def insertion(context: Context) -> Table:
    """Insertion scores per corpus."""
    return _scores(context, "insertion")


def removal(context: Context) -> Table:
    """Removal scores per corpus."""
    return _scores(context, "removal")


def grid(context: Context) -> Table:
    """Mean similarity by size and position of the edit, beside the expected one."""
    found = Scores(context, TASK)
    rows: list[dict[str, Any]] = []
    for kind in NEEDLES:
        for size, _, measure in _edits(context, kind):
            labels = EXPECTED | {"corpus": ALL, "measure": measure}
            rows.append(labels | {"value": expected(size), "note": ""})
    for kind in NEEDLES:
        measures = [measure for _, _, measure in _edits(context, kind)]
        rows += [row for system in context.systems for row in found.rows(system, measures)]
    frame = tidy(rows)
    panels = [_grid_panel(context, frame, kind) for kind in NEEDLES]
    text = caption.join(
        caption.corpora(context, found.units("score"), "documents"),
        "Mean similarity of a document with itself after an edit, over all corpora; p is the "
        "fraction of its tokens that went in or out. The nearer to the first row the better.",
        caption.settings(context, "documents"),
    )
    return Table("Similarity by size and place of an edit (task 3)", text, frame, panels)


def _scores(context: Context, kind: str) -> Table:
    found = Scores(context, TASK)
    rows = [row for system in context.systems for row in found.rows(system, [kind])]
    rows += truncation.rows(context, [TASK])
    rows += paper.task_rows(context, PAPER[kind], found.corpora)
    frame = tidy(rows)
    columns = [
        *(Column(context.corpus_title(corpus), corpus, kind) for corpus in found.corpora),
        Column("Mean", ALL, kind),
        *paper.task_columns(context, PAPER[kind], found.corpora),
        truncation.COLUMN,
    ]
    panel = by_system(frame, columns, context.system_notes)
    title = f"Sensitivity to {kind} (task 3)"
    return Table(title, _caption(context, found, kind), frame, [panel])


def _caption(context: Context, found: Scores, kind: str) -> str:
    needles = getattr(context.params.tasks.sensitivity, kind)
    sizes = ", ".join(f"{size:.0%}" for size in needles.sizes)
    places = ", ".join(f"{position:g}" for position in needles.positions)
    return caption.join(
        caption.corpora(context, found.units(kind), "documents"),
        f"Score: 1 − mean |similarity − 1/(1 + p)|, p the fraction of tokens {DONE[kind]}: "
        f"{sizes}, each at {places} of the text.",
        "The same similarity for every text, 2/3, scores 0.881 over the paper's edits: see the "
        "reference rows.",
        truncation.CAPTION,
        caption.settings(context, "documents"),
    )


def _edits(context: Context, kind: str) -> list[tuple[float, float, str]]:
    """(size, position, measure) of every edit of one kind."""
    needles = getattr(context.params.tasks.sensitivity, kind)
    return [
        (size, position, f"similarity:{kind}:{float(size)}:{float(position)}")
        for size in needles.sizes
        for position in needles.positions
    ]


def _grid_panel(context: Context, frame: Any, kind: str) -> Panel:
    columns = [
        Column(f"{size:.0%} at {position:g}", ALL, measure, best=False)
        for size, position, measure in _edits(context, kind)
    ]
    return by_system(frame, columns, context.system_notes, kind.capitalize())
