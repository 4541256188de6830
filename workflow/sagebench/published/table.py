"""The rows of `verify` as a table, and as JSON with every score."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sagebench import tables
from sagebench.corpora.files import write_bytes
from sagebench.errors import BenchError
from sagebench.published.verify import Row
from sagebench.tables.panels import MISSING
from sagebench.tables.table import Cell, Panel, Table, tidy

NAME = "published"
_CAPTION = (
    "Main scores of MTEB's tasks on the data of the published runs, by this project's encoders, "
    "stored vectors and cosine; difference: ours minus the published score."
)


def write(rows: Sequence[Row], out: Path) -> list[Path]:
    """published.csv, .md, .tex and .json in the folder `out`; the paths written."""
    table = Table("Published scores, reproduced", _CAPTION, tidy(_tidy(rows)), [_panel(rows)])
    path = out / f"{NAME}.json"
    text = json.dumps([_record(row) for row in rows], indent=2, ensure_ascii=False)
    write_bytes(path, f"{text}\n".encode())
    return [*tables.save(table, NAME, out), path]


def read(path: Path) -> list[dict[str, Any]]:
    """The records that `write` put into JSON; BenchError if it is missing or another file."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        if {frozenset(record) for record in records} - {frozenset(_KEYS)}:
            raise ValueError("its records have other keys")
    except (OSError, ValueError, TypeError) as error:
        raise BenchError(
            f"{path} holds no published scores ({error}); write them with "
            f"`python -m sagebench verify-published --output {path.parent}`"
        ) from None
    return list(records)


_KEYS = (
    "model",
    "published_model",
    "same",
    "task",
    "dataset_revision",
    "main",
    "seconds",
    "scores",
)


def _record(row: Row) -> dict[str, Any]:
    model, check = row.model, row.check
    values = (
        model.name, model.published, model.same, check.task, check.dataset_revision, check.main,
        round(row.seconds, 3), row.scores,
    )  # fmt: skip
    return dict(zip(_KEYS, values, strict=True))


def _tidy(rows: Sequence[Row]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for row in rows:
        labels: dict[str, Any] = {
            "system": row.model.name, "title": row.model.title, "kind": "embedding",
            "corpus": row.check.task,
        }  # fmt: skip
        run = f"{row.model.published} at {row.published.revision}"
        for measure, value, note in (
            (row.check.main, row.ours, row.note),
            ("published", row.published.value, run),
            ("difference", row.difference, ""),
            ("tolerance", row.tolerance, ""),
            ("within", row.within, ""),
        ):
            if value is not None:
                found.append(labels | {"measure": measure, "value": value, "note": note})
    return found


def _panel(rows: Sequence[Row]) -> Panel:
    header = ("Task", "Score", "Ours", "Published", "Difference", "Tolerance", "Within")
    groups: dict[str, list[list[Cell]]] = {}
    for row in rows:
        cells = [
            Cell(row.check.task, notes=(row.note,) if row.note else ()),
            Cell(row.check.main),
            Cell(f"{row.ours:.4f}"),
            Cell(f"{row.published.value:.4f}"),
            Cell(f"{row.difference:+.4f}".replace("-", "−")),
            Cell("none" if row.tolerance is None else f"{row.tolerance:.3f}"),
            Cell({True: "yes", False: "NO", None: MISSING}[row.within]),
        ]
        groups.setdefault(row.model.title, []).append(cells)
    return Panel([Cell(text) for text in header], list(groups.items()))
