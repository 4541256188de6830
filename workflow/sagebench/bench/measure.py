"""Timing in fresh processes, peak memory, growth exponents; what a section hands over."""

import importlib
import json
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sagebench.errors import BenchError

RUNS = 5
_MARK = "measured: "  # the line of a child's output that is its result


@dataclass(frozen=True)
class Place:
    """Where a section finds its inputs. `published`: the folder of benchmark data, if any."""

    data: Path
    published: Path | None
    scratch: Path  # for files that only the measurement needs; kept, so that a rerun is short


@dataclass(frozen=True)
class Row:
    """One thing measured. Seconds are medians of `runs` runs at the largest size."""

    what: str
    size: str
    seconds: float
    runs: int = RUNS
    peak_mb: float | None = None  # of the whole process
    reference: str = ""
    reference_seconds: float | None = None
    reference_sample: str = ""  # what the reference's time was extrapolated from
    difference: float | None = None  # largest absolute difference to the reference's values
    curve: list[tuple[int, float]] = field(default_factory=list)  # (size, seconds)

    @property
    def ratio(self) -> float | None:
        """How many times as long the reference takes."""
        return self.reference_seconds / self.seconds if self.reference_seconds else None

    @property
    def exponent(self) -> float | None:
        """b of seconds = a · size^b, least squares on logarithms."""
        return exponent(self.curve) if len(self.curve) > 1 else None


@dataclass(frozen=True)
class Target:
    """A promise: `at_least` or `at_most` a limit; `cause`: what the measured limit comes from."""

    what: str
    unit: str
    measured: float
    at_least: float | None = None
    at_most: float | None = None
    cause: str = ""

    @property
    def met(self) -> bool:
        """Whether the measured value keeps the promise."""
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        return low <= self.measured <= high


@dataclass(frozen=True)
class Section:
    """Rows, targets and plain tables (title -> rows of columns) of one section."""

    title: str
    rows: list[Row] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """As a file of results/bench."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Section":
        """The reverse of `to_json`."""
        found = json.loads(text)
        return cls(
            found["title"],
            [Row(**row) for row in found["rows"]],
            [Target(**target) for target in found["targets"]],
            found["tables"],
            found["notes"],
        )


def times(action: Callable[[], object], runs: int = RUNS) -> list[float]:
    """Seconds of processor time of each run: on one thread what the clock would show at rest."""
    found = []
    for _ in range(runs):
        started = time.process_time()
        action()
        found.append(time.process_time() - started)
    return found


def median(action: Callable[[], object], runs: int = RUNS) -> float:
    """The median of `times`."""
    return statistics.median(times(action, runs))


def curve(
    prepare: Callable[[int], Callable[[], object]], sizes: Sequence[int], runs: int = RUNS
) -> dict[str, Any]:
    """{"curve": (size, median seconds) of each size, "peak_mb"}; sizes in ascending order."""
    found = [(size, median(prepare(size), runs)) for size in sizes]
    return {"curve": found, "peak_mb": peak_mb()}


def exponent(points: Sequence[tuple[int, float]]) -> float:
    """Slope of log(seconds) over log(size)."""
    slope, _ = statistics.linear_regression(
        [math.log(size) for size, _ in points], [math.log(seconds) for _, seconds in points]
    )
    return slope


def peak_mb() -> float:
    """Largest resident size of this process so far, in MB (10⁶ bytes)."""
    try:
        # Not getrusage: a child inherits its parent's maximum there.
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def child(function: Callable[..., dict[str, Any]], path: Path | None = None, **options: Any) -> Any:
    """The result of a module's function, called with JSON-like options in a fresh process.

    `path` is put before the modules' search path. BenchError if the process fails.
    """
    target = f"{function.__module__}:{function.__qualname__}"
    script = "import sys; from sagebench.bench.measure import _main; _main(*sys.argv[1:])"
    command = [sys.executable, "-c", script, target, json.dumps(options, default=str)]
    search = [str(path)] if path else []
    search += [str(Path(__file__).resolve().parents[2])]
    done = subprocess.run(  # noqa: S603 - no shell
        command, stdout=subprocess.PIPE, text=True, check=False, env=_environment(search)
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if done.returncode or not lines:
        raise BenchError(f"measuring {target} failed; its message is above")
    return json.loads(lines[-1].removeprefix(_MARK))


def _environment(search: list[str]) -> dict[str, str]:
    import os

    from sagebench.__main__ import ENVIRONMENT

    own = {"PYTHONPATH": os.pathsep.join(search), "HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0"}
    return {**os.environ, **ENVIRONMENT, **own}


def _main(target: str, options: str) -> None:
    module, _, name = target.partition(":")
    result = getattr(importlib.import_module(module), name)(**json.loads(options))
    sys.stdout.write(f"{_MARK}{json.dumps(result)}\n")
