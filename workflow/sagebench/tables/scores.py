"""A task's scores on all its corpora: cells, draws, and means over corpora."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sagebench import frames, layout
from sagebench.errors import BenchError
from sagebench.tables.context import ALL, Context, System
from sagebench.tables.estimate import Estimate, mean

if TYPE_CHECKING:
    from sagebench.stats import Floats

PARTS = ("cells", "draws")  # the parts of a task's scores that are read here


class Scores:
    """The scores of one task; a cell that should exist and does not is refused."""

    def __init__(self, context: Context, task: str) -> None:
        """Read the files of `task`; BenchError if one is missing or malformed."""
        self.task = task
        self.corpora = context.corpora(task)
        self._titles = {corpus: context.corpus_title(corpus) for corpus in self.corpora}
        self._data = context.data
        self._level = context.params.bootstrap.level
        self._cells: dict[tuple[str, str, str], Estimate] = {}
        self._ties: dict[tuple[str, str, str], int] = {}
        for corpus in self.corpora:
            self._read(corpus)

    def cell(self, system: str, corpus: str, measure: str) -> Estimate:
        """One measure of one system on one corpus, with its own interval.

        BenchError if it is missing, or empty without a note that explains it.
        """
        found = self._cells.get((system, corpus, measure))
        if found is None or (found.value is None and not found.notes):
            state = "is missing" if found is None else "is empty and no note says why"
            raise self._error(system, corpus, measure, state, "cells")
        return found

    def mean(self, system: str, measure: str, corpora: Iterable[str] | None = None) -> Estimate:
        """Unweighted mean of a measure over corpora (all of the task's if None)."""
        corpora = self.corpora if corpora is None else list(corpora)
        parts = [self.cell(system, corpus, measure) for corpus in corpora]
        for corpus, part in zip(corpora, parts, strict=True):
            if part.value is not None and part.draws is None:
                raise self._error(system, corpus, measure, "has no bootstrap draws", "draws")
        return self.combine(
            [
                replace(part, notes=tuple(f"{self._titles[corpus]}: {note}" for note in part.notes))
                for corpus, part in zip(corpora, parts, strict=True)
            ]
        )

    def rows(self, system: System, measures: Iterable[str]) -> list[dict[str, Any]]:
        """Tidy rows of measures: one per corpus, and one for their mean over corpora."""
        found = []
        for measure in measures:
            for corpus in self.corpora:
                cell = self.cell(system.name, corpus, measure)
                found.append(cell.row(**system.labels, corpus=corpus, measure=measure))
            overall = self.mean(system.name, measure)
            found.append(overall.row(**system.labels, corpus=ALL, measure=measure))
        return found

    def combine(self, parts: list[Estimate], n: int | None = None) -> Estimate:
        """`estimate.mean` at the level of this run's intervals."""
        return mean(parts, self._level, n)

    def ties(self, system: str, measure: str, corpora: Iterable[str] | None = None) -> int:
        """Tied comparisons behind a measure, added up over corpora."""
        corpora = self.corpora if corpora is None else corpora
        return sum(self._ties[system, corpus, measure] for corpus in corpora)

    def units(self, measure: str) -> dict[str, int]:
        """Corpus -> units (documents, pairs, …) behind a measure, for the system with most."""
        counts = dict.fromkeys(self.corpora, 0)
        for (_, corpus, found), cell in self._cells.items():
            if found == measure:
                counts[corpus] = max(counts[corpus], cell.n)
        return counts

    def measures(self, corpus: str, prefix: str) -> list[str]:
        """The measures on a corpus that start with `prefix`, sorted."""
        names = {measure for _, found, measure in self._cells if found == corpus}
        return sorted(name for name in names if name.startswith(prefix))

    def _error(self, system: str, corpus: str, measure: str, state: str, part: str) -> BenchError:
        path = layout.scores(self._data, self.task, corpus, part)
        return BenchError(
            f"task {self.task!r}, corpus {corpus!r}: measure {measure!r} of system {system!r} "
            f"{state}; delete {path} and run again to rebuild it"
        )

    def _read(self, corpus: str) -> None:
        draws = self._read_draws(corpus)
        path = layout.scores(self._data, self.task, corpus, "cells")
        for row in frames.read(path, frames.CELLS).iter_rows(named=True):
            key = row["system"], corpus, row["measure"]
            self._ties[key] = row["ties"]
            self._cells[key] = Estimate(
                value=row["value"],
                low=row["low"],
                high=row["high"],
                n=row["n"],
                notes=(row["note"],) if row["note"] else (),
                draws=draws.get((row["system"], row["measure"])),
            )

    def _read_draws(self, corpus: str) -> dict[tuple[str, str], Floats]:
        import numpy as np

        path = layout.scores(self._data, self.task, corpus, "draws")
        frame = frames.read(path, frames.DRAWS).sort("system", "measure", "draw")
        groups = frame.partition_by("system", "measure", as_dict=True)
        # A null draw: the resample left the score undefined.
        return {
            (str(system), str(measure)): np.array(part["value"].fill_null(np.nan).to_numpy())
            for (system, measure), part in groups.items()
        }
