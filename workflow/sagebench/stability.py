"""How often the winner changes between whole runs: other seeds, sizes or machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sagebench.errors import BenchError
from sagebench.tables.context import ALL, TASKS
from sagebench.tables.panels import UNRANKED
from sagebench.tables.summary import OVERALL
from sagebench.tables.table import read


def compare(folders: Sequence[Path]) -> str:
    """A Markdown report on two or more results folders, one line per task.

    Winners and how many runs each wins, pairs of runs that disagree, the largest spread of one
    system's score. BenchError if there are fewer than two, or they hold different systems.
    """
    if len(folders) < 2:
        raise BenchError("stability compares at least two results folders")
    frames = {folder: _summary(folder) for folder in folders}
    systems = {folder: set(frame.system) for folder, frame in frames.items()}
    for folder, names in systems.items():
        if odd := names ^ systems[folders[0]]:
            raise BenchError(f"{folder} and {folders[0]} differ in system {sorted(odd)[0]!r}")
    lines = [f"{len(folders)} runs.", "", "| task | winners (runs) | pairs that disagree | "
             "largest spread |", "|---|---|---|---|"]  # fmt: skip
    for task, title in {**TASKS, OVERALL: "Overall"}.items():
        lines.append(_line(title, [_scores(frame, task) for frame in frames.values()]))
    return "\n".join(lines) + "\n"


def _summary(folder: Path) -> Any:
    frame = read(folder / "tables" / "summary.csv")
    return frame[(frame.corpus == ALL) & ~frame.kind.isin(UNRANKED)]


def _scores(frame: Any, task: str) -> dict[str, float]:
    """Title -> score, of the systems that have one."""
    part = frame[frame.measure == task].dropna(subset="value")
    return dict(zip(part.title, part.value, strict=True))


def _line(title: str, runs: list[dict[str, float]]) -> str:
    winners = [max(sorted(run), key=lambda name: run[name], default="–") for run in runs]
    counted = ", ".join(
        f"{name} ({count})"
        for name, count in sorted(Counter(winners).items(), key=lambda item: (-item[1], item[0]))
    )
    pairs = [(a, b) for place, a in enumerate(winners) for b in winners[:place]]
    differ = sum(a != b for a, b in pairs)
    shared = set.intersection(*map(set, runs))
    spread = {name: max(r[name] for r in runs) - min(r[name] for r in runs) for name in shared}
    widest = max(sorted(spread), key=lambda name: spread[name], default="–")
    largest = f"{spread[widest]:.3f} ({widest})" if spread else "–"
    return f"| {title} | {counted} | {differ} of {len(pairs)} | {largest} |"
