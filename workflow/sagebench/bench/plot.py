"""results/bench/growth.{png,svg}: seconds over size of everything measured at several sizes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sagebench.bench.measure import Row, Section
from sagebench.figures import style

LIMIT = "arithmetic limit of embedding"


def draw(sections: Mapping[str, Section], folder: Path) -> None:
    """Log-log, a marker and dash for each row; the model's arithmetic limit as a bare line."""
    from matplotlib.figure import Figure

    rows = [row for section in sections.values() for row in section.rows if len(row.curve) > 1]
    with style.applied():
        figure = Figure(figsize=(style.WIDTH, 6.0), layout="constrained")
        axes = figure.add_subplot()
        axes.set(xscale="log", yscale="log", xlabel="texts, pairs, documents or vectors")
        axes.set_ylabel("seconds, one thread")
        for axis in (axes.xaxis, axes.yaxis):  # the style reads no formulas, powers of ten are some
            axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axes.grid(color=style.RULE, linewidth=0.6)
        for place, row in enumerate(row for row in rows if row.what != LIMIT):
            _line(axes, row, place)
        for row in rows:
            if row.what == LIMIT:
                sizes, seconds = zip(*row.curve, strict=True)
                axes.plot(sizes, seconds, color=style.INK, linewidth=1, label=row.what)
        axes.legend(
            loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False,
            title="growth exponent", alignment="left",
        )  # fmt: skip
        for ending in ("png", "svg"):
            figure.savefig(folder / f"growth.{ending}", metadata=_NO_DATE[ending])


_NO_DATE: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}


def _line(axes: Any, row: Row, place: int) -> None:
    sizes, seconds = zip(*row.curve, strict=True)
    kinds = len(style.COLOURS)
    axes.plot(
        sizes, seconds, color=style.COLOURS[place % kinds], marker=style.MARKERS[place % kinds],
        linestyle=style.DASHES[(place + place // kinds) % kinds], markersize=5,
        fillstyle="full" if place < kinds else "none",
        label=f"{row.what}: {row.exponent:.2f}",
    )  # fmt: skip
