"""Systems as rows of a figure: grouped by kind, the groups set apart, names on the left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sagebench.figures import style
from sagebench.tables.context import KINDS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LONGEST = 29  # characters that fit left of the axes
GAP = 1.0  # rows between two groups: room for the next one's title


@dataclass(frozen=True)
class Row:
    """A system and its place; y grows downwards."""

    system: str
    title: str
    kind: str
    y: float


class Rows:
    """The systems of a tidy frame in its order, of the kinds that tables show."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.rows: list[Row] = []
        self.headings: dict[str, float] = {}
        y = 0.0
        systems = frame[frame.kind.isin(KINDS)].drop_duplicates("system")
        for system in systems.itertuples():
            if KINDS[system.kind] not in self.headings:
                y += GAP
                self.headings[KINDS[system.kind]] = y - 1
            self.rows.append(Row(system.system, system.title, system.kind, y))
            y += 1
        self.height = y  # in rows

    def label(self, axes: Axes) -> None:
        """Write names and group titles left of `axes`, the first row on top."""
        axes.set_ylim(self.height - 0.4, -0.6)
        names = [style.short(row.title, _LONGEST) for row in self.rows]
        axes.set_yticks([row.y for row in self.rows], names)
        axes.tick_params(axis="y", length=0)
        for title, y in self.headings.items():
            axes.annotate(
                title,
                (0, y),
                xytext=(-4, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="center",
                color=style.FAINT,
                fontsize=9,
                fontstyle="italic",
            )
