"""Changed dates: other days, months, weekdays and years, still valid ones (semantic)."""

import re
from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np

from sagebench.perturbations.base import Transform
from sagebench.registry import register

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_YEARS = 30  # how far a year moves at most

_DAY = r"[0-3]?[0-9](?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"""
    \b(?P<iso>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})\b
  | \b(?P<first>[0-3]?[0-9])(?P<mark>[./-])(?P<second>[0-3]?[0-9])(?P=mark)[12][0-9]{{3}}\b
  | (?:\b(?P<before>{_DAY})\s+(?:of\s+)?)?
    \b(?P<month>{"|".join((*MONTHS, *_SHORT))})\b
    (?:\.?\s+(?P<after>{_DAY})\b)?
  | \b(?P<weekday>{"|".join(WEEKDAYS)})\b
  | (?<![\w.,$€£])(?P<year>1[5-9][0-9]{{2}}|20[0-9]{{2}})\b(?![.,]?[0-9%])
    """,
    re.VERBOSE,
)
_NUMBER_FOLLOWS = re.compile(r"\.?\s+[0-9]")


@register("perturbation", "date_changes")
class DateChanges(Transform):
    """Changes every month, weekday, year and numeric date to another valid one.

    A month becomes one that has the day beside it; a year moves by up to 30; the day and month
    of 31/12/1999 become two numbers up to 12, valid in either order; 1999-12-31 moves by up to
    30 years. Limits: English names with a capital only, so "March" and "May" are always months;
    short names (Jan) only beside a number; any lone 1500 to 2099 counts as a year.
    """

    name = "date_changes"
    title = "Date changes"
    kind = "semantic"
    method = "word"
    action = "substitute"

    def _edit(self, text: str, generator: np.random.Generator) -> str:
        return _DATE.sub(lambda match: _other_date(match, generator), text)


def _other_date(match: re.Match[str], generator: np.random.Generator) -> str:
    if match["iso"]:
        return _other_day(match["iso"], generator)
    if match["mark"]:
        return _other_numeric(match, generator)
    if match["month"]:
        return _other_month(match, generator)
    if match["weekday"]:
        return _other_of(WEEKDAYS, match["weekday"], generator)
    return str(int(match["year"]) + _shift(_YEARS, generator))


def _other_day(day: str, generator: np.random.Generator) -> str:
    shift = timedelta(days=_shift(_YEARS * 365, generator))
    try:
        return (date.fromisoformat(day) + shift).isoformat()
    except (ValueError, OverflowError):  # 2020-13-45 is no date, 9999-12-31 the last one
        return day


def _other_numeric(match: re.Match[str], generator: np.random.Generator) -> str:
    """The day and the month, whichever comes first, anew in the same number of digits."""
    changed = match[0]
    for part in ("second", "first"):  # from the end, so that offsets hold
        start, end = (offset - match.start() for offset in match.span(part))
        options = [
            f"{number:0{end - start}d}" for number in range(1, 10 if end - start == 1 else 13)
        ]
        changed = changed[:start] + _other_of(options, match[part], generator) + changed[end:]
    return changed


def _other_month(match: re.Match[str], generator: np.random.Generator) -> str:
    found = match["month"]
    names = MONTHS if found in MONTHS else _SHORT
    dated = match["before"] or _NUMBER_FOLLOWS.match(match.string, match.end("month"))
    if names is _SHORT and not dated:
        return match[0]
    day = int(re.sub(r"[a-z]", "", match["before"] or match["after"] or "1"))
    long_enough = [name for name, days in zip(names, _LENGTHS, strict=True) if days >= day]
    start, end = (offset - match.start() for offset in match.span("month"))
    return match[0][:start] + _other_of(long_enough, found, generator) + match[0][end:]


def _other_of(options: Sequence[str], found: str, generator: np.random.Generator) -> str:
    others = [option for option in options if option != found]
    return others[generator.integers(len(others))] if others else found


def _shift(limit: int, generator: np.random.Generator) -> int:
    """A number from -limit to limit that is not 0."""
    return int(generator.integers(1, limit + 1)) * int(generator.choice((-1, 1)))
