"""The figures, drawn from the written tables alone: every mark traces to a row of a CSV file.

draw("summary_heatmap", Path("results/tables"), Path("results/figures"))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sagebench import registry
from sagebench.corpora.files import write_bytes
from sagebench.figures import conditions, files, heatmap, overall, retention, sensitivity, style
from sagebench.tables.table import read

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

FORMATS = {"svg": files.svg, "png": files.png}


@dataclass(frozen=True)
class Recipe:
    """How a figure is drawn, and the table that it shows."""

    draw: Callable[[pd.DataFrame], Figure]
    table: str


FIGURES = {
    "summary_heatmap": Recipe(heatmap.summary, "summary"),
    "overall_intervals": Recipe(overall.draw, "summary"),
    "condition_rates": Recipe(conditions.draw, "robustness"),
    "sensitivity_curves": Recipe(sensitivity.draw, "sensitivity_grid"),
    "retention": Recipe(retention.draw, "retrieval"),
}


def inputs(name: str, tables: Path) -> list[Path]:
    """The files in `tables` that `draw` reads."""
    return [tables / f"{_recipe(name).table}.csv"]


def outputs(name: str, out: Path) -> list[Path]:
    """The files that `draw` writes."""
    return [out / f"{name}.{suffix}" for suffix in FORMATS]


def draw(name: str, tables: Path, out: Path) -> list[Path]:
    """Draw the figure `name` as SVG and PNG (200 dpi) into `out`; the paths written.

    Equal tables give equal bytes. BenchError if the name is unknown or its table is not there.
    """
    recipe = _recipe(name)
    frame = read(inputs(name, tables)[0])
    paths = outputs(name, out)
    with style.applied():
        figure = recipe.draw(frame)
        for path, encode in zip(paths, FORMATS.values(), strict=True):
            write_bytes(path, encode(figure))
    return paths


def _recipe(name: str) -> Recipe:
    if name not in FIGURES:
        raise registry.unknown("figure", name, FIGURES)
    return FIGURES[name]
