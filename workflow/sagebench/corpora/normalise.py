"""From a parser's records to the checked frames of a role: repaired, without duplicates, sorted."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from sagebench import frames, rng
from sagebench.corpora.clean import Cleaner, has_word
from sagebench.corpora.records import Choice, Document, Labelled, Parsed, Rating

NO_TEXT = "no text"
DUPLICATE = "duplicate"


@dataclass
class Normalised:
    """The frames ("sample": the role's rows; retrieval: "queries" and "qrels"), and the counts."""

    frames: dict[str, pl.DataFrame]
    clean: Cleaner
    dropped: Counter[str]  # reason -> records
    left_out: Counter[str]  # reason -> queries
    # Duplicates that disagree about the label, summary or rating; the first was kept.
    conflicts: int = 0


def normalise(role: str, parsed: Parsed[Any]) -> Normalised:
    """Frames of `role`, rows sorted by their key whatever the order of the records."""
    result = Normalised({}, Cleaner(), Counter(parsed.dropped), Counter(parsed.left_out))
    _ROLES[role](parsed, result)
    return result


def content_id(*texts: str) -> str:
    """12 hex digits that depend on the texts alone."""
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:12]


def _documents(parsed: Parsed[Document], result: Normalised) -> None:
    kept = _Unique(result)
    for record in parsed.rows:
        text = result.clean(record.text)
        summary = result.clean(record.summary or "")
        row = {
            "doc_id": record.doc_id or content_id(text),
            "text": text,
            "summary": summary if has_word(summary) else None,
        }
        kept.add((text,), row, disagreeing=row["summary"], texts=[text])
    result.frames["sample"] = _frame(frames.DOCUMENTS, kept.rows)


def _labelled(parsed: Parsed[Labelled], result: Normalised) -> None:
    kept = _Unique(result)
    for record in parsed.rows:
        text = result.clean(record.text)
        row = {"doc_id": record.doc_id or content_id(text), "text": text, "label": record.label}
        kept.add((text,), row, disagreeing=record.label, texts=[text])
    result.frames["sample"] = _frame(frames.LABELLED, kept.rows)


def _ratings(parsed: Parsed[Rating], result: Normalised) -> None:
    kept = _Unique(result)
    for record in parsed.rows:
        pair = (result.clean(record.text_a), result.clean(record.text_b))
        row = {
            "item_id": content_id(*pair),
            "aspect": record.aspect,
            "text_a": pair[0],
            "text_b": pair[1],
            "rating": record.rating,
            "raters": record.raters,
        }
        kept.add((*pair, record.aspect), row, disagreeing=record.rating, texts=pair)
    result.frames["sample"] = _frame(frames.RATINGS, kept.rows)


def _preferences(parsed: Parsed[Choice], result: Normalised) -> None:
    """Which of the two summaries stands first is drawn by a hash: `choice` is balanced."""
    kept = _Unique(result)
    for record in parsed.rows:
        text = result.clean(record.text)
        scored = [
            (result.clean(record.summary_1), record.score_1),
            (result.clean(record.summary_2), record.score_2),
        ]
        if record.score_1 == record.score_2:
            result.dropped["equal human scores"] += 1
            continue
        scored.sort()
        pair_id = content_id(text, scored[0][0], scored[1][0])
        if rng.seed_for(0, "pair order", pair_id) % 2:
            scored.reverse()
        (first, score_1), (second, score_2) = scored
        row = {
            "pair_id": pair_id,
            "doc_id": content_id(text),
            "text": text,
            "summary_1": first,
            "summary_2": second,
            "choice": 1 if score_1 > score_2 else 2,
            "gap": round(abs(score_1 - score_2), 9),  # a difference of means of 0.5 is 0.5
        }
        kept.add((pair_id,), row, disagreeing=row["choice"], texts=[text, first, second])
    result.frames["sample"] = _frame(frames.PREFERENCES, kept.rows)


def _retrieval(parsed: Parsed[Document], result: Normalised) -> None:
    """A duplicate's relevance goes to the document, or the query, that was kept."""
    _documents(parsed, result)
    by_text = {row["text"]: row["doc_id"] for row in result.frames["sample"].to_dicts()}
    kept_id = {
        record.doc_id: by_text[text]
        for record in parsed.rows
        if (text := result.clean(record.text)) in by_text
    }
    queries: dict[str, tuple[str, set[str]]] = {}
    for query in parsed.queries:
        text = result.clean(query.text)
        relevant = {kept_id[doc_id] for doc_id in query.relevant if doc_id in kept_id}
        if not has_word(text):
            result.left_out[NO_TEXT] += 1
        elif not relevant:
            result.left_out["no relevant document"] += 1
        elif text in queries:
            result.left_out[DUPLICATE] += 1
            queries[text][1].update(relevant)
        else:
            queries[text] = (query.query_id, relevant)
    result.frames["queries"] = _frame(
        frames.QUERIES, [{"query_id": q, "text": text} for text, (q, _) in queries.items()]
    )
    judgements = [
        {"query_id": query_id, "doc_id": doc_id, "relevance": 1}
        for query_id, relevant in queries.values()
        for doc_id in relevant
    ]
    result.frames["qrels"] = _frame(frames.QRELS, judgements)


class _Unique:
    """Rows in the order of the source: the first of equal ones stays, the rest is counted."""

    def __init__(self, result: Normalised) -> None:
        self.rows: list[dict[str, Any]] = []
        self._result = result
        self._seen: dict[tuple[str, ...], object] = {}

    def add(
        self, key: tuple[str, ...], row: dict[str, Any], disagreeing: object, texts: Iterable[str]
    ) -> None:
        if not all(map(has_word, texts)):
            self._result.dropped[NO_TEXT] += 1
        elif key in self._seen:
            self._result.dropped[DUPLICATE] += 1
            self._result.conflicts += self._seen[key] != disagreeing
        else:
            self._seen[key] = disagreeing
            self.rows.append(row)


def _frame(schema: frames.Schema, rows: list[dict[str, Any]]) -> pl.DataFrame:
    types = {name: column.dtype for name, column in schema.columns.items()}
    return pl.DataFrame(rows, schema=types, orient="row").sort(schema.key)


_ROLES: dict[str, Callable[[Parsed[Any], Normalised], None]] = {
    "documents": _documents,
    "preferences": _preferences,
    "ratings": _ratings,
    "labelled": _labelled,
    "retrieval": _retrieval,
}
