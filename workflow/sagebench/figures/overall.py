"""The Overall of every system with its interval, and the paper's where it has the system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sagebench.figures import dots, style
from sagebench.figures.rows import Rows
from sagebench.tables.summary import OVERALL, PAPER

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(frame: pd.DataFrame) -> Figure:
    """Dots and whiskers of the summary table's last column; the paper's values as rings."""
    from matplotlib.figure import Figure

    rows = Rows(frame)
    figure = Figure(figsize=(style.WIDTH, 0.29 * rows.height + 1.0))
    bottom = 0.62 / figure.get_figheight()
    axes = figure.add_axes((0.235, bottom, 0.735, 1 - bottom - 0.3 / figure.get_figheight()))
    dots.draw(axes, frame, rows, OVERALL)
    _paper(axes, frame, rows)
    rows.label(axes)
    low, high = axes.get_xlim()
    axes.set_xlim(max(0, low), min(1, high))
    axes.set_xlabel("Overall: mean of the five task scores, with its bootstrap interval")
    return figure


def _paper(axes: Axes, frame: pd.DataFrame, rows: Rows) -> None:
    part = frame[(frame.corpus == PAPER[OVERALL]) & (frame.measure == "paper")]
    reported = part.set_index("system").value
    ring: dict[str, Any] = {"mfc": "none", "mec": style.INK, "ms": 7, "mew": 1.2, "ls": "none"}
    for row in rows.rows:
        if row.system in reported.index:
            axes.plot(reported[row.system], row.y, "o", zorder=4, **ring)
    if len(reported):
        axes.plot([], [], "o", label="the paper's value, on its own data", **ring)
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, borderpad=0.1)
