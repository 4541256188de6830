"""The paper's own numbers (workflow/catalogue/reported_scores.csv) beside ours."""

from __future__ import annotations

import csv
from functools import cache
from typing import Any

from sagebench.corpora.catalogue import FOLDER
from sagebench.tables.context import Context
from sagebench.tables.panels import Column, by_system
from sagebench.tables.table import Panel

FILE = FOLDER / "reported_scores.csv"
SUMMARY = "table1_summary"
PREFERENCE = "table2_table3_human_preference"
ROBUSTNESS = "table4_robustness"
INSERTION = "table5_sensitivity_insertion"
REMOVAL = "table6_sensitivity_removal"

OTHER = "reported on other data"
SAME = "reported on the same corpus"
MEAN = "mean of all"
# The paper's name of a data set -> the column of its tables.
COLUMNS = {
    "PubMed": "Sci. Papers",
    "Paul Graham essays": "P. Graham",
    "Amazon Polarity": "Amazon",
}
# Row label -> the paper's system, and the options that make it the same system.
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "levenshtein": ("Levenshtein", {}),
    "rouge": ("ROUGE", {}),
    "jaccard": ("Jaccard", {}),
    "bm25": ("BM25", {"k1": 1.5, "b": 0.75, "normalise": "batch"}),
}


@cache
def reported() -> dict[tuple[str, str, str], float]:
    """(table, system, column) -> value: all 261 numbers of the paper's tables."""
    with open(FILE, encoding="utf-8", newline="") as stream:
        return {
            (row["table"], row["system"], row["column"]): float(row["value"])
            for row in csv.DictReader(stream)
        }


def columns(table: str) -> list[str]:
    """The columns of one of the paper's tables, in its order."""
    return list(dict.fromkeys(column for found, _, column in reported() if found == table))


def name_of(context: Context, label: str) -> str | None:
    """What the paper calls our row `label`; None if it has no such system."""
    name, needed = SYSTEMS.get(label, ("", {}))
    options = context.params.metrics.get(label)
    if not name or options is None or options.get("metric", label) != label:
        return None
    same = all(options.get(key, value) == value for key, value in needed.items())
    return name if same else None


def dataset(context: Context, corpus: str, table: str) -> str | None:
    """The column of the paper's `table` whose data our `corpus` is or stands in for, if any."""
    stands_for = context.catalogue.corpus(corpus).stands_for
    name = stands_for.dataset if stands_for else ""
    name = COLUMNS.get(name, name)
    return name if name in columns(table) else None


def provenance(context: Context, corpus: str) -> str:
    """Whether the paper's numbers were computed on our `corpus` or on other data."""
    stands_for = context.catalogue.corpus(corpus).stands_for
    return SAME if stands_for and stands_for.same else OTHER


def rows(context: Context, table: str, name: str, note: str) -> list[dict[str, Any]]:
    """Tidy rows of a column of the paper's (`MEAN`: of all its columns) for the systems in both."""
    wanted = columns(table) if name == MEAN else [name]
    found = []
    for system in context.systems:
        if theirs := name_of(context, system.name):
            values = [reported()[table, theirs, each] for each in wanted]
            value = sum(values) / len(values)
            labels = system.labels | {"corpus": name, "measure": "paper"}
            found.append(labels | {"value": value, "note": note})
    return found


def column(header: str, name: str) -> Column:
    """The printed column of `rows`."""
    return Column(header, name, "paper", "number", best=False, optional=True)


def panel(frame: Any, names: dict[str, str]) -> Panel:
    """The paper's columns `names` (with their headers) as a panel of the systems that it has."""
    reported = frame[frame.measure == "paper"].assign(note="")
    shown = [column(header, name) for name, header in names.items()]
    return by_system(reported, shown, {}, f"The same systems in the paper, {OTHER}")


def task_rows(context: Context, table: str, corpora: list[str]) -> list[dict[str, Any]]:
    """Tidy rows for the paper's data that our corpora stand for, and for its mean of all."""
    found = []
    for name, note in _datasets(context, table, corpora).items():
        found += rows(context, table, name, note)
    return found + rows(context, table, MEAN, f"{OTHER}: {', '.join(columns(table))}")


def task_columns(context: Context, table: str, corpora: list[str]) -> list[Column]:
    """The columns that show `task_rows`."""
    names = _datasets(context, table, corpora)
    return [*(column(f"Paper, {name}", name) for name in names), column("Paper, mean", MEAN)]


def _datasets(context: Context, table: str, corpora: list[str]) -> dict[str, str]:
    """Column of the paper's -> `SAME` if one of our corpora is that very data, else `OTHER`."""
    found: dict[str, str] = {}
    for corpus in corpora:
        if name := dataset(context, corpus, table):
            note = provenance(context, corpus)
            found[name] = SAME if SAME in (note, found.get(name)) else OTHER
    return found
