"""Collections in the layout of BEIR: a corpus, queries, and who is relevant to whom."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sagebench.corpora.records import Document, Query, Stream
from sagebench.corpora.rows import Row, no_column, rows
from sagebench.errors import BenchError
from sagebench.registry import register

_IDS = ("_id", "id")  # how the id's column is called, the first that is there


@register("parser", "beir")
def beir(files: list[Path]) -> Stream:
    """Role retrieval: `files` are the corpus, the queries and one split's judgements.

    A document is its title, a space and its text, as BEIR reads it. The queries of all splits lie
    in one file: those without a positive judgement in this split are left out and counted.
    """
    corpus, query_file, judgements = files
    relevant, others = _relevant(judgements)
    queries, left_out = [], Counter({"judged with score 0 only": others})
    for row in _identified(query_file):
        query_id = str(row["_id"])
        if query_id in relevant:
            doc_ids = tuple(dict.fromkeys(relevant.pop(query_id)))
            queries.append(Query(query_id, row["text"] or "", doc_ids))
        else:
            left_out["not judged in this split"] += 1
    left_out["not judged in this split"] -= others
    left_out["judged, but without a text"] = len(relevant)

    def read() -> Iterator[Document]:
        for row in _identified(corpus, optional=("title",)):
            text = f"{row.get('title') or ''} {row['text'] or ''}".strip()
            yield Document(text, doc_id=str(row["_id"]))

    return Stream(read, queries, +left_out)


def _identified(path: Path, optional: tuple[str, ...] = ()) -> Iterator[Row]:
    """Rows with a text and an `_id`, which some copies of a collection call `id`."""
    for number, row in enumerate(rows(path, ("text",), (*optional, *_IDS)), 1):
        if (name := next((name for name in _IDS if name in row), None)) is None:
            raise no_column(path, " or ".join(_IDS), list(row), f", row {number}")
        yield row | {"_id": row[name]}


def _relevant(path: Path) -> tuple[dict[str, list[str]], int]:
    """Query -> its relevant documents; and how many queries have judgements, but no positive."""
    relevant: dict[str, list[str]] = {}
    judged = set()
    for row in rows(path, ("query-id", "corpus-id", "score"), delimiter="\t"):
        query_id = str(row["query-id"])
        judged.add(query_id)
        try:
            positive = float(row["score"]) > 0
        except (TypeError, ValueError):
            raise BenchError(
                f"{path}: score {row['score']!r} of query {query_id} is no number"
            ) from None
        if positive:
            relevant.setdefault(query_id, []).append(str(row["corpus-id"]))
    return relevant, len(judged - relevant.keys())
