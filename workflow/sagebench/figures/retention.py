"""What is left of ranking quality after each perturbation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagebench.figures import style
from sagebench.figures.cells import Cells
from sagebench.figures.rows import Rows
from sagebench.tables.context import ALL
from sagebench.tables.retrieval import MEANS, header

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_APART = 0.35  # columns between groups
_PREFIX = "retention:"
_WHICH = {"lorem_insertion": "Insertion: size and place", "span_removal": "Removal: size and place"}


def draw(frame: pd.DataFrame) -> Figure:
    """A heat map of retentions (1: nothing lost), transforms before needles, and their mean."""
    from matplotlib.figure import Figure

    rows, places = Rows(frame), _places(frame)
    figure = Figure(figsize=(style.WIDTH, 0.29 * rows.height + 1.75))
    height = figure.get_figheight()
    axes = figure.add_axes((0.21, 0.35 / height, 0.72, 1 - 1.75 / height))
    cells = Cells(axes, digits=2, size=7.5)
    for measure, x in places.items():
        part = frame[(frame.corpus == ALL) & (frame.measure == measure)]
        values = part.set_index("system").value
        for row in rows.rows:
            cells.draw(x, row.y, values[row.system])
    rows.label(axes)
    _label_columns(axes, places)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def _places(frame: pd.DataFrame) -> dict[str, float]:
    """Measure -> x, in the table's order, with gaps between groups."""
    measures = list(dict.fromkeys(m for m in frame.measure if m.startswith(_PREFIX)))
    places: dict[str, float] = {}
    x, before = -1.0, ""
    for measure in [*measures, "score"]:
        x += 1 + _APART * (bool(places) and _group(measure) != before)
        places[measure], before = x, _group(measure)
    return places


def _group(measure: str) -> str:
    """What a column belongs to: transforms together, each needle, the mean."""
    name, _, edit = measure.removeprefix(_PREFIX).partition("@")
    if edit:
        return _WHICH.get(name, name.replace("_", " "))
    return "Transforms" if measure.startswith(_PREFIX) else ""


def _label_columns(axes: Axes, places: dict[str, float]) -> None:
    titles = [
        header(measure.removeprefix(_PREFIX)) if measure.startswith(_PREFIX) else MEANS[measure]
        for measure in places
    ]
    axes.set_xlim(-0.5, max(places.values()) + 0.5)
    axes.set_xticks(list(places.values()), titles, rotation=50, ha="left", rotation_mode="anchor")
    axes.tick_params(axis="x", length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.tick_params(axis="x", labelsize=8.5, pad=1)
    groups: dict[str, list[float]] = {}
    for measure, x in places.items():
        groups.setdefault(_group(measure), []).append(x)
    for group, xs in groups.items():
        axes.annotate(
            group,
            (sum(xs) / len(xs), 0),
            xytext=(0, -4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=9,
            fontstyle="italic",
            color=style.FAINT,
        )
