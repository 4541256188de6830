"""Scores as dots with whiskers: one axis per measure, systems as rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sagebench.figures import style
from sagebench.figures.rows import Rows
from sagebench.tables.context import ALL

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def draw(axes: Axes, frame: pd.DataFrame, rows: Rows, measure: str) -> None:
    """A dot and its interval per system; a system without a value has a dash at the left."""
    part = frame[(frame.corpus == ALL) & (frame.measure == measure)].set_index("system")
    for row in rows.rows:
        found, colour = part.loc[row.system], style.KIND_COLOURS[row.kind]
        axes.axhline(row.y, color=style.RULE, lw=0.6, zorder=0)
        if math.isnan(found.value):
            axes.annotate("–", (0, row.y), xycoords=("axes fraction", "data"), va="center")
            continue
        if not math.isnan(found.low):
            axes.plot([found.low, found.high], [row.y] * 2, color=colour, lw=2, alpha=0.55)
        marker = style.KIND_MARKERS[row.kind]
        axes.plot(found.value, row.y, marker, color=colour, ms=6, mec="white", mew=0.7, zorder=3)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(rows.height - 0.4, -0.6)
