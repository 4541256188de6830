"""Rank of every system with its interval, and how often it comes first among the resamples."""

from __future__ import annotations

from typing import Any

import numpy as np

from sagebench.stats import Floats
from sagebench.tables import caption
from sagebench.tables.context import ALL, Context
from sagebench.tables.differences import COLUMNS, ranked
from sagebench.tables.estimate import Estimate
from sagebench.tables.panels import Column, by_system, share_text
from sagebench.tables.summary import Found
from sagebench.tables.table import Cell, Panel, Table, tidy

TIED = 1e-9  # scores this near share a rank


def ranks(values: Floats) -> Floats:
    """(systems, draws) rank of each score in its draw: 1 for the highest; ties share the better."""
    above = values[None, :, :] > values[:, None, :] + TIED
    return 1.0 + above.sum(axis=1)


def firsts(values: Floats) -> Floats:
    """(systems,) share of draws in which a system is first; systems that tie share the draw."""
    first = ranks(values) == 1
    return np.asarray((first / first.sum(axis=0)).mean(axis=1), dtype=np.float64)


def build(context: Context) -> Table:
    """Rank with its interval, and share of first places, by task."""
    found, systems, level = Found(context), ranked(context), context.params.bootstrap.level
    scores = {system.name: found.of(system.name) for system in systems}
    rows: list[dict[str, Any]] = []
    cells: dict[str, list[Cell]] = {system.name: [Cell(system.title)] for system in systems}
    for task in COLUMNS:
        known = [s for s in systems if scores[s.name][task].value is not None]
        values = np.array([_values(scores[system.name][task]) for system in known])
        values = values[:, ~np.isnan(values).any(axis=0)]
        place = ranks(values)
        low, high = np.quantile(
            place[:, 1:], [(1 - level) / 2, (1 + level) / 2], axis=1, method="inverted_cdf"
        )
        first = firsts(values[:, 1:])
        for index, system in enumerate(known):
            labels = system.labels | {"corpus": ALL, "note": ""}
            rank = {"value": place[index, 0], "low": low[index], "high": high[index]}
            rows.append(labels | {"measure": f"rank:{task}"} | rank)
            rows.append(labels | {"measure": f"first:{task}", "value": first[index]})
            text = f"{place[index, 0]:.0f}"
            interval = f"[{low[index]:.0f}–{high[index]:.0f}]"
            cells[system.name].append(Cell(text, interval, bold=place[index, 0] == 1))
        for system in systems:
            if system not in known:
                cells[system.name].append(Cell("–", notes=scores[system.name][task].notes))
    frame = tidy(sorted(rows, key=lambda row: [s.name for s in systems].index(row["system"])))
    header = [Cell("System"), *map(Cell, COLUMNS.values())]
    firsts_panel = by_system(
        frame,
        [Column(t, ALL, f"first:{task}", "share", best=False, optional=True)
         for task, t in COLUMNS.items()],
        context.system_notes,
        "Share of resamples in which a system comes first",
    )  # fmt: skip
    text = caption.join(
        "Rank among the systems, reference rows aside, and the interval of its rank over the "
        "resamples; systems of equal score share the better rank, and a first place is divided "
        "among those that share it.",
        "The winner of all documents is not the winner of a resample in "
        f"{_changes(frame)} of the resamples.",
        caption.settings(context, "documents, pairs, queries or texts"),
    )
    panels = [Panel(header, [("", list(cells.values()))]), firsts_panel]
    return Table("Ranks and their intervals", text, frame, panels)


def _values(score: Estimate) -> list[float]:
    """The point, then the draws."""
    return [float(score.value or 0), *([] if score.draws is None else score.draws)]


def _changes(frame: Any) -> str:
    """Per task the share of first places that goes to others than the winners."""
    parts = []
    for task, title in COLUMNS.items():
        rank = frame[(frame.measure == f"rank:{task}") & (frame.value == 1)]
        first = frame[(frame.measure == f"first:{task}") & frame.system.isin(rank.system)]
        parts.append(f"{share_text(max(0.0, 1 - float(first.value.sum())))} ({title.lower()})")
    return ", ".join(parts)
