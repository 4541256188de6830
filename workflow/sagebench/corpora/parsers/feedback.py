"""summarize_from_feedback: people's choices between summaries, and their ratings on four axes."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from sagebench.corpora.records import Choice, Parsed, Rating
from sagebench.corpora.rows import rows
from sagebench.errors import BenchError
from sagebench.registry import register

AXES = ("overall", "accuracy", "coverage", "coherence")
_LOWEST, _HIGHEST = 1, 7


@register("parser", "feedback_choices")
def feedback_choices(files: list[Path], split: str) -> Parsed[Choice]:
    """Role preferences: choices of one raw `split` (train, valid1 or valid2).

    What several workers say of one pair is joined: a summary's score is its share of the votes.
    """
    votes: dict[tuple[str, str, str], list[int]] = {}
    parsed = Parsed[Choice](0)
    known: dict[str, str] = {}  # one copy of a post that stands in many rows
    for path, row in _of_split(files, ("info", "summaries", "choice", "split"), split):
        parsed.read += 1
        text = _source(row["info"])
        texts = [summary["text"] or "" for summary in row["summaries"]]
        if len(texts) != 2 or row["choice"] not in (0, 1):
            raise BenchError(
                f"{path}: {len(texts)} summaries and choice {row['choice']!r}, where 2 and one of "
                "0, 1 are expected: the data set's schema has changed"
            )
        if not text:
            parsed.dropped["no source text"] += 1
        elif texts[0] == texts[1]:
            parsed.dropped["equal summaries"] += 1
        else:
            one, two = sorted(texts)
            pair = votes.setdefault((known.setdefault(text, text), one, two), [0, 0])
            parsed.dropped["joined with another worker's choice"] += sum(pair) > 0
            pair[texts[row["choice"]] == two] += 1
    parsed.dropped = +parsed.dropped
    for (text, one, two), (first, second) in votes.items():
        total = first + second
        parsed.rows.append(Choice(text, one, two, first / total, second / total))
    return parsed


@register("parser", "feedback_ratings")
def feedback_ratings(
    files: list[Path], source: Literal["post", "article"], split: str = ""
) -> Parsed[Rating]:
    """Role ratings: the 1 to 7 ratings of summaries of posts or of articles, axis by axis.

    An axis without a rating is left out alone, its row stays. Ratings of one summary by several
    workers are averaged. `split`: a raw split, or all.
    """
    values: dict[tuple[str, str, str], list[int]] = {}
    dropped: Counter[str] = Counter()
    read = 0
    for _, row in _of_split(files, ("info", "summary", "split"), split):
        text = row["info"].get(source)
        if not text and _source(row["info"]):
            continue  # of the other source: another corpus has it
        for axis in AXES:
            read += 1
            value = row["summary"]["axes"].get(axis)
            if not text:
                dropped["no source text"] += 1
            elif value is None:
                dropped[f"no rating of {axis}"] += 1
            elif not _LOWEST <= value <= _HIGHEST:
                dropped[f"rating of {axis} outside {_LOWEST} to {_HIGHEST}"] += 1
            else:
                found = values.setdefault((text, row["summary"]["text"] or "", axis), [])
                dropped["joined with another worker's rating"] += bool(found)
                found.append(value)
    ratings = [
        Rating(text, summary, axis, fmean(found), len(found))
        for (text, summary, axis), found in values.items()
    ]
    return Parsed(read, ratings, dropped=+dropped)


def _of_split(
    files: list[Path], columns: tuple[str, ...], split: str
) -> Iterator[tuple[Path, dict[str, Any]]]:
    found = set()
    for path in files:
        for row in rows(path, columns):
            found.add(row["split"])
            if split in ("", row["split"]):
                yield path, row
    if split and split not in found:
        names = ", ".join(sorted(map(str, found))) or "none"
        raise BenchError(f"no row is of split {split!r}; the files have {names}")


def _source(info: dict[str, Any]) -> str:
    """The post (TL;DR) or the article (CNN/DailyMail): the other one is null."""
    return info.get("post") or info.get("article") or ""
