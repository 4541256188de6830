"""The scores under every reading of what the paper leaves open, and who wins under each."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

from sagebench.tables import caption, clustering, retrieval, robustness, sensitivity
from sagebench.tables.context import ALL, Context
from sagebench.tables.differences import ranked
from sagebench.tables.estimate import Estimate, mean
from sagebench.tables.human_preference import Preferences
from sagebench.tables.panels import Column, by_system
from sagebench.tables.scores import Scores
from sagebench.tables.table import Cell, Panel, Table, tidy
from sagebench.tasks.human_preference import TIES

# Task -> its readings.
READINGS = {
    "human_preference": list(TIES),
    "robustness": list(robustness.READINGS),
    "retrieval": list(retrieval.LAYOUTS),
}
TITLES = {
    "human_preference": "Human preference, ties",
    "robustness": "Robustness, reading",
    "retrieval": "Retrieval, layout",
}


def build(context: Context) -> Table:
    """Score by task and reading; the winner of the Overall under all combinations."""
    found = _Found(context)
    scores = {system.name: found.of(system.name) for system in context.systems}
    rows: list[dict[str, Any]] = []
    combined: dict[tuple[str, ...], dict[str, float]] = {}
    for system in context.systems:
        of, level = scores[system.name], context.params.bootstrap.level
        for (task, reading), score in of.items():
            if reading:
                measure = f"{task}:{reading}"
                rows.append(score.row(**system.labels, corpus=ALL, measure=measure))
        for combination in itertools.product(*READINGS.values()):
            chosen = [of[key] for key in zip(READINGS, combination, strict=True)]
            overall = mean([*chosen, of["sensitivity", ""], of["clustering", ""]], level)
            measure = "overall:" + "+".join(combination)
            rows.append(overall.row(**system.labels, corpus=ALL, measure=measure))
            if system in ranked(context) and overall.value is not None:
                combined.setdefault(combination, {})[system.title] = overall.value
    frame = tidy(rows)
    panels = [
        by_system(
            frame,
            [Column(reading.replace("_", " "), ALL, f"{task}:{reading}") for reading in readings],
            context.system_notes,
            TITLES[task],
        )
        for task, readings in READINGS.items()
    ]
    panels.append(_winners(combined))
    text = caption.join(
        "The same similarities scored under every reading of the paper's text; bold: the winner of "
        "a reading. Last: how often a system has the highest Overall among the "
        f"{len(combined)} combinations of the readings.",
        caption.settings(context, "documents, pairs, queries or texts"),
    )
    return Table("Scores under every reading", text, frame, panels)


class _Found:
    """The scores of all tasks under all readings, read once."""

    def __init__(self, context: Context) -> None:
        self._preferences = Preferences(context)
        self._scores = {task: Scores(context, task) for task in ("robustness", "retrieval")}
        self._fixed = {module: Scores(context, module.TASK) for module in (sensitivity, clustering)}

    def of(self, system: str) -> dict[tuple[str, str], Estimate]:
        """(task, reading) -> score; the reading of a task with one only is ""."""
        result = {
            ("human_preference", rule): self._preferences.task_score(system, rule)
            for rule in READINGS["human_preference"]
        }
        for task, found in self._scores.items():
            for reading in READINGS[task]:
                result[task, reading] = found.mean(system, f"score:{reading}")
        for module, found in self._fixed.items():
            result[module.TASK, ""] = module.task_score(found, system)
        return result


def _winners(combined: dict[tuple[str, ...], dict[str, float]]) -> Panel:
    winners = Counter(max(values, key=lambda name: values[name]) for values in combined.values())
    lines = [[Cell(title), Cell(f"{count} of {len(combined)}")] for title, count in
             sorted(winners.items(), key=lambda item: (-item[1], item[0]))]  # fmt: skip
    header = [Cell("Highest Overall"), Cell("Combinations of readings")]
    return Panel(header, [("", lines)], "Overall")
