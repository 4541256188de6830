"""The frames that walk between steps: one schema each, checked when written and when read.

A checker of our own rather than pandera: importing pandera costs about a second, and each of
some three hundred small jobs would pay it.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from sagebench.errors import BenchError

_ROWS = 4_096  # vectors looked at in one piece
_FORMAT: dict[str, Any] = {
    "compression": "zstd", "compression_level": 3, "row_group_size": 50_000,
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column's type and limits. `low`/`high` are inclusive; NaN and infinity never fit."""

    dtype: pl.DataType | type[pl.DataType]
    nullable: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Schema:
    """Columns in order, and the key that makes a row unique (empty: no key)."""

    name: str
    columns: dict[str, Column]
    key: tuple[str, ...] = ()

    def check(self, frame: pl.DataFrame, where: str = "frame") -> pl.DataFrame:
        """`frame` unchanged if it fits; otherwise a BenchError that names column and value."""
        if frame.columns != list(self.columns):
            self._fail(where, f"columns are {frame.columns}, not {list(self.columns)}")
        for name, column in self.columns.items():
            self._check_column(frame[name], column, where)
        if self.key and frame.select(self.key).is_duplicated().any():
            row = frame.filter(frame.select(self.key).is_duplicated()).row(0, named=True)
            self._fail(where, f"key {self.key} repeats: {[row[part] for part in self.key]}")
        return frame

    def _check_column(self, series: pl.Series, column: Column, where: str) -> None:
        if series.dtype != column.dtype:
            self._fail(where, f"{series.name} has type {series.dtype}, not {column.dtype}")
        if not column.nullable and series.null_count():
            self._fail(where, f"{series.name} has {series.null_count()} missing values")
        if wrong := sum(int((~part.is_finite()).sum()) for part in _floats(series)):
            self._fail(where, f"{series.name} has {wrong} NaN or infinite values")
        for limit, outside in (
            (column.low, lambda: series < column.low),
            (column.high, lambda: series > column.high),
        ):
            if limit is not None and (bad := series.filter(outside().fill_null(False))).len():
                self._fail(where, f"{series.name} = {bad[0]} is outside its limit {limit}")

    def _fail(self, where: str, problem: str) -> None:
        raise BenchError(f"{where} is not a valid {self.name} table: {problem}")

    def empty(self) -> pl.DataFrame:
        """A frame with these columns and no rows."""
        return pl.DataFrame(schema={name: c.dtype for name, c in self.columns.items()})


def read(path: Path | str, schema: Schema) -> pl.DataFrame:
    """The checked frame at `path`; BenchError if it is unreadable or does not fit."""
    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BenchError(
            f"{path} cannot be read as Parquet ({type(error).__name__}: {error}); "
            "delete it and run again to rebuild it"
        ) from error
    return schema.check(frame, str(path))


def write(frame: pl.DataFrame, path: Path | str, schema: Schema) -> None:
    """Check, then write zstd Parquet under a new name and rename: never a partial file.

    Equal frames give equal bytes: fixed compression level and row-group size, statistics in
    the file, no time stamp.
    """
    schema.check(frame, str(path))
    with _whole(Path(path)) as temporary:
        frame.rechunk().write_parquet(temporary, **_FORMAT)


