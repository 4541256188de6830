"""Differences between systems, paired by resample, with Holm's correction."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from sagebench.tables import caption
from sagebench.tables.context import ALL, TASKS, Context, System
from sagebench.tables.estimate import Estimate, derived
from sagebench.tables.panels import MISSING, UNRANKED
from sagebench.tables.summary import OVERALL, Found
from sagebench.tables.table import Cell, Panel, Table, tidy

COLUMNS = {**TASKS, OVERALL: "Overall"}
ALPHA = 0.05


def p_value(difference: Estimate) -> float:
    """Two-sided, of no difference: normal, with the spread of the draws as standard error.

    The share of draws beyond 0 would not do: among a thousand draws it cannot be small enough to
    outlive the correction for all pairs.
    """
    import numpy as np

    draws = np.asarray(difference.draws, dtype=np.float64)
    draws = draws[~np.isnan(draws)]
    value, spread = float(difference.value or 0), float(np.std(draws, ddof=1))
    if spread < 1e-12:
        return float(abs(value) < 1e-12)
    return math.erfc(abs(value) / spread / math.sqrt(2))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the same order (Holm 1979): at most 1, never below a smaller one."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for done, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - done) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def ranked(context: Context) -> list[System]:
    """The systems that compete: all but the reference rows."""
    return [system for system in context.systems if system.kind not in UNRANKED]


def build(context: Context) -> Table:
    """All pairs of systems in the tidy frame; printed: each against the best of the task."""
    found, systems = Found(context), ranked(context)
    scores = {system.name: found.of(system.name) for system in systems}
    rows: list[dict[str, Any]] = []
    columns: dict[str, list[Cell]] = {}
    for task in COLUMNS:
        tested = _pairs(context, {name: of[task] for name, of in scores.items()})
        rows += [row for system in systems for row in _rows(system, task, tested)]
        columns[task] = _column(systems, {name: of[task] for name, of in scores.items()}, tested)
    lines = [
        [Cell(system.title), *(cells[place] for cells in columns.values())]
        for place, system in enumerate(systems)
    ]
    header = [Cell("System"), *map(Cell, COLUMNS.values())]
    text = caption.join(
        "Score minus the best system's, both on the same resamples; bold: not distinguishable from "
        f"the best at {ALPHA:g} after Holm's correction for all {math.comb(len(systems), 2)} pairs "
        "of systems within the column (two-sided, the draws' spread as standard error). The CSV "
        "file has every pair, its interval and its adjusted p. The best was chosen by the same "
        "data, and an interval speaks of these corpora only.",
        caption.settings(context, "documents, pairs, queries or texts"),
    )
    panel = Panel(header, [("", lines)])
    return Table("Differences between systems", text, tidy(rows), [panel])


Tested = dict[tuple[str, str], tuple[Estimate, float | None]]


def _pairs(context: Context, scores: dict[str, Estimate]) -> Tested:
    """Every ordered pair -> difference and adjusted p (None where a score is missing)."""
    level = context.params.bootstrap.level
    names = [name for name, score in scores.items() if score.value is not None]
    pairs = list(itertools.combinations(names, 2))
    differences = [derived(lambda a, b: a - b, [scores[a], scores[b]], level) for a, b in pairs]
    adjusted = holm([p_value(difference) for difference in differences])
    found: Tested = {}
    for (a, b), difference, p in zip(pairs, differences, adjusted, strict=True):
        found[a, b] = difference, p
        found[b, a] = derived(lambda x: -x, [difference], level), p
    return found


def _rows(system: System, task: str, tested: Tested) -> list[dict[str, Any]]:
    found = []
    for (name, other), (difference, p) in tested.items():
        if name == system.name:
            labels = system.labels | {"corpus": ALL}
            found.append(difference.row(**labels, measure=f"{task}-{other}"))
            found.append(labels | {"measure": f"p:{task}-{other}", "value": p, "note": ""})
    return found


def _column(systems: list[System], scores: dict[str, Estimate], tested: Tested) -> list[Cell]:
    known = {name: score.value for name, score in scores.items() if score.value is not None}
    best = max(known, key=lambda name: known[name], default="")
    cells = []
    for system in systems:
        if system.name == best:
            cells.append(Cell("best", bold=True))
        elif (system.name, best) not in tested:
            cells.append(Cell(MISSING, notes=scores[system.name].notes))
        else:
            difference, p = tested[system.name, best]
            # Adding 0 turns a rounded -0.0 into 0.0, which would print its sign.
            text = f"{round(difference.value or 0, 3) + 0.0:+.3f}".replace("-", "−")
            interval = f"[{difference.low:.3f}, {difference.high:.3f}]"
            cells.append(Cell(text, interval, bold=p is not None and p > ALPHA))
    return cells
