"""Our scores beside the published ones: every configured model that has any."""

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sagebench import registry
from sagebench.corpora import catalogue
from sagebench.corpora.fetch import fetch
from sagebench.embeddings.base import Encoder, build
from sagebench.embeddings.store import Store
from sagebench.errors import BenchError
from sagebench.params import Endpoint, Model
from sagebench.published import reference
from sagebench.published.checks import CHECKS, Check, Scores
from sagebench.published.folder import Folder
from sagebench.published.vectors import Vectors


@dataclass(frozen=True)
class Candidate:
    """A configured model and its name in MTEB's results; `same`: those very weights."""

    name: str
    title: str
    published: str
    same: bool
    entry: str | Model


@dataclass(frozen=True)
class Row:
    """One task of one model. `within` is None where the difference is shown, not judged."""

    model: Candidate
    check: Check
    scores: Scores
    published: reference.Score
    seconds: float

    @property
    def ours(self) -> float:
        """The score that the task is known by."""
        return float(self.scores[self.check.main])

    @property
    def difference(self) -> float:
        """Ours minus the published one, to six digits: the last bit must not decide."""
        return round(self.ours - self.published.value, 6)

    @property
    def tolerance(self) -> float | None:
        """The largest difference that counts as reproduced; None: not judged."""
        return self.check.tolerance if self.model.same else None

    @property
    def within(self) -> bool | None:
        """Whether the published score is reproduced."""
        return None if self.tolerance is None else abs(self.difference) <= self.tolerance

    @property
    def note(self) -> str:
        """Why the difference is not judged; "" where it is."""
        own = "" if self.model.same else f"a smaller copy of {self.model.published}: shows the loss"
        return "; ".join(filter(None, (own, self.check.note)))


def candidates(
    configured: Iterable[str | Model | Endpoint], wanted: Sequence[str]
) -> list[Candidate]:
    """The models called `wanted`, or all configured ones, as far as they name published results.

    A model of the catalogue may be asked for without being configured. BenchError for a name
    that is neither, or that names no published results.
    """
    known = catalogue.load().models
    entries = {name: _candidate(name) for name in known}
    own = {entry.name: _candidate(entry) for entry in configured if not isinstance(entry, str)}
    listed = [entry if isinstance(entry, str) else entry.name for entry in configured]
    entries |= own
    found = []
    for name in wanted or listed:
        if name not in entries:
            raise registry.unknown("model", name, entries)
        candidate = entries[name]
        if candidate is not None:
            found.append(candidate)
        elif wanted:
            raise BenchError(
                f"model {name!r} names no published results; give its entry in "
                "workflow/catalogue/models.yaml `published: {name: …, same: …}`"
            )
    return found


def _candidate(entry: str | Model | Endpoint) -> Candidate | None:
    if isinstance(entry, Endpoint):
        return None
    if isinstance(entry, Model):
        # A Hub id is the name in the results; a folder is not, and then nothing is found.
        return Candidate(entry.name, entry.name, entry.path, True, entry)
    described = catalogue.load().model(entry)
    if described.published is None:
        return None
    published = described.published
    return Candidate(entry, described.title, published.name, published.same, entry)


def verify(
    folder: Folder,
    models: Sequence[Candidate],
    tasks: Sequence[str],
    say: Callable[[str], None],
    store: Path | None = None,
) -> list[Row]:
    """Score every model on every task of which it has a published score.

    `say` is told each row when it is there, and each model without a published score. `store` is
    the folder of stored vectors (default: the project's). BenchError if the data are not those
    of the published runs, or if nothing can be compared.
    """
    for task in tasks:
        if task not in CHECKS:
            raise registry.unknown("published task", task, CHECKS)
    scores = reference.read(folder)
    prepared = {task: CHECKS[task].prepare(folder) for task in tasks or CHECKS}
    rows = []
    for model in models:
        published = {task: scores.get((model.published, task)) for task in prepared}
        if not any(published.values()):
            say(f"{model.name}: no published score of {model.published} in the data, left out")
            continue
        with tempfile.TemporaryDirectory() as raw:
            encoder = _encoder(model, Path(raw))
            for task, data in prepared.items():
                if (theirs := published[task]) is None:
                    continue
                started = time.perf_counter()
                with Store.of(encoder, store) as vectors:
                    ours = data.scores(Vectors.of(encoder, data.texts, vectors))
                spent = time.perf_counter() - started
                rows.append(Row(model, CHECKS[task], ours, theirs, spent))
                say(line(rows[-1]))
    if not rows:
        names = ", ".join(model.name for model in models) or "none is configured"
        raise BenchError(f"nothing to compare: no model has a published score ({names})")
    return rows


def _encoder(model: Candidate, raw: Path) -> Encoder:
    if isinstance(model.entry, str):
        for source in catalogue.load().model(model.entry).sources:
            fetch(source, raw / source)
        return build(model.entry, raw)
    return build(model.entry.model_dump(), raw)


def line(row: Row) -> str:
    """A row for the screen: names, ours, published, difference, and what that means."""
    verdict = {True: "ok", False: "OUT OF TOLERANCE", None: "not judged"}[row.within]
    limit = "" if row.tolerance is None else f" (tolerance {row.tolerance})"
    note = f": {row.note}" if row.note else ""
    return (
        f"{row.model.name:14} {row.check.task:30} ours {row.ours:.4f}  published "
        f"{row.published.value:.4f}  difference {row.difference:+.4f}  {verdict}{limit}{note}"
    )


def require(rows: Sequence[Row]) -> None:
    """BenchError that names every row out of tolerance."""
    if wrong := [row for row in rows if row.within is False]:
        named = "\n".join(f"  {line(row)}" for row in wrong)
        raise BenchError(f"{len(wrong)} of {len(rows)} published scores not reproduced:\n{named}")
