"""NaN and infinity end before a table: what is missing is empty, counted, and says why."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sagebench import frames
from sagebench.errors import BenchError
from sagebench.tables.table import tidy
from sagebench.tasks.scorebook import Scorebook

NO_NUMBERS = [math.nan, math.inf, -math.inf]
SCHEMAS = [each for each in vars(frames).values() if isinstance(each, frames.Schema)]
SCHEMAS += [*frames.SIMILARITY.values()]
ROW = {"system": "s", "title": "S", "kind": "metric", "corpus": "c", "measure": "m"}


def _floats(column: frames.Column) -> bool:
    dtype = column.dtype
    return dtype.is_float() or (isinstance(dtype, pl.List) and dtype.inner.is_float())


@pytest.mark.parametrize("number", NO_NUMBERS)
@pytest.mark.parametrize(
    ("schema", "name"),
    [(each, name) for each in SCHEMAS for name, c in each.columns.items() if _floats(c)],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_no_frame_holds_one(schema: frames.Schema, name: str, number: float) -> None:
    samples = {pl.String: "x", pl.Int64: 1, pl.Float64: 0.5, pl.Float32: 0.5, pl.Boolean: True}
    row = {
        key: [[0.5, 1.0]] if isinstance(c.dtype, pl.List) else [samples[c.dtype]]
        for key, c in schema.columns.items()
    }
    types = {key: c.dtype for key, c in schema.columns.items()}
    schema.check(pl.DataFrame(row, schema=types))
    row[name] = [[0.5, number]] if isinstance(types[name], pl.List) else [number]
    with pytest.raises(BenchError, match=f"{name} has 1 NaN or infinite"):
        schema.check(pl.DataFrame(row, schema=types))


@given(st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=2, max_size=6))
def test_a_cell_has_a_number_or_a_reason(values: list[float]) -> None:
    spec = {"corpus": "c", "seed": 1, "bootstrap": {"resamples": len(values) - 1, "level": 0.95}}
    book = Scorebook("t", ["a", "b"], "texts", spec)
    book.unit_values("s", "m", np.array([0.5, math.nan]))
    book.cell("s", "m", np.array(values), n=2)
    _, cells, draws = book.result()
    cell = cells.row(0, named=True)
    assert (cell["value"] is None) == math.isnan(values[0])
    assert (cell["note"] != "") == math.isnan(values[0])
    assert draws["value"].null_count() == sum(map(math.isnan, values[1:]))


@pytest.mark.parametrize("number", [math.inf, -math.inf])
@pytest.mark.parametrize("name", ["value", "low", "high"])
def test_a_table_refuses_infinity(name: str, number: float) -> None:
    row = ROW | {"value": 0.5, "low": 0.4, "high": 0.6, "n": 3, "note": ""} | {name: number}
    with pytest.raises(BenchError, match=f"'measure': 'm'.*{name} is infinite"):
        tidy([row])


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_value_needs_its_reason(missing: float | None) -> None:
    row = ROW | {"value": missing, "low": None, "high": None, "n": 0, "note": ""}
    with pytest.raises(BenchError, match="no note says why"):
        tidy([row])
    kept = tidy([row | {"note": "3 of 3 documents left out: no similarity"}])
    assert ",,,,0,3 of 3" in kept.to_csv(index=False)
