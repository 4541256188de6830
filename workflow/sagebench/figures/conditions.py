"""Robustness taken apart: how often each of the three conditions holds, and the score."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from sagebench.figures import dots, style
from sagebench.figures.rows import Rows
from sagebench.tables.robustness import CONDITIONS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_CEILING = 1 / 3  # of systems that ignore word order


def draw(frame: pd.DataFrame) -> Figure:
    """Three axes of condition rates and one of scores, systems as rows."""
    from matplotlib.figure import Figure

    rows = Rows(frame)
    figure = Figure(figsize=(style.WIDTH, 0.29 * rows.height + 1.1))
    height = figure.get_figheight()
    grid = figure.add_gridspec(
        1, 4, left=0.235, right=0.985, wspace=0.12, bottom=0.6 / height, top=1 - 0.55 / height
    )
    titles = {**CONDITIONS, "score": "Score"}
    for place, (measure, title) in enumerate(titles.items()):
        axes = figure.add_subplot(grid[place])
        dots.draw(axes, frame, rows, measure)
        axes.set_xlim(-0.03, 1.03)
        axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.set_title(textwrap.fill(title, 18), fontsize=9.5)
        if place:
            axes.set_yticks([])
        else:
            rows.label(axes)
    axes.axvline(_CEILING, color=style.INK, lw=1, ls=(0, (4, 2)), zorder=1)
    axes.text(_CEILING + 0.03, -0.45, "1/3", va="center", fontsize=9)
    figure.text(0.61, 0.08 / height, "share of documents", ha="center", va="bottom")
    return figure
