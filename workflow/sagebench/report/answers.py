"""Which system for what, in words: read from the table of picks, judged by its differences."""

from dataclasses import dataclass

from sagebench.report.rows import Row, Scores
from sagebench.tables.picks import NEEDS, TIED

# Verdict -> how it is called. "none": a row that knows nothing of meaning is as good.
VERDICTS = {
    "clear": "clear",
    "likely": "likely",
    "draw": "a draw",
    "none": "no ground for a choice",
}
_LIKELY = 0.8  # share of resamples in which the best leads


@dataclass(frozen=True)
class Answer:
    """The answer for one need, every number a row of picks.csv.

    best: the highest score, and those equal to it; level: the others whose paired difference from
    the best has an interval that holds 0; next: the first that has not, with that difference;
    reference: the highest row that knows nothing of meaning, and the best's lead over it.
    """

    need: str
    title: str
    measure: str
    best: list[Row]
    level: list[Row]
    leads: list[Row]
    next: tuple[Row, Row] | None
    reference: tuple[Row, Row] | None
    verdict: str

    @property
    def word(self) -> str:
        """The verdict for readers."""
        return VERDICTS[self.verdict]


def answers(picks: Scores) -> list[Answer]:
    """One answer per need that some system has a score for."""
    return [_answer(picks, need) for need in NEEDS if _ranked(picks, need)]


def _ranked(picks: Scores, need: str) -> list[Row]:
    """The systems with a value, best first, in row order where equal."""
    rows = [row for row in picks.of(need) if row.kind != "reference"]
    return sorted(rows, key=lambda row: -(row.value or 0.0))


def _answer(picks: Scores, need: str) -> Answer:
    ranked = _ranked(picks, need)
    top = ranked[0].value or 0.0
    best = [row for row in ranked if (row.value or 0.0) >= top - TIED]
    others = [(row, behind) for row in ranked[len(best) :] if (behind := _behind(picks, need, row))]
    level = [row for row, behind in others if (behind.low or 0.0) <= TIED]
    below = [pair for pair in others if pair[0] not in level]
    leads = [found for row in best if (found := picks.get(row.system, f"first:{need}"))]
    blind = max(
        (row for row in picks.of(need) if row.kind == "reference"),
        key=lambda row: row.value or 0.0,
        default=None,
    )
    lead = _behind(picks, need, blind) if blind else None
    reference = (blind, lead) if blind and lead else None
    title, measure = NEEDS[need]
    verdict = _verdict(reference, level, leads)
    return Answer(
        need, title, measure, best, level, leads, below[0] if below else None, reference, verdict
    )


def _behind(picks: Scores, need: str, row: Row) -> Row | None:
    found = picks.get(row.system, f"behind:{need}")
    return found if found and found.value is not None else None


def _verdict(reference: tuple[Row, Row] | None, level: list[Row], leads: list[Row]) -> str:
    if reference and (reference[1].low or 0.0) <= TIED:
        return "none"
    if not level:
        return "clear"
    return "likely" if sum(row.value or 0.0 for row in leads) >= _LIKELY else "draw"
