"""Marked blocks of Markdown: tables in the documentation that are refreshed from the CSV files.

    <!-- explained: sensitivity_recalibrated | score explained rank -->
    (a Markdown table, made by `python -m sagebench docs`)
    <!-- /explained -->

A block names a table of results/tables and measures over all its corpora (`measure@corpus`: of
one corpus). The table that stands there has a row per system; a header of the author's own stays.
Rows of the kind "reference" are set in italics, the best other value of a column in bold.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sagebench.errors import BenchError
from sagebench.tables.context import ALL
from sagebench.tables.markdown import escape
from sagebench.tables.panels import MISSING, UNRANKED
from sagebench.tables.table import read

BLOCK = re.compile(
    r"(?P<open><!-- (?P<name>\w+): (?P<table>\w+) \| (?P<measures>[^\n]+?) -->\n)"
    r"(?P<body>.*?)(?P<close><!-- /(?P=name) -->)",
    re.DOTALL,
)


def refresh(text: str, tables: Path) -> str:
    """`text` with every marked block made anew; BenchError if a measure is not in its table."""

    def render(found: re.Match[str]) -> str:
        frame = read(tables / f"{found['table']}.csv")
        header = found["body"].splitlines()[:1]
        body = _body(frame, found["measures"].split(), header)
        return f"{found['open']}{body}{found['close']}"

    return BLOCK.sub(render, text)


def _body(frame: Any, measures: list[str], header: list[str]) -> str:
    columns = [_column(frame, measure) for measure in measures]
    systems = frame[frame.system.isin(columns[0])].drop_duplicates("system")
    if not header or header[0].count("|") != len(measures) + 2:
        header = [f"| system | {' | '.join(measures)} |"]
    ranked = [name for name, kind in zip(systems.system, systems.kind, strict=True)
              if kind not in UNRANKED]  # fmt: skip
    lines = [header[0], "|---" * (len(columns) + 1) + "|"]
    for row in systems.itertuples():
        title = escape(row.title) if row.system in ranked else f"*{escape(row.title)}*"
        cells = [_cell(column, row.system, ranked) for column in columns]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _column(frame: Any, measure: str) -> dict[str, float]:
    """System -> value."""
    name, _, corpus = measure.partition("@")
    part = frame[(frame.measure == name) & (frame.corpus == (corpus or ALL))]
    if part.empty:
        raise BenchError(f"no table row has measure {name!r} on {corpus or ALL!r}")
    return dict(zip(part.system, part.value, strict=True))


def _cell(column: dict[str, float], system: str, ranked: list[str]) -> str:
    value = column.get(system, float("nan"))
    if value != value:  # noqa: PLR0124 - NaN
        return MISSING
    shown = f"{value:.3f}".replace("-", "−")
    best = max((column[name] for name in ranked if column.get(name) is not None), default=value)
    return f"**{shown}**" if system in ranked and f"{best:.3f}" == f"{value:.3f}" else shown
