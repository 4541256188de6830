"""Scored summaries: JSON lists of {text, summary, scores, annotators_ids} (the BLANC data sets).

One text has one to four summaries, each scored 0 to 4 by about ten people.
"""

import itertools
import json
from pathlib import Path
from statistics import fmean
from typing import Any

from sagebench.corpora.records import Choice, Document, Parsed, Rating
from sagebench.registry import register


@register("parser", "scored_summaries")
def scored_summaries(files: list[Path], aspect: str = "overall") -> Parsed[Rating]:
    """Role ratings: how good people found each summary, as one `aspect`."""
    rows = _load(files)
    ratings = [
        Rating(row["text"], row["summary"], aspect, fmean(row["scores"]), len(row["scores"]))
        for row in rows
    ]
    return Parsed(len(rows), ratings)


@register("parser", "aspect_scored_summaries")
def aspect_scored_summaries(files: list[Path]) -> Parsed[Rating]:
    """Role ratings: the scores lie under `map_quality_scores`, one entry an aspect."""
    ratings = [
        Rating(
            row["text"],
            row["summary"],
            aspect.lower(),
            fmean(scored["scores"]),
            len(scored["scores"]),
        )
        for row in _load(files)
        for aspect, scored in row["map_quality_scores"].items()
    ]
    return Parsed(len(ratings), ratings)


@register("parser", "scored_summary_choices")
def scored_summary_choices(files: list[Path]) -> Parsed[Choice]:
    """Role preferences: every pair of summaries of one text; the better mean score is chosen."""
    choices = [
        Choice(text, one["summary"], two["summary"], fmean(one["scores"]), fmean(two["scores"]))
        for text, rows in _by_text(_load(files)).items()
        for one, two in itertools.combinations(rows, 2)
    ]
    return Parsed(len(choices), choices)


@register("parser", "single_summary_documents")
def single_summary_documents(files: list[Path]) -> Parsed[Document]:
    """Role documents: texts that have exactly one summary, so that nothing has to be chosen."""
    by_text = _by_text(_load(files))
    parsed = Parsed[Document](len(by_text))
    for text, rows in by_text.items():
        if len(rows) == 1:
            parsed.rows.append(Document(text, rows[0]["summary"]))
        else:
            parsed.dropped["several summaries, the reference unmarked"] += 1
    return parsed


def _load(files: list[Path]) -> list[dict[str, Any]]:
    return [row for path in files for row in json.loads(path.read_text(encoding="utf-8"))]


def _by_text(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        grouped.setdefault(row["text"], []).append(row)
    return grouped
