"""Articles as rows of a CSV file in a zip, with a standfirst ("subtitle") by their editors."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sagebench.corpora import archive
from sagebench.corpora.records import Document, Parsed, Query
from sagebench.errors import BenchError
from sagebench.registry import register


@register("parser", "csv_articles")
def csv_articles(
    files: list[Path], member: str, min_text_words: int, min_summary_words: int
) -> Parsed[Document]:
    """Role documents: text and subtitle of the articles in which both are long enough."""
    parsed = Parsed[Document](0)
    for row in _rows(files, member):
        parsed.read += 1
        if _words(row["text"]) < min_text_words:
            parsed.dropped[f"text below {min_text_words} words"] += 1
        elif _words(row["subtitle"]) < min_summary_words:
            parsed.dropped[f"summary below {min_summary_words} words"] += 1
        else:
            parsed.rows.append(Document(row["text"], row["subtitle"], row["article_id"]))
    return parsed


@register("parser", "csv_article_retrieval")
def csv_article_retrieval(
    files: list[Path], member: str, min_text_words: int, min_query_words: int
) -> Parsed[Document]:
    """Role retrieval: the subtitle as the query, the one relevant document is its article.

    A subtitle that several articles share, or that its article repeats word by word, is no query.
    """
    rows = list(_rows(files, member))
    shared = Counter(row["subtitle"].strip() for row in rows)
    parsed = Parsed[Document](len(rows))
    for row in rows:
        if _words(row["text"]) < min_text_words:
            parsed.dropped[f"text below {min_text_words} words"] += 1
            continue
        parsed.rows.append(Document(row["text"], doc_id=row["article_id"]))
        subtitle = row["subtitle"].strip()
        if _words(subtitle) < min_query_words:
            parsed.left_out[f"subtitle below {min_query_words} words"] += 1
        elif shared[subtitle] > 1:
            parsed.left_out["subtitle of several articles"] += 1
        elif _plain(subtitle) in _plain(row["text"]):
            parsed.left_out["subtitle repeated in the text"] += 1
        else:
            parsed.queries.append(Query(row["article_id"], subtitle, (row["article_id"],)))
    return parsed


def _rows(files: list[Path], member: str) -> Iterator[dict[str, str]]:
    csv.field_size_limit(archive.MEMBER_LIMIT)
    for path in files:
        for _, content in archive.members(path, [member]):
            reader = csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""))
            needed = {"article_id", "subtitle", "text"}
            if missing := needed - set(reader.fieldnames or ()):
                raise BenchError(f"{path.name}/{member} has no column {sorted(missing)[0]!r}")
            yield from reader


def _words(text: str) -> int:
    return len(text.split())


def _plain(text: str) -> str:
    """Text for the question whether one repeats the other: no case, one space between words."""
    return " ".join(text.casefold().split())