def write_parts(parts: Iterable[pl.DataFrame], path: Path | str, schema: Schema) -> None:
    """`write` for a frame that is too large to be held: its parts, one at least, one by one.

    A single part gives the bytes of `write`. The key is checked within each part only.
    """
    coming = iter(parts)
    first, second = next(coming), next(coming, None)
    if second is None:
        write(first, path, schema)
        return
    with _whole(Path(path)) as temporary, TemporaryDirectory(dir=temporary.parent) as folder:
        waiting = []
        for number, part in enumerate(chain((first, second), coming)):
            waiting.append(Path(folder) / f"{number}.parquet")
            schema.check(part, str(path)).write_parquet(waiting[-1], compression="uncompressed")
        pl.scan_parquet(waiting).sink_parquet(temporary, **_FORMAT)


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A name to write under; the file takes `path` if all went well, and goes away if not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield Path(temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _floats(series: pl.Series) -> Iterator[pl.Series]:
    """The column's floating-point numbers, those of vectors too, a few thousand rows at a time."""
    if series.dtype.is_float():
        yield series
    elif isinstance(series.dtype, pl.List) and series.dtype.inner.is_float():
        for start in range(0, series.len(), _ROWS):
            yield series.slice(start, _ROWS).explode()


_text = Column(pl.String)
_maybe_text = Column(pl.String, nullable=True)
_count = Column(pl.Int64, low=0)
# Null where a system gives a text no direction (an empty text): left out and counted, never 0.
_similarity = Column(pl.Float64, nullable=True, low=-1 - 1e-6, high=1 + 1e-6)
_size = Column(pl.Float64, nullable=True, low=0, high=1)
_value = Column(pl.Float64, nullable=True)

# Corpora: one schema per role (data/corpora/, data/samples/).
DOCUMENTS = Schema(
    "documents", {"doc_id": _text, "text": _text, "summary": _maybe_text}, key=("doc_id",)
)
PREFERENCES = Schema(
    "preferences",
    {
        "pair_id": _text,
        "doc_id": _text,
        "text": _text,
        "summary_1": _text,
        "summary_2": _text,
        "choice": Column(pl.Int64, low=1, high=2),  # the summary that people preferred
        "gap": Column(pl.Float64, low=0),  # difference of the two mean human scores
    },
    key=("pair_id",),
)
RATINGS = Schema(
    "ratings",
    {
        "item_id": _text,
        "aspect": _text,
        "text_a": _text,
        "text_b": _text,
        "rating": Column(pl.Float64),  # mean over raters, on the source's own scale
        "raters": _count,  # 0: the source gives only a mean
    },
    key=("item_id", "aspect"),
)
LABELLED = Schema("labelled", {"doc_id": _text, "text": _text, "label": _text}, key=("doc_id",))
QUERIES = Schema("queries", {"query_id": _text, "text": _text}, key=("query_id",))
QRELS = Schema(
    "qrels",
    {"query_id": _text, "doc_id": _text, "relevance": Column(pl.Int64, low=1)},
    key=("query_id", "doc_id"),
)
ROLES = {
    "documents": DOCUMENTS,
    "preferences": PREFERENCES,
    "ratings": RATINGS,
    "labelled": LABELLED,
    "retrieval": DOCUMENTS,  # its queries and qrels lie beside it
}

# Perturbed texts (data/perturbed/<task>/<corpus>/<perturbation>.parquet).
PERTURBED = Schema(
    "perturbed",
    {
        "doc_id": _text,
        "perturbation": _text,
        "size": _size,  # fraction of tokens inserted or removed; null for transforms
        "position": _size,
        "text": _text,
        "changed": Column(pl.Boolean),
        "tokens_before": _count,  # cl100k_base
        "tokens_after": _count,
    },
    key=("doc_id", "perturbation", "size", "position"),
)

# Embeddings (data/embeddings/<task>/<model>.parquet), one row per distinct text.
EMBEDDINGS = Schema(
    "embeddings",
    {
        "text_sha256": _text,
        "vector": Column(pl.List(pl.Float32)),  # L2-normalised; all zeros where not valid
        "tokens": _count,  # the model's own tokens, before truncation
        "truncated": Column(pl.Boolean),
        "valid": Column(pl.Boolean),  # False: the model gives no direction (e.g. empty text)
    },
    key=("text_sha256",),
)

# Similarities (data/similarity/<task>/<corpus>/<system>.parquet), by task.
# `comparison` is "summary", "1"/"2", a perturbation or an aspect, depending on the task.
SIMILARITY = {
    "human_preference": Schema(
        "human preference similarities",
        {"item_id": _text, "comparison": _text, "similarity": _similarity},
        key=("item_id", "comparison"),
    ),
    "robustness": Schema(
        "robustness similarities",
        {"doc_id": _text, "comparison": _text, "kind": _text, "similarity": _similarity},
        key=("doc_id", "comparison"),
    ),
    "sensitivity": Schema(
        "sensitivity similarities",
        {
            "doc_id": _text,
            "comparison": _text,
            "size": Column(pl.Float64, low=0, high=1),
            "position": Column(pl.Float64, low=0, high=1),
            "similarity": _similarity,
        },
        key=("doc_id", "comparison", "size", "position"),
    ),
    "clustering": Schema(  # condensed upper triangle, row-major over the sample's order
        "clustering similarities",
        {"similarity": Column(pl.Float32, low=-1 - 1e-5, high=1 + 1e-5)},
    ),
    "retrieval": Schema(
        "rankings",
        {
            "layout": _text,  # what the corpus holds; the original one is the same in all
            "perturbation": _text,  # "original", or "name", or "name@size@position"
            "query_id": _text,
            "rank": Column(pl.Int64, low=1),
            "doc_id": _text,
            "relevance": Column(pl.Int64, low=0),  # under the layout
            "similarity": Column(pl.Float64),
            "tied": Column(pl.Boolean),  # shares its similarity with another document
        },
        key=("layout", "perturbation", "query_id", "rank"),
    ),
}

# Scores (data/scores/<task>/<corpus>.{units,cells,draws}.parquet).
UNITS = Schema(
    "units",
    {"system": _text, "measure": _text, "unit": _text, "value": _value},
    key=("system", "measure", "unit"),
)
CELLS = Schema(
    "cells",
    {
        "system": _text,
        "measure": _text,
        "value": _value,  # null only with a `note` that says why
        "low": _value,
        "high": _value,
        "n": _count,  # documents, pairs, queries or texts behind the value
        "ties": _count,
        "note": _text,  # "" or why the value is missing or unusual
    },
    key=("system", "measure"),
)
DRAWS = Schema(
    "bootstrap draws",
    {"system": _text, "measure": _text, "draw": _count, "value": _value},
    key=("system", "measure", "draw"),
)
