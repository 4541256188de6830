"""How far two versions of a table are apart: other bytes need not mean other numbers."""

from pathlib import Path

import polars as pl


def gap(ours: Path, theirs: Path) -> str:
    """In words, for two Parquet files; "" for any other files.

    On another processor the last digits of a vector may differ: a reader can tell that from a
    file that was replaced.
    """
    try:
        left, right = pl.read_parquet(ours), pl.read_parquet(theirs)
    except (OSError, pl.exceptions.PolarsError):
        return ""
    if left.schema != right.schema or left.height != right.height:
        return "other rows or columns"
    gaps = {name: _gap(left[name], right[name]) for name in left.columns}
    for name, found in gaps.items():
        if found is None:
            return f"other values of {name}"
    largest = max(found for found in gaps.values() if found is not None)
    return f"its numbers differ by at most {largest:.1e}" if largest else "its values are equal"


def _gap(left: pl.Series, right: pl.Series) -> float | None:
    """The largest difference of two columns of numbers; None where they differ otherwise."""
    if left.equals(right, null_equal=True):
        return 0.0
    if left.dtype == pl.List:
        if not left.list.len().equals(right.list.len(), null_equal=True):
            return None
        left, right = left.explode(), right.explode()
    if not left.dtype.is_float() or not left.is_null().equals(right.is_null()):
        return None
    difference = (left - right).abs().max()
    return difference if isinstance(difference, float) else None
