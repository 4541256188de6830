"""A chain as an indented tree for people, and as JSON for programs."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sagebench.audit.chain import Chain, Step, key_parameters
from sagebench.audit.checksums import Checksum, checksum
from sagebench.audit.history import History, Job
from sagebench.audit.sources import described

# What the inputs of a command are that are only counted.
_OTHERS = {
    "table": "other inputs, of other tasks or corpora",
    "score": "similarities of other systems",
    "embed": "texts, traced where they are compared",
}
_SHORT = 12  # hex digits: enough to tell any two files of a project apart


class Writer:
    """Writes chains of one history; a file's bytes are read once and compared with its record."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._known: dict[str, Checksum | None] = {}

    # --- text -------------------------------------------------------------------------------

    def text(self, found: Chain) -> str:
        """The tree: a job a branch; a job that was shown before is only named again."""
        lines = [f"{found.table}: {found.system}, {found.task}"]
        lines += [f"  {_cell(row)}" for row in found.rows]
        lines += self._step(found.step, "", "", set())
        return "\n".join(lines) + "\n"

    def _step(self, step: Step, first: str, rest: str, shown: set[str]) -> Iterator[str]:
        shown.add(step.job.command)
        yield f"{first}{step.job.label}  (rule {step.job.rule}, code {step.job.code})"
        new = [parent for parent in step.parents if parent.job.command not in shown]
        bar = rest + ("│  " if new else "   ")
        yield from (f"{bar}{line}" for line in self._details(step))
        again = [parent.job for parent in step.parents if parent not in new]
        if again:
            yield f"{bar}from, as above: {', '.join(_names(again))}"
        for parent in new:
            last = parent is new[-1]
            branch, space = ("└─ ", "   ") if last else ("├─ ", "│  ")
            if parent.job.command in shown:  # shown meanwhile, inside a branch before this one
                yield f"{rest}{branch}{parent.job.label}, as above"
            else:
                yield from self._step(parent, rest + branch, rest + space, shown)

    def _details(self, step: Step) -> Iterator[str]:
        if parameters := key_parameters(step.job):
            yield " ".join(f"{key}={_plain(value)}" for key, value in parameters.items())
        for path in step.files:
            yield f"{path}  {self._digests(path)}"
        if step.others:
            yield f"(and {step.others} {_OTHERS[step.job.name]})"
        if step.job.name == "fetch":
            source = archive(step.job)
            if "folder" in source:
                yield f"the user's folder {source['folder']}"
            else:
                yield f"archive {source['archive']} ({source['package']} {source['version']})"
                yield f"archive sha256 {source['sha256'] or 'none: see source.json beside it'}"
            yield f"licence {source['licence']}"

    def _digests(self, path: str) -> str:
        recorded = self._history.sha256[path]
        now = self._now(path)
        if now is None:
            return f"sha256 {recorded[:_SHORT]}  MISSING"
        if now.sha256 != recorded:
            return f"sha256 {now.sha256[:_SHORT]}  CHANGED, recorded {recorded[:_SHORT]}"
        return f"sha256 {recorded[:_SHORT]}  md5 {now.md5[:_SHORT]}"

    # --- JSON -------------------------------------------------------------------------------

    def json(self, found: Chain) -> str:
        """The same, whole: full digests, all parameters, every job where it occurs."""
        content = {
            "table": found.table,
            "system": found.system,
            "task": found.task,
            "rows": found.rows,
            "made": self._object(found.step),
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def _object(self, step: Step) -> dict[str, Any]:
        made: dict[str, Any] = {
            "job": step.job.label,
            "rule": step.job.rule,
            "code": step.job.code,
            "parameters": step.job.spec,
            "files": [self._file(path) for path in step.files],
            "other_inputs": step.others,
        }
        if step.job.name == "fetch":
            made["archive"] = archive(step.job)
        return made | {"from": [self._object(parent) for parent in step.parents]}

    def _file(self, path: str) -> dict[str, str | bool | None]:
        now = self._now(path)
        recorded = self._history.sha256[path]
        return {
            "path": path,
            "sha256": recorded,
            "md5": now.md5 if now else None,
            "as_recorded": now is not None and now.sha256 == recorded,
        }

    def _now(self, path: str) -> Checksum | None:
        if path not in self._known:
            there: Path = self._history.root / path
            self._known[path] = checksum(there) if there.is_file() else None
        return self._known[path]


def archive(job: Job) -> dict[str, str]:
    """What a fetch job's record says of the archive, repository or folder that it opened."""
    keys = ("package", "version", "archive", "sha256", "folder", "licence", "citation")
    spec = described(job.spec)
    return {key: str(spec[key]) for key in keys if key in spec}


def _names(jobs: list[Job]) -> list[str]:
    """The jobs by name; more than two of one command as their number."""
    counts = Counter(job.name for job in jobs)
    many = [name for name in counts if counts[name] > 2]
    few = [job.label for job in jobs if job.name not in many]
    return few + [f"{counts[name]} x {name}" for name in many]


def _cell(row: dict[str, str]) -> str:
    interval = f" [{row['low']}, {row['high']}]" if row.get("low") else ""
    count = f", n = {row['n']}" if row.get("n") else ""
    note = f" ({row['note']})" if row.get("note") else ""
    return f"{row['measure']}, {row['corpus']}: {row['value'] or '–'}{interval}{count}{note}"


def _plain(value: Any) -> str:
    return ",".join(map(_plain, value)) if isinstance(value, list) else str(value)
