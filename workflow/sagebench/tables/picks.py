"""Which system for what, and how sure that is: paired differences over the same resamples.

All systems of a corpus share their resamples (`stats.weights`), so the difference of two systems
is taken draw by draw: two intervals may overlap widely and the difference still be clear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sagebench import stats
from sagebench.errors import BenchError
from sagebench.tables import caption, retrieval
from sagebench.tables.context import ALL, Context, System
from sagebench.tables.estimate import Estimate
from sagebench.tables.panels import MISSING, score_cell, share_text
from sagebench.tables.scores import Scores
from sagebench.tables.summary import OVERALL, Found
from sagebench.tables.table import Cell, Panel, Table, tidy

if TYPE_CHECKING:
    from sagebench.stats import Floats

NOISY, CLEAN = "noisy_ndcg", "ndcg"
# Need -> what a reader wants, and what is measured for it.
NEEDS = {
    NOISY: ("Finding documents in noisy text", "NDCG on perturbed documents"),
    CLEAN: ("Finding documents in clean text", "NDCG on the originals"),
    "clustering": ("Grouping texts by topic", "Clustering"),
    "human_preference": ("Agreeing with people's judgement", "Human preference"),
    "robustness": ("Telling harmless edits from harmful ones", "Robustness"),
    "sensitivity": ("Following how much was changed", "Sensitivity"),
    "retrieval": ("Keeping its own ranking under noise", "Retrieval: retention"),
    OVERALL: ("All five tasks at once", "Overall"),
}
TIED = 1e-9  # values nearer than this are equal


@dataclass(frozen=True)
class Pick:
    """The systems of one need: the best first, reference rows last, each with its estimate.

    `first` is the share of resamples in which a system leads (equal leaders share it); `behind`
    how far it is behind the best, paired, with its interval. Reference rows have no `first`:
    they are no choice, but what a choice must beat.
    """

    need: str
    estimates: dict[System, Estimate]
    first: dict[System, float]
    behind: dict[System, Estimate]

    @property
    def best(self) -> list[System]:
        """The system with the highest score, and those equal to it."""
        top = max(self.estimates[system].value or 0.0 for system in self.first)
        return [s for s in self.first if (self.estimates[s].value or 0.0) >= top - TIED]

    @property
    def level(self) -> list[System]:
        """The others that cannot be told from the best: the interval of the difference holds 0."""
        found = [system for system in self.first if system not in self.best]
        return [system for system in found if (self.behind[system].low or 0.0) <= TIED]

    @property
    def reference(self) -> System | None:
        """The reference row with the highest score."""
        rows = [system for system in self.estimates if system.kind == "reference"]
        return max(rows, key=lambda row: self.estimates[row].value or 0.0, default=None)

    def rows(self) -> list[dict[str, Any]]:
        """Tidy rows: the score under the need's name; `first` and `behind` before a colon."""
        found = []
        for system, estimate in self.estimates.items():
            labels = system.labels | {"corpus": ALL}
            found.append(estimate.row(**labels, measure=self.need))
            if system in self.first:
                share = {"measure": f"first:{self.need}", "value": self.first[system], "note": ""}
                found.append(labels | share)
            found.append(self.behind[system].row(**labels, measure=f"behind:{self.need}"))
        return found

    def cells(self) -> list[Cell]:
        """The line of the printed table."""
        best, reference = self.best, self.reference
        score = self.estimates[best[0]]
        leads = "; ".join(share_text(self.first[system]) for system in best)
        line = [Cell(NEEDS[self.need][0]), Cell("; ".join(system.title for system in best))]
        line.append(score_cell(score.value, score.low, score.high, notes=score.notes))
        line.append(Cell(leads))
        line.append(Cell("; ".join(system.title for system in self.level) or MISSING))
        if reference is None:
            return [*line, Cell(MISSING)]
        found = self.estimates[reference]
        return [*line, score_cell(found.value, found.low, found.high, notes=(reference.title,))]


