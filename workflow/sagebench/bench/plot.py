"""results/bench/growth.{png,svg}: seconds over size of everything measured at several sizes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sagebench.bench.measure import Row, Section
from sagebench.figures import style

LIMIT = "arithmetic limit of embedding"
_KERNELS = ("similarities", "embedding")
_TITLES = ("Metrics and models", "Stages and the store")
_NO_DATE: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}


def draw(sections: Mapping[str, Section], folder: Path) -> None:
    """Log-log, a marker and dash for each row; the model's arithmetic limit as a bare line."""
    from matplotlib.figure import Figure

    parts: tuple[list[Row], list[Row]] = ([], [])
    for name, section in sections.items():
        parts[name not in _KERNELS].extend(row for row in section.rows if len(row.curve) > 1)
    with style.applied():
        figure = Figure(figsize=(style.WIDTH, 9.0), layout="constrained")
        panels = zip(figure.subplots(2), _TITLES, parts, strict=True)
        for axes, title, rows in panels:
            _panel(axes, title, rows)
        for ending in ("png", "svg"):
            figure.savefig(folder / f"growth.{ending}", metadata=_NO_DATE[ending])


def _panel(axes: Any, title: str, rows: Sequence[Row]) -> None:
    axes.set(xscale="log", yscale="log", xlabel="texts, pairs, documents or vectors")
    axes.set_ylabel("seconds, one thread")
    axes.set_title(title, loc="left")
    for axis in (axes.xaxis, axes.yaxis):  # the style reads no formulas, powers of ten are some
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axis.set_minor_formatter(lambda *_: "")
    axes.grid(color=style.RULE, linewidth=0.6)
    for place, row in enumerate(row for row in rows if row.what != LIMIT):
        _line(axes, row, place)
    for row in rows:
        if row.what == LIMIT:
            sizes, seconds = zip(*row.curve, strict=True)
            axes.plot(sizes, seconds, color=style.INK, linewidth=1, label=row.what)
    if rows:
        axes.legend(
            loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False,
            title="growth exponent", alignment="left",
        )  # fmt: skip


def _line(axes: Any, row: Row, place: int) -> None:
    sizes, seconds = zip(*row.curve, strict=True)
    kinds = len(style.COLOURS)
    axes.plot(
        sizes, seconds, color=style.COLOURS[place % kinds], marker=style.MARKERS[place % kinds],
        linestyle=style.DASHES[(place + place // kinds) % kinds], markersize=5,
        fillstyle="full" if place < kinds else "none",
        label=f"{row.what}: {row.exponent:.2f}",
    )  # fmt: skip
