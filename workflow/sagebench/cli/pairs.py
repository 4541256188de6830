"""Files of text pairs: read whatever a user has, refuse what is no text."""

import csv
from collections.abc import Callable, Collection
from pathlib import Path

import polars as pl

from sagebench import registry
from sagebench.errors import BenchError


def _separated(separator: str) -> Callable[[Path], pl.DataFrame]:
    """A reader of all columns as texts: "007" and "nan" stay, a row of other length is refused."""

    def read_file(path: Path) -> pl.DataFrame:
        # Not polars: it completes a row that is too short.
        csv.field_size_limit(2**31 - 1)
        with open(path, encoding="utf-8-sig", newline="") as stream:
            lines = csv.reader(stream, delimiter=separator, strict=True)
            header = next(lines, [])
            rows = []
            for row in filter(None, lines):
                if len(row) != len(header):
                    raise ValueError(
                        f"line {lines.line_num} has {len(row)} values for {len(header)} columns"
                    )
                rows.append(row)
        if len(set(header)) < len(header):
            raise ValueError(f"two columns have one name: {header}")
        return pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")

    return read_file


_READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
    ".json": pl.read_json,
    ".jsonl": pl.read_ndjson,
    ".ndjson": pl.read_ndjson,
    ".parquet": pl.read_parquet,
}


def read(path: Path, *columns: str) -> pl.DataFrame:
    """The file with all its columns, of which `columns` are texts.

    BenchError if it cannot be read, a column is missing, is no text, or has a missing value.
    """
    if path.suffix.lower() not in _READERS:
        raise registry.unknown(f"suffix of {path.name!r}:", path.suffix, _READERS)
    try:
        frame = _READERS[path.suffix.lower()](path)
    except (OSError, ValueError, csv.Error, pl.exceptions.PolarsError) as error:
        raise BenchError(f"{path} cannot be read as {path.suffix} ({error})") from error
    for name in columns:
        if name not in frame.columns:
            raise registry.unknown(f"column of {path.name}", name, frame.columns)
        if frame[name].dtype != pl.String and frame.height:
            raise BenchError(f"{path}: column {name!r} holds {frame[name].dtype}, not texts")
        if frame[name].null_count():
            row = frame[name].is_null().arg_true()[0] + 1
            raise BenchError(f"{path}: column {name!r} has no text in row {row}")
    return frame


def column_name(metric: str, taken: Collection[str]) -> str:
    """The name of a metric's column; BenchError if the file already has one of that name."""
    if metric in taken:
        raise BenchError(f"the file already has a column {metric!r}: rename it")
    return metric
