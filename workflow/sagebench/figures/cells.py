"""Heat maps: coloured cells with their values in them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sagebench.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING = "–"


class Cells:
    """Draws cells of one heat map; colours run from 0 to 1, values beyond have the last colour."""

    def __init__(self, axes: Axes, digits: int = 3, size: float = 9.5) -> None:
        from matplotlib import colormaps

        self._map = colormaps[style.COLOUR_MAP]
        self._axes = axes
        self._digits = digits
        self._size = size

    def draw(self, x: float, y: float, value: float, bold: bool = False) -> None:
        """A cell of 1 × 1 around (x, y); NaN is a hatched cell with a dash."""
        from matplotlib.patches import Rectangle

        missing = math.isnan(value)
        colour: Any = "white" if missing else self._map(min(max(value, 0.0), 1.0))
        look: dict[str, Any] = {"ec": "white", "lw": 1.2}
        if missing:
            look |= {"ec": style.RULE, "hatch": "////"}
        self._axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fc=colour, **look))
        self._axes.text(
            x,
            y,
            MISSING if missing else f"{value:.{self._digits}f}",
            ha="center",
            va="center",
            fontsize=self._size,
            fontweight="bold" if bold else "normal",
            color=style.INK if missing else style.text_colour(colour),
        )
