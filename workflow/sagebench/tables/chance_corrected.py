"""Each task's score between what chance gives and what can be reached on its sample."""

from __future__ import annotations

from typing import Any

from sagebench.tables import caption
from sagebench.tables.context import ALL, TASKS, Context
from sagebench.tables.estimate import Estimate, derived, mean
from sagebench.tables.panels import Column, by_system, score_cell
from sagebench.tables.summary import OVERALL, Found
from sagebench.tables.table import Cell, Panel, Table, tidy
from sagebench.tasks.ideal import CEILING

FLOOR = "random"
ENDS = {"floor": "Floor: the random row", "ceiling": "Ceiling: an ideal system"}


def corrected(score: Estimate, floor: Estimate, ceiling: Estimate, level: float) -> Estimate:
    """(score - floor) / (ceiling - floor), draw by draw; 0: chance, 1: all that can be reached."""
    if None in (score.value, floor.value, ceiling.value):
        notes = dict.fromkeys(note for part in (score, floor, ceiling) for note in part.notes)
        return Estimate(None, n=score.n, notes=tuple(notes))
    return derived(lambda s, f, c: (s - f) / (c - f), [score, floor, ceiling], level)


def build(context: Context) -> Table:
    """Every task's score rescaled, their mean, and the two ends of each scale."""
    found, level = Found(context), context.params.bootstrap.level
    missing = Estimate(None, notes=(f"no floor: {FLOOR!r} is not among the references",))
    floors = dict.fromkeys(TASKS, missing)
    if FLOOR in context.params.references:
        floors = found.of(FLOOR)
    ends = {"floor": floors, "ceiling": found.of(CEILING)}
    rows: list[dict[str, Any]] = []
    for system in context.systems:
        scores = found.of(system.name)
        parts = {
            task: corrected(scores[task], floors[task], ends["ceiling"][task], level)
            for task in TASKS
        }
        parts[OVERALL] = mean(list(parts.values()), level)
        rows += [
            part.row(**system.labels, corpus=ALL, measure=task) for task, part in parts.items()
        ]
    for name, title in ENDS.items():
        labels = {"system": f"({name})", "title": title, "kind": name, "corpus": ALL}
        rows += [ends[name][task].row(**labels, measure=f"{name}:{task}") for task in TASKS]
    frame = tidy(rows)
    columns = [Column(title, ALL, task) for task, title in TASKS.items()]
    columns.append(Column("Overall", ALL, OVERALL))
    systems = frame[~frame.kind.isin([*ENDS])]
    panels = [by_system(systems, columns, context.system_notes), _ends(ends)]
    text = caption.join(
        "(score − floor) / (ceiling − floor): 0 is chance, 1 all that can be reached; below 0 is "
        "worse than chance. The floor is the measured score of the random row. The ceiling is the "
        "score, through the same code, of an ideal system that knows the answers but gives equal "
        "texts equal similarities: choices and classes as they are; for ratings the one "
        "similarity that correlates best with all aspects; transforms 1, the summary 1/2, changes "
        "of meaning 0, unless the change left the text as it was; 1/(1 + p); for retrieval the "
        "judgments, blind to noise, so that a copy and its original tie.",
        caption.settings(context, "documents, pairs, queries or texts"),
    )
    return Table("Scores between chance and ceiling", text, frame, panels)


def _ends(ends: dict[str, dict[str, Estimate]]) -> Panel:
    lines = [
        [Cell(title), *(_end(ends[name][task]) for task in TASKS)] for name, title in ENDS.items()
    ]
    return Panel([Cell("Score"), *map(Cell, TASKS.values())], [("", lines)], "The ends")


def _end(part: Estimate) -> Cell:
    return score_cell(part.value, part.low, part.high, notes=part.notes)
