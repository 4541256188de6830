"""How results are printed: for a reader, or as CSV or JSON for a program."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

FORMATS = ("table", "csv", "json")
_WIDTH = 48  # characters of a text that a table shows


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare --format, --json and --output."""
    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="for readers (default), or programs"
    )
    parser.add_argument(
        "--json",
        action="store_const",
        const="json",
        dest="format",
        help="as --format json",
    )
    out = parser.add_argument(
        "--output", type=Path, metavar="FILE", help="instead of standard output"
    )
    complete_files(out)


def complete_files(action: argparse.Action) -> None:
    """Let a shell complete an option's value as the name of a file."""
    action.complete = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}  # type: ignore[attr-defined]


def write(
    frame: "pl.DataFrame",
    options: argparse.Namespace,
    table: Callable[["pl.DataFrame"], str],
) -> None:
    """The frame in the chosen format; nulls are empty in CSV and null in JSON."""
    if options.format == "csv":
        text = frame.write_csv()
    elif options.format == "json":
        text = frame.write_json() + "\n"
    else:
        text = table(frame)
    if options.output:
        from sagebench.corpora.files import write_bytes

        write_bytes(options.output, text.encode("utf-8", "backslashreplace"))
    else:
        sys.stdout.write(text)


def pick_tables(frame: "pl.DataFrame", names: Sequence[str]) -> "pl.DataFrame":
    """The cells of the named tables; BenchError if there is none of that name."""
    import polars as pl

    from sagebench import registry

    known = frame["table"].unique(maintain_order=True).to_list()
    for name in names:
        if name not in known:
            raise registry.unknown("table of this run", name, known)
    return frame.filter(pl.col("table").is_in(list(names)))


def scores_table(frame: "pl.DataFrame") -> str:
    """A block per table and corpus: a system a row, a measure a column, intervals in brackets."""
    blocks = []
    for (name, corpus), part in frame.group_by("table", "corpus", maintain_order=True):
        measures = part["measure"].unique(maintain_order=True).to_list()
        lines = [["system", *measures]]
        for _, cells in part.group_by("system", maintain_order=True):
            found = {row["measure"]: _cell(row) for row in cells.to_dicts()}
            lines.append([cells["title"][0], *(found.get(measure, "") for measure in measures)])
        blocks.append(f"{name}, {corpus}\n{_aligned(lines)}")
    notes = frame.filter(frame["note"] != "").unique(["title", "note"], maintain_order=True)
    text = "\n".join(blocks)
    for row in notes.to_dicts():
        text += f"\n{row['title']}: {row['measure']}: {row['note']}"
    return text.rstrip("\n") + "\n"


def plain_table(frame: "pl.DataFrame") -> str:
    """Every row, whole, on one line each and without control characters."""
    lines = [list(map(_printable, row)) for row in [frame.columns, *frame.iter_rows()]]
    return _aligned(lines)


def short_table(frame: "pl.DataFrame") -> str:
    """The same with long texts cut."""
    lines = [list(map(_printable, row)) for row in [frame.columns, *frame.iter_rows()]]
    return _aligned([[c if len(c) <= _WIDTH else c[: _WIDTH - 1] + "…" for c in x] for x in lines])


def _cell(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "–"
    if row["low"] is None:
        return f"{row['value']:.3f}"
    return f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def _printable(value: object) -> str:
    from sagebench.tables.plain import one_line

    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.6f}"
    return one_line(str(value))


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        + "\n"
        for line in lines
    )
