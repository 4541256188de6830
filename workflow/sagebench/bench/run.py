"""Where a run's time went, from what Snakemake wrote: its log, the jobs' benchmarks and logs."""

import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sagebench.bench.measure import Place, Section, Target
from sagebench.errors import BenchError

# Rules (their first word) by phase, in the order in which data walks through.
PHASES = {
    "fetch": ("fetch", "snapshot", "corpus"),
    "perturb": ("sample", "perturb"),
    "embed": ("embed",),
    "similarity": ("similarity",),
    "score": ("score",),
    "report": ("table", "figure", "data", "card", "metrics", "report"),
}
_SHARE = 0.10


def measure(place: Place) -> Section:
    """The largest run that the project at `place.data`/.. has a log of."""
    root = place.data.resolve().parent
    return section(split(root, _largest(root / ".snakemake" / "log")))


def section(found: dict[str, Any]) -> Section:
    """The split as a table, the orchestration's share as a target."""
    total, share = found["core_seconds"], found["orchestration"] / found["core_seconds"]
    table = [
        {"part": part, "core-seconds": round(seconds, 1), "share": f"{seconds / total:.1%}"}
        for part, seconds in found["parts"].items()
    ]
    wall = timedelta(seconds=round(found["wall"]))
    title = f"The run of {found['jobs']} jobs on {found['cores']} cores, {wall}"
    cause = (
        f"Snakemake, the start of {found['jobs']} processes and cores that waited for the last "
        f"jobs: {found['orchestration'] / found['jobs']:.2f} core-seconds a job"
    )
    target = Target("orchestration's share of the run", "", share, at_most=_SHARE, cause=cause)
    notes = [
        "A job's seconds are those of its benchmark file, or what its command says in its log. "
        "Set-up is from Snakemake's start to the first job; orchestration is all the rest of "
        "cores × wall time."
    ]
    return Section("One run", targets=[target], tables={title: table}, notes=notes)


def split(root: Path, log: Path) -> dict[str, Any]:
    """{"parts": part -> core-seconds, "wall", "cores", "jobs", "core_seconds", "orchestration"}.

    BenchError if the run did not end well: its times would not be a run's.
    """
    text = log.read_text(encoding="utf-8", errors="replace")
    elapsed = re.search(r"^Elapsed time: (.+)$", text, re.MULTILINE)
    cores = re.search(r"^Provided cores: (\d+)", text, re.MULTILINE)
    first = re.search(r"^\[(\w{3} \w{3} +\d+ [\d:]+ \d{4})\]$", text, re.MULTILINE)
    if not (elapsed and cores and first):
        raise BenchError(f"{log} is not the log of a run that ended; run `snakemake --cores all`")
    jobs = Counter(re.findall(r"^Finished jobid: \d+ \(Rule: (\w+)\)$", text, re.MULTILINE))
    jobs.pop("all", None)
    wall, total = _seconds(elapsed[1]), _seconds(elapsed[1]) * int(cores[1])
    started = datetime.strptime(log.name[:17], "%Y-%m-%dT%H%M%S")
    begun = datetime.strptime(first[1], "%a %b %d %H:%M:%S %Y")
    parts = {"set-up": max(0.0, (begun - started).total_seconds()) * int(cores[1])}
    for phase, rules in PHASES.items():
        parts[phase] = sum(_work(root, rule) for rule in rules)
    parts["orchestration"] = total - sum(parts.values())
    if parts["orchestration"] < 0:
        raise BenchError(
            f"the jobs took longer than the run of {log}: benchmarks and logs are of another run; "
            "delete logs/ and benchmarks/ and run anew"
        )
    return {
        "parts": parts, "wall": wall, "cores": int(cores[1]), "jobs": jobs.total(),
        "core_seconds": total, "orchestration": parts["orchestration"] + parts["set-up"],
    }  # fmt: skip


def _largest(folder: Path) -> Path:
    """The log with the most finished jobs."""
    logs = sorted(folder.glob("*.snakemake.log"))
    if not logs:
        raise BenchError(f"no run is recorded in {folder}: run `snakemake --cores all` first")
    return max(logs, key=lambda log: log.read_text(errors="replace").count("\nFinished jobid"))


def _work(root: Path, rule: str) -> float:
    """Seconds of a rule's jobs: benchmark files where there are some, or the last line of logs."""
    benchmarks = sorted((root / "benchmarks" / rule).rglob("*.tsv"))
    if benchmarks:
        return sum(float(path.read_text().splitlines()[1].split("\t")[0]) for path in benchmarks)
    folder = root / "logs" / rule
    logs = sorted(folder.rglob("*.log")) if folder.is_dir() else [folder.with_suffix(".log")]
    return sum(_said(path) for path in logs if path.exists())


def _said(log: Path) -> float:
    """The seconds in a command's last "done in" line; 0 without one."""
    found = re.findall(r"done in ([\d.]+) s", log.read_text(encoding="utf-8", errors="replace"))
    return float(found[-1]) if found else 0.0


def _seconds(elapsed: str) -> float:
    """`[D days, ]H:MM:SS.ssssss` in seconds."""
    days, _, clock = elapsed.rpartition("day")
    hours, minutes, seconds = clock.strip("s, ").split(":")
    whole = int(days) if days.strip() else 0
    return whole * 86400 + int(hours) * 3600 + int(minutes) * 60 + float(seconds)
