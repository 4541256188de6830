"""How many inputs each model could not read to their end.

A model that reads 256 tokens cannot see an edit at the end of a long paper (protocol, last
section): so every table of scores shows the share beside the scores, and this table all of them.
"""

from __future__ import annotations

from typing import Any

from sagebench import layout
from sagebench.errors import BenchError
from sagebench.tables.caption import settings
from sagebench.tables.context import ALL, TASKS, Context
from sagebench.tables.panels import Column, share_text
from sagebench.tables.table import Cell, Panel, Table, tidy

MEASURE = "truncated"
COLUMN = Column("Truncated", ALL, MEASURE, form="share", best=False, optional=True)
CAPTION = "Truncated: the share of a model's distinct inputs that it reads only in part."


def rows(context: Context, tasks: list[str]) -> list[dict[str, Any]]:
    """Tidy rows of the share of truncated inputs per model, over the inputs of `tasks`."""
    found = []
    for model in context.models():
        counts = [count(context, task, model.name) for task in tasks]
        inputs, truncated = (sum(part) for part in zip(*counts, strict=True))
        labels = model.labels | {"corpus": ALL, "measure": MEASURE}
        found.append(labels | {"value": truncated / max(inputs, 1), "n": inputs, "note": ""})
    return found


def count(context: Context, task: str, model: str) -> tuple[int, int]:
    """(distinct inputs, how many of them were truncated) of a model in a task."""
    import polars as pl

    path = layout.embeddings(context.data, task, model)
    try:
        # Not frames.read: the vectors are megabytes that this table does not need.
        counts = pl.scan_parquet(path).select(pl.len(), pl.col("truncated").sum()).collect()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BenchError(
            f"task {task!r}: the embeddings of model {model!r} cannot be read ({error}); "
            f"delete {path} and run again to rebuild them"
        ) from error
    inputs, truncated = counts.row(0)
    return int(inputs), int(truncated)


def build(context: Context) -> Table:
    """Model × task: inputs, truncated inputs, and the model's limit."""
    tidy_rows: list[dict[str, Any]] = []
    body: list[list[Cell]] = []
    for model in context.models():
        limit, stated = _limit(context, model.name)
        labels = model.labels | {"corpus": ALL}
        tidy_rows.append(labels | {"measure": "max_tokens", "value": limit, "note": stated})
        line = [Cell(model.title), Cell(stated or f"{limit:,}")]
        for task in TASKS:
            inputs, truncated = count(context, task, model.name)
            share = truncated / max(inputs, 1)
            row = {"measure": f"truncated:{task}", "value": share, "n": inputs, "note": ""}
            tidy_rows.append(labels | row)
            line.append(Cell(f"{share_text(share)} ({truncated:,} of {inputs:,})"))
        body.append(line)
    header = [Cell("Model"), Cell("Tokens read"), *map(Cell, TASKS.values())]
    caption = (
        "Distinct inputs of each task that are longer than the model reads; what lies beyond its "
        "limit, edits included, it cannot see. Tokens are the model's own. "
    )
    caption += settings(context)
    return Table("Truncated inputs", caption, tidy(tidy_rows), [Panel(header, [("", body)])])


def _limit(context: Context, name: str) -> tuple[int | None, str]:
    """Tokens that a model reads at most, or None and what to print instead."""
    for entry in context.params.models:
        if not isinstance(entry, str) and entry.name == name:
            return entry.max_tokens, "" if entry.max_tokens else "the model's own limit"
    limit = context.catalogue.model(name).max_tokens
    return limit, "" if limit else "no limit"
