"""Task × system: all scores at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagebench.figures import style
from sagebench.figures.cells import Cells
from sagebench.figures.rows import Rows
from sagebench.tables.context import ALL, TASKS
from sagebench.tables.panels import UNRANKED
from sagebench.tables.summary import COLUMNS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_APART = 0.25  # columns between the tasks and their mean


def summary(frame: pd.DataFrame) -> Figure:
    """Scores of the summary table; the best of each column, reference rows aside, in bold."""
    from matplotlib.figure import Figure

    rows = Rows(frame)
    figure = Figure(figsize=(style.WIDTH, 0.31 * rows.height + 0.75))
    axes = figure.add_axes((0.235, 0.02, 0.755, 1 - 0.72 / figure.get_figheight()))
    cells = Cells(axes)
    places = [place + _APART * (name not in TASKS) for place, name in enumerate(COLUMNS)]
    for x, measure in zip(places, COLUMNS, strict=True):
        part = frame[(frame.corpus == ALL) & (frame.measure == measure)]
        best = part.value[~part.kind.isin(UNRANKED)].max()
        values = part.set_index("system").value
        for row in rows.rows:
            bold = row.kind not in UNRANKED and round(values[row.system], 3) == round(best, 3)
            cells.draw(x, row.y, values[row.system], bold)
    rows.label(axes)
    axes.set_xlim(-0.5, places[-1] + 0.5)
    axes.set_xticks(places, [title.replace(" ", "\n") for title in COLUMNS.values()])
    axes.tick_params(axis="x", length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure
