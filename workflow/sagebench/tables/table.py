"""What a table is: a tidy frame for machines, panels of formatted cells for readers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sagebench.errors import BenchError

if TYPE_CHECKING:
    import pandas as pd

# The tidy frame's columns. `value`, `low` and `high` are floats, empty where there is none; `n`
# counts the units (documents, pairs, queries, texts) behind the value.
COLUMNS = ["system", "title", "kind", "corpus", "measure", "value", "low", "high", "n", "note"]


@dataclass(frozen=True)
class Cell:
    """What is printed in one place: text, its interval in small brackets, footnotes."""

    text: str
    interval: str = ""
    bold: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """A block of a table: a header, and groups of rows under a title each ("" for none).

    Every row has as many cells as the header; the first is its label.
    """

    header: list[Cell]
    groups: list[tuple[str, list[list[Cell]]]]
    title: str = ""


@dataclass(frozen=True)
class Table:
    """`tidy` becomes the CSV file; title, caption and panels become Markdown and LaTeX."""

    title: str
    caption: str
    tidy: pd.DataFrame
    panels: list[Panel]


def tidy(rows: list[dict[str, Any]], columns: list[str] | None = None) -> pd.DataFrame:
    """Rows as a frame with `columns` (default: those of scores), numbers rounded to 6 digits.

    BenchError for an infinite number, or a value that is missing (None, NaN) without a note.
    """
    import pandas as pd

    frame = pd.DataFrame(rows, columns=columns or COLUMNS)
    for name in frame.columns.intersection(["value", "low", "high", "share"]):
        # Adding 0 turns -0.0 into 0.0, which would print its sign.
        frame[name] = frame[name].astype(float).round(6) + 0.0
        _refuse(frame[frame[name].abs() == float("inf")], f"{name} is infinite")
    if {"value", "note"} <= set(frame.columns):
        silent = frame["value"].isna() & (frame["note"].fillna("") == "")
        _refuse(frame[silent], "there is no value, and no note says why")
    if "n" in frame.columns:
        frame["n"] = frame["n"].astype("Int64")
    return frame


def _refuse(rows: pd.DataFrame, why: str) -> None:
    if len(rows):
        found = {key: rows.iloc[0][key] for key in ("system", "corpus", "measure") if key in rows}
        raise BenchError(f"a table cannot be made of {found}: {why}; run its scores again")


def read(path: Path) -> pd.DataFrame:
    """A tidy frame as it was written to CSV; BenchError if the file is missing or is another."""
    import pandas as pd

    numbers = ["value", "low", "high", "n"]
    try:
        # A system may be called "nan": only numbers can be missing.
        frame = pd.read_csv(path, keep_default_na=False, na_values={name: [""] for name in numbers})
    except (OSError, ValueError) as error:
        raise BenchError(f"table {path} cannot be read ({error}); build the tables first") from None
    if list(frame.columns) != COLUMNS:
        raise BenchError(f"{path} is no table of scores: its columns are {list(frame.columns)}")
    return frame
