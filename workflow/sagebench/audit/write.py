"""Writing results/audit: every file of it, from the records and the bytes that are there."""

import csv
import io
import json
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sagebench.audit import crate, crate_terms, index, lock, picture, software, sources
from sagebench.audit.checksums import Checksum, checksums
from sagebench.audit.history import History
from sagebench.audit.times import Clock
from sagebench.corpora.files import write_bytes
from sagebench.errors import BenchError

FOLDER = Path("results/audit")
COLUMNS = (
    "path", "size", "sha256", "md5", "rule", "job", "parameters", "code", "inputs", "software",
    "wall_seconds",
)  # fmt: skip
# Described in the crate besides what the workflow made.
_PROJECT = (
    "Snakefile", "params.yaml", "README.md", "LICENSE", "requirements.lock", "dvc.yaml", "dvc.lock",
)  # fmt: skip


def write(root: Path) -> None:
    """Write the audit of the project at `root` into its results/audit.

    BenchError if a result or something behind it has no record, is missing, or has other bytes
    than recorded: an audit with holes would look like one without.
    """
    history, folder = History.of(root), root / FOLDER
    outputs = lock.outputs(root)
    rules = [path.relative_to(root).as_posix() for path in (root / "workflow/rules").glob("*.smk")]
    wanted = {*history.jobs, *lock.files_below(root, outputs), *_PROJECT, *rules}
    known = checksums(root, sorted(wanted))
    _refuse_holes(history, known)
    locked, _ = lock.compare(outputs, known)
    write_bytes(folder / "dag.svg", picture.svg(history))
    write_bytes(folder / "artifacts.csv", _csv(COLUMNS, _artifacts(history, known, locked)))
    pins = software.rows(root / "requirements.lock")
    write_bytes(folder / "software.csv", _csv(software.COLUMNS, pins))
    write_bytes(folder / "sources.csv", _csv(sources.COLUMNS, sources.rows(history)))
    write_bytes(folder / "index.md", index.render(history, known, locked, pins).encode())
    # The crate leaves the digest of artifacts.csv out: that one has the run's times in it.
    beside = [(FOLDER / name).as_posix() for name in crate.BESIDE if name != "artifacts.csv"]
    known |= checksums(root, beside)
    write_bytes(folder / crate_terms.FILE, crate.render(history, known, FOLDER, _published(root)))


def _refuse_holes(history: History, known: Mapping[str, Checksum]) -> None:
    missing = [path for path in history.jobs if path not in known]
    changed = [
        path
        for path, recorded in history.sha256.items()
        if path in known and known[path].sha256 != recorded
    ]
    holes = {"without a record": history.lacking, "missing": missing, "not as recorded": changed}
    for what, paths in holes.items():
        if paths:
            more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
            raise BenchError(
                f"{what}: {', '.join(paths[:3])}{more}: run `make results` or `dvc pull`, then "
                "audit again"
            )


def _artifacts(
    history: History, known: Mapping[str, Checksum], locked: Mapping[str, str]
) -> Iterable[dict[str, Any]]:
    """One row per artifact, sorted by path; the last column alone depends on the run."""
    clock = Clock(history.root)
    for path, job in history.jobs.items():
        seconds = clock.seconds(path, job)
        yield {
            "path": path,
            "size": known[path].size,
            "sha256": known[path].sha256,
            "md5": locked.get(path, ""),
            "rule": job.rule,
            "job": job.label,
            "parameters": json.dumps(job.spec, ensure_ascii=False, sort_keys=True),
            "code": job.code,
            "inputs": json.dumps({source: known[source].md5 for source in job.inputs}),
            "software": software.of(job),
            "wall_seconds": "" if seconds is None else f"{seconds:.2f}",
        }


def _csv(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _published(root: Path) -> str:
    """The day of the last commit; where there is no Git, today."""
    command = ["git", "log", "-1", "--format=%cs"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603
        day = done.stdout.strip()
    except OSError:
        day = ""
    return day or datetime.now(UTC).date().isoformat()
