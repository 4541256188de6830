"""The workflow that was run as one picture: phases from left to right, a row per task."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sagebench.audit.history import History, Job
from sagebench.figures import files, style
from sagebench.tables.context import AGREEMENT, TASKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Command -> column. What has no task lies on a row of its own.
COLUMNS = {
    "fetch": "sources", "snapshot": "sources", "corpus": "corpora", "sample": "perturb",
    "perturb": "perturb", "embed": "embed", "similarity": "similarity", "score": "score",
    "table": "tables", "figure": "results", "card": "results", "metrics": "results",
    "report": "results",
}  # fmt: skip
_TITLES = ("sources", "corpora", "perturb", "embed", "similarity", "score", "tables", "results")
_COLOURS = (
    "#5b5b5b", "#0072B2", "#009E73", "#D55E00", "#AA4499", "#56743b", "#7a5c00", "#000000",
)  # fmt: skip
_LONE = {
    "fetch": "pinned archives", "snapshot": "models of the Hub", "table": "tables",
    "figure": "figures", "metrics": "metrics", "card": "data card", "report": "report",
}  # fmt: skip
_ROLES = ("preferences", "ratings", "documents", "labelled", "retrieval")  # as tasks use them
_ROWS = (*TASKS, *AGREEMENT)
_WIDTH, _HEIGHT = 0.72, 0.56  # of a box; columns and rows are 1 apart

Key = tuple[str, str]  # column, row


@dataclass(frozen=True)
class Node:
    """One box: how many jobs of each command work there, and the files they made."""

    jobs: Counter[str]
    files: int


def graph(history: History) -> tuple[dict[Key, Node], list[tuple[Key, Key]]]:
    """Boxes, and arrows between them: one where a job of one reads a file of the other."""
    jobs: dict[Key, Counter[str]] = {}
    made: Counter[Key] = Counter()
    arrows: set[tuple[Key, Key]] = set()
    for job in history.all_jobs:
        key = _key(job)
        jobs.setdefault(key, Counter())[job.name] += 1
        made[key] += len(job.outputs)
        # The report reads everything, for digests: only what it shows gets an arrow.
        read = [path for path in job.inputs if job.name != "report" or path.startswith("results/")]
        arrows |= {(_key(history.jobs[path]), key) for path in read if path in history.jobs}
    nodes = {key: Node(found, made[key]) for key, found in jobs.items()}
    return nodes, sorted(pair for pair in arrows if pair[0] != pair[1])


def svg(history: History) -> bytes:
    """The picture; equal histories give equal bytes."""
    from matplotlib.figure import Figure

    nodes, arrows = graph(history)
    places = _places(nodes)
    with style.applied():
        figure = Figure(figsize=(style.WIDTH * 1.5, 0.75 * len(_ROWS) + 0.7))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(-0.5, len(_TITLES) - 0.5)
        axes.set_ylim(len(_ROWS) - 0.5, -1)
        for number, title in enumerate(_TITLES):
            axes.text(number, -0.75, title, ha="center", va="center", weight="bold",
                      color=_COLOURS[number])  # fmt: skip
        for start, end in arrows:
            _arrow(axes, places[start], places[end], _COLOURS[_TITLES.index(start[0])])
        for key, node in nodes.items():
            _box(axes, places[key], key, node)
        return files.svg(figure)


def _key(job: Job) -> Key:
    return COLUMNS.get(job.name, "results"), _LONE.get(job.name) or job.task or job.name


def _places(nodes: dict[Key, Node]) -> dict[Key, tuple[float, float]]:
    """(x, y) of every box: tasks on their row, the others spread evenly over the height."""
    places: dict[Key, tuple[float, float]] = {}
    order = [*_ROLES, *_LONE.values()]
    for number, title in enumerate(_TITLES):
        rows = [row for column, row in nodes if column == title]
        if set(rows) <= set(_ROWS):
            places |= {(title, row): (number, float(_ROWS.index(row))) for row in rows}
            continue
        gap = len(_ROWS) / len(rows)
        rows.sort(key=lambda row: order.index(row) if row in order else len(order))
        for index, row in enumerate(rows):
            places[title, row] = (number, gap * (index + 0.5) - 0.5)
    return places


def _box(axes: Axes, place: tuple[float, float], key: Key, node: Node) -> None:
    from matplotlib.patches import FancyBboxPatch

    (x, y), colour = place, _COLOURS[_TITLES.index(key[0])]
    axes.add_patch(
        FancyBboxPatch(
            (x - _WIDTH / 2, y - _HEIGHT / 2), _WIDTH, _HEIGHT, linewidth=1.2, zorder=2,
            boxstyle="round,pad=0,rounding_size=0.06", facecolor="white", edgecolor=colour,
        )
    )  # fmt: skip
    count = ", ".join(f"{number} {name}" for name, number in sorted(node.jobs.items()))
    title = key[1].replace("_", " ")
    axes.text(x, y - 0.11, style.short(title, 22), ha="center", va="center", size=7.5, zorder=3)
    axes.text(x, y + 0.12, f"{count} → {node.files} files", ha="center", va="center", size=6.2,
              color=style.FAINT, zorder=3)  # fmt: skip


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    """A curve from one box's right side to another's left side."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    (x, y), (to_x, to_y) = (start[0] + _WIDTH / 2, start[1]), (end[0] - _WIDTH / 2, end[1])
    bend = (to_x - x) / 2
    curve = Path(
        [(x, y), (x + bend, y), (to_x - bend, to_y), (to_x, to_y)],
        [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
    )
    far = end[0] - start[0] > 1
    axes.add_patch(
        PathPatch(curve, facecolor="none", edgecolor=colour, zorder=1,
                  linewidth=0.6 if far else 1.1, alpha=0.35 if far else 0.75)
    )  # fmt: skip