def build(context: Context) -> Table:
    """Need × (best system, its score, how often it leads, who is level, best reference row)."""
    scores = _scores(context)
    picks = [pick(context, need, scores[need]) for need in NEEDS]
    header = [Cell("For"), Cell("Best"), Cell("Score"), Cell("Leads in"),
              Cell("Cannot be told from it"), Cell("Best reference row")]  # fmt: skip
    body = [found.cells() for found in picks if found.first]
    cutoff = context.params.tasks.retrieval.cutoff
    text = caption.join(
        "; ".join(f"{title}: {measure}" for title, measure in NEEDS.values()) + ".",
        f"NDCG@{cutoff} on perturbed documents is the mean over all perturbations, means over "
        "corpora throughout.",
        "Leads in: share of resamples in which the system has the highest score, equal ones "
        "sharing it. Cannot be told from it: the interval of the difference, taken resample by "
        "resample, holds 0; several comparisons are not corrected for. A reference row knows "
        "nothing of meaning: where it is as high as the best, the score is no ground for a choice.",
        caption.settings(context, "documents, pairs, queries or texts"),
    )
    rows = [row for found in picks for row in found.rows()]
    return Table("Which system for what", text, tidy(rows), [Panel(header, [("", body)])])


def pick(context: Context, need: str, scores: dict[System, Estimate]) -> Pick:
    """Compare the systems of one need; one without a value (a note says why) takes no part."""
    import numpy as np

    known = {s: each for s, each in scores.items() if each.value is not None}
    rows = [system for system in known if system.kind != "reference"]
    if not rows:
        return Pick(need, scores, {}, {system: Estimate(None) for system in scores})
    points = np.array([known[system].value for system in rows])
    draws = np.array([_draws(need, system.name, known[system]) for system in rows])
    draws = draws[:, ~np.isnan(draws).all(axis=0)]  # resamples that leave no score defined
    leaders = draws >= np.nanmax(draws, axis=0) - TIED
    share = (leaders / leaders.sum(axis=0)).mean(axis=1)
    best = int(points.argmax())
    behind = {
        system: _behind(context, known[rows[best]], each) if (each := known.get(system)) else
        Estimate(None, notes=scores[system].notes)
        for system in scores
    }  # fmt: skip
    return Pick(need, scores, dict(zip(rows, map(float, share), strict=True)), behind)


def _behind(context: Context, best: Estimate, other: Estimate) -> Estimate:
    """The best's score minus the other's, with the interval of the difference of their draws."""
    import numpy as np

    if best.value is None or other.value is None or best.draws is None or other.draws is None:
        return Estimate(None)
    gap = np.concatenate([[best.value - other.value], best.draws - other.draws])
    low, high = stats.interval(gap, context.params.bootstrap.level)
    return Estimate(float(gap[0]), low, high, other.n)


def _draws(need: str, system: str, found: Estimate) -> Floats:
    if found.draws is None:
        raise BenchError(f"{need} of system {system!r} has no bootstrap draws; run again")
    return found.draws


def _scores(context: Context) -> dict[str, dict[System, Estimate]]:
    """Need -> system -> estimate with draws, in row order."""
    found, ranked = Found(context), Scores(context, retrieval.TASK)
    scores: dict[str, dict[System, Estimate]] = {need: {} for need in NEEDS}
    for system in context.systems:
        own = found.of(system.name)
        own[CLEAN] = ranked.mean(system.name, "ndcg")
        own[NOISY] = ranked.combine([_noisy(ranked, system.name, c) for c in ranked.corpora])
        for need in NEEDS:
            scores[need][system] = own[need]
    return scores


def _noisy(ranked: Scores, system: str, corpus: str) -> Estimate:
    """Mean NDCG over perturbations: clean NDCG times the mean of what each perturbation leaves."""
    clean = ranked.cell(system, corpus, "ndcg")
    left = ranked.cell(system, corpus, "arithmetic_mean")
    if clean.value is None or left.value is None:
        return Estimate(None, n=clean.n, notes=clean.notes + left.notes)
    name = f"{NOISY} on {corpus}"
    draws = _draws(name, system, clean) * _draws(name, system, left)
    return Estimate(clean.value * left.value, n=clean.n, draws=draws)
