"""Mean similarity against the edited fraction, beside the similarity that is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sagebench.figures import style
from sagebench.tables.context import ALL, KINDS
from sagebench.tables.sensitivity import DONE, EXPECTED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LONGEST = 26  # characters that fit between the axes
_LINE = 0.075  # distance of two labels, in units of similarity


@dataclass(frozen=True)
class _End:
    """The last point of a line, and the name that it gets."""

    title: str
    value: float
    colour: str


def draw(frame: pd.DataFrame) -> Figure:
    """Insertion on the left, removal on the right; one row per kind of system."""
    from matplotlib.figure import Figure

    points = _points(frame)
    figure = Figure(figsize=(style.WIDTH, 8.4))
    grid = figure.add_gridspec(len(KINDS), len(DONE), wspace=0.68, hspace=0.28)
    grid.update(left=0.08, right=0.81, bottom=0.06, top=0.96)
    for i, (kind, title) in enumerate(KINDS.items()):
        for j, (comparison, done) in enumerate(DONE.items()):
            axes = figure.add_subplot(grid[i, j])
            _panel(axes, points[points.comparison == comparison], kind)
            axes.set_title(f"{title}: {comparison}")
            axes.tick_params(labelleft=j == 0)
            if j == 0:
                axes.set_ylabel("mean similarity")
            if i == len(KINDS) - 1:
                axes.set_xlabel(f"tokens {done}, as a share of the document's")
    return figure


def _points(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per system, comparison and size: the mean over positions, in the table's order."""
    found = frame[frame.corpus == ALL].copy()
    parts = found.measure.str.split(":", expand=True)
    found["comparison"], found["size"] = parts[1], parts[2].astype(float)
    keys = ["system", "title", "kind", "comparison", "size"]
    # A mean without one of its positions would be another mean: NaN.
    points = found.groupby(keys, sort=False, as_index=False).value.mean(skipna=False)
    return points.sort_values("size", kind="stable")


def _panel(axes: Axes, points: pd.DataFrame, kind: str) -> None:
    expected = points[points.kind == EXPECTED["kind"]]
    axes.plot(expected["size"], expected.value, color=style.FAINT, lw=5, alpha=0.35, zorder=1)
    sizes = list(expected["size"])
    ends = [_End("expected", float(expected.value.iloc[-1]), style.FAINT)]
    chosen = points[points.kind == kind].dropna(subset="value")
    for place, (_, part) in enumerate(chosen.groupby("system", sort=False)):
        look = place % len(style.COLOURS)
        colour, marker, dash = style.COLOURS[look], style.MARKERS[look], style.DASHES[look]
        xy = part["size"], part.value
        axes.plot(*xy, color=colour, marker=marker, ls=dash, ms=5.5, lw=1.6, zorder=2)
        title = style.short(part.title.iloc[0], _LONGEST)
        ends.append(_End(title, float(part.value.iloc[-1]), colour))
    axes.set_xlim(0, 1.03)
    axes.set_ylim(-0.03, 1.05)
    axes.set_xticks(sizes, [f"{size:.0%}" for size in sizes])
    _label_ends(axes, ends, sizes[-1])


def _label_ends(axes: Axes, ends: list[_End], x: float) -> None:
    """Names right of the last points at `x`, moved apart where they would overlap."""
    ends = sorted(ends, key=lambda end: (end.value, end.title))
    for end, y in zip(ends, _apart([end.value for end in ends]), strict=True):
        axes.annotate(
            end.title,
            (x, end.value),
            xytext=(1.1, y),
            va="center",
            fontsize=8.5,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": end.colour,
                "lw": 0.7,
                "relpos": (0, 0.5),
                "shrinkA": 2,
                "shrinkB": 5,
            },
        )


def _apart(values: list[float]) -> list[float]:
    """Sorted values, each moved as little as it takes to be `_LINE` from its neighbours."""
    blocks: list[list[float]] = []  # of neighbours that touch
    for value in values:
        block = [value]
        while blocks and _bottom(block) - _top(blocks[-1]) < _LINE:
            block = blocks.pop() + block
        blocks.append(block)
    return [_bottom(block) + i * _LINE for block in blocks for i in range(len(block))]


def _bottom(block: list[float]) -> float:
    return sum(block) / len(block) - (len(block) - 1) * _LINE / 2


def _top(block: list[float]) -> float:
    return _bottom(block) + (len(block) - 1) * _LINE
