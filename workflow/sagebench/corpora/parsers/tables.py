"""Documents as rows of one or several tables: Parquet, JSON lines or CSV."""

from collections.abc import Iterator
from pathlib import Path

from sagebench.corpora.records import Document, Stream
from sagebench.corpora.rows import rows
from sagebench.errors import BenchError
from sagebench.registry import register


@register("parser", "table_documents")
def table_documents(files: list[Path], text: str, summary: str = "") -> Stream:
    """Role documents: the columns that hold the text and, if named, its summary.

    A document without a summary is then left out and counted: it cannot be compared with one.
    """
    columns = [text, *filter(None, [summary])]

    def read() -> Iterator[Document]:
        for path in files:
            for row in rows(path, columns):
                found = [row[name] or "" for name in columns]
                if not all(isinstance(value, str) for value in found):
                    raise BenchError(f"{path}: columns {columns} hold more than texts")
                yield Document(*found)

    return Stream(read, needs_summary=bool(summary))
