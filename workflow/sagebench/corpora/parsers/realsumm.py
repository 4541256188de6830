"""REALSumm: news articles, the summaries of many systems, and how much of the reference each has.

`files` are the articles ({doc_id, document}, JSON lines) and the summaries ({doc_id, system_type,
system, summary, litepyramid_recall}). The recall is human: the share of the reference's content
units that judges found in the summary (Bhandari et al. 2020).
"""

import itertools
from pathlib import Path
from typing import Any

from sagebench.corpora.parsers.json_documents import json_lines
from sagebench.corpora.records import Choice, Parsed, Rating
from sagebench.errors import BenchError
from sagebench.registry import register

_SCORE = "litepyramid_recall"


@register("parser", "realsumm_ratings")
def realsumm_ratings(files: list[Path], aspect: str = "pyramid recall") -> Parsed[Rating]:
    """Role ratings: the recall of every summary, from 0 to 1; the source gives no raters."""
    parsed = Parsed[Rating](0)
    for document, summaries in _by_document(files):
        for row in summaries:
            rating = Rating(document, row["summary"], aspect, float(row[_SCORE]), 0)
            parsed.rows.append(rating)
    parsed.read = len(parsed.rows)
    return parsed


@register("parser", "realsumm_choices")
def realsumm_choices(files: list[Path]) -> Parsed[Choice]:
    """Role preferences: every pair of systems on every article; the higher recall is chosen."""
    parsed = Parsed[Choice](0)
    for document, summaries in _by_document(files):
        for one, two in itertools.combinations(summaries, 2):
            parsed.read += 1
            if one["summary"] == two["summary"]:
                parsed.dropped["the same summary by two systems"] += 1
                continue
            scores = float(one[_SCORE]), float(two[_SCORE])
            parsed.rows.append(Choice(document, one["summary"], two["summary"], *scores))
    return parsed


def _by_document(files: list[Path]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Articles with their summaries, by system: the first of two equal records is kept."""
    articles, summaries = files
    texts = {row["doc_id"]: row["document"] for row in json_lines(articles, "doc_id", "document")}
    grouped: dict[Any, list[dict[str, Any]]] = {name: [] for name in texts}
    for row in json_lines(summaries, "doc_id", "system_type", "system", "summary", _SCORE):
        if row["doc_id"] not in grouped:
            raise BenchError(f"{summaries.name}: a summary of the unknown article {row['doc_id']}")
        grouped[row["doc_id"]].append(row)
    for rows in grouped.values():
        rows.sort(key=lambda row: (row["system_type"], row["system"]))
    return [(texts[name], rows) for name, rows in grouped.items()]
