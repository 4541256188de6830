"""Rows of a table, one at a time: Parquet, JSON lines or delimited text, told by their bytes.

Names do not tell: what was `corpus.jsonl` at one revision is `corpus.jsonl.gz` or Parquet at
another. A file is never held as a whole, only a batch of rows or a line.
"""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sagebench.errors import BenchError

_BATCH = 2_000  # rows of a Parquet file at a time
_LIMIT = 256 << 20  # bytes of one line, characters of one field of delimited text
Row = dict[str, Any]


def rows(
    path: Path, columns: Sequence[str], optional: Sequence[str] = (), delimiter: str = ","
) -> Iterator[Row]:
    """The rows of `path` as {column: value}, in the file's order; an optional column may be absent.

    BenchError names a missing column with those that are there, or the line that is not JSON.
    """
    with path.open("rb") as stream:
        magic = stream.read(4)
    if magic == b"PAR1":
        yield from _parquet(path, columns, optional)
        return
    opener: Callable[..., Any] = gzip.open if magic[:2] == b"\x1f\x8b" else open
    try:
        with closing(opener(path, "rb")) as stream:
            first = stream.peek(64).lstrip()[:1]
            as_json = first in (b"{", b"")
            found = _json_lines(path, stream) if as_json else _delimited(path, stream, delimiter)
            for number, row in enumerate(found, 1):
                if missing := [name for name in columns if name not in row]:
                    raise no_column(path, missing[0], list(row), f", row {number}")
                yield row
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise BenchError(f"{path} cannot be read: {error}; delete it and fetch again") from error


def _json_lines(path: Path, stream: Any) -> Iterator[Row]:
    # Bytes are split at "\n" only: characters such as U+2028 may stand inside a text.
    for number, line in enumerate(_lines(path, stream), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BenchError(f"{path}, line {number} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise BenchError(f"{path}, line {number} is no JSON object")
        yield row


def _delimited(path: Path, stream: Any, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(_LIMIT)
    text = _lines(path, io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""))
    if delimiter == "\t":  # a quotation mark is a character like any other
        yield from csv.DictReader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        yield from csv.DictReader(text, delimiter=delimiter)


def _lines(path: Path, stream: Any) -> Iterator[Any]:
    """Line by line; BenchError at one that no text is: a packed file may hold one without end."""
    while line := stream.readline(_LIMIT + 1):
        if len(line) > _LIMIT:
            raise BenchError(f"{path} has a line above {_LIMIT >> 20} MiB")
        yield line


def _parquet(path: Path, columns: Sequence[str], optional: Sequence[str]) -> Iterator[Row]:
    import polars as pl

    try:
        scan = pl.scan_parquet(path)
        there = scan.collect_schema().names()
        if missing := [name for name in columns if name not in there]:
            raise no_column(path, missing[0], there, "")
        wanted = [*columns, *(name for name in optional if name in there)]
        batches = scan.select(wanted).collect_batches(chunk_size=_BATCH, maintain_order=True)
        for batch in batches:
            yield from batch.iter_rows(named=True)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BenchError(f"{path} cannot be read: {error}; delete it and fetch again") from error


def no_column(path: Path, name: str, there: list[str], where: str) -> BenchError:
    """The error for a column that a file lacks; `where` follows the file's name."""
    return BenchError(
        f"{path}{where} has no column {name!r}; there are {', '.join(map(str, there))}. The "
        "data set's schema has changed: pin the revision that this project knows"
    )
