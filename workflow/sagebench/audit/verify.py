"""Verification as a command: compare bytes, run a sample of jobs again, say what differs."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sagebench.audit.check import check
from sagebench.audit.findings import KINDS, Finding
from sagebench.audit.history import History
from sagebench.audit.rerun import rerun, sample
from sagebench.corpora import catalogue
from sagebench.errors import BenchError

_NAMED = 10  # files in the last line; each was named before


def verify(root: Path, count: int, seed: int, say: Callable[[str], None]) -> None:
    """Check all files of the project at `root`, then run `count` random jobs again.

    `say` is given one line per step and per difference, as they are found. BenchError sums the
    differences up, if there are any.
    """
    history = History.of(root)
    say(f"comparing {len(history.sha256)} artifacts with their records, the catalogue, dvc.lock")
    found = check(history, catalogue.load())
    for finding in found:
        say(f"  {finding}")
    damaged = {finding.path for finding in found}
    jobs = sample(history, count, seed)
    if jobs:
        say(f"running {len(jobs)} of {len(history.all_jobs)} jobs again (--seed {seed})")
    for number, job in enumerate(jobs, 1):
        if broken := sorted(damaged.intersection(job.inputs)):
            say(f"  [{number}/{len(jobs)}] {job.label}: left out, its input {broken[0]} differs")
            continue
        differing = list(rerun(root, job))
        found += differing
        say(f"  [{number}/{len(jobs)}] {job.label}: {'DIFFERS' if differing else 'same bytes'}")
        for finding in differing:
            say(f"    {finding}")
    if found:
        raise BenchError(_summary(found))
    again = f"; {len(jobs)} jobs gave the same bytes again" if jobs else ""
    say(f"verified: {len(history.sha256)} artifacts are as recorded{again}")


def _summary(found: list[Finding]) -> str:
    counts = Counter(finding.kind for finding in found)
    paths = sorted({finding.path for finding in found})
    kinds = [f"  {kind} ({counts[kind]}): {KINDS[kind]}" for kind in KINDS if counts[kind]]
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"not as recorded: {', '.join(paths[:_NAMED])}{more}\n" + "\n".join(kinds)
