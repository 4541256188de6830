"""results/metrics.json: the numbers that `dvc metrics show` and `diff` compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sagebench.corpora.files import write_bytes
from sagebench.tables.agreement import SCORES
from sagebench.tables.context import ALL, TASKS
from sagebench.tables.summary import OVERALL
from sagebench.tables.table import read
from sagebench.tables.truncation import MEASURE

TABLES = ("summary", "agreement")  # the tables that are read


def write(tables: Path, out: Path) -> None:
    """Read the CSV files in `tables` and write `out`: nested mappings that end in numbers.

    {"summary": {system: {task: score}}, "agreement": {corpus: {system: {score: value}}}}; scores
    without a value are left out, `truncated` is a share of inputs.
    """
    summary, agreement = (read(tables / f"{name}.csv") for name in TABLES)
    wanted = summary[(summary.corpus == ALL) & summary.measure.isin([*TASKS, OVERALL, MEASURE])]
    compared = agreement[agreement.measure.isin(SCORES)]
    values = {
        "summary": _nested(wanted, "system", "measure"),
        "agreement": _nested(compared, "corpus", "system", "measure"),
    }
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    write_bytes(out, text.encode("utf-8"))


def _nested(frame: Any, *keys: str) -> dict[str, Any]:
    """The frame's values under nested keys, in the frame's order."""
    found: dict[str, Any] = {}
    for row in frame.dropna(subset="value").itertuples():
        place = found
        *outer, last = (str(getattr(row, key)) for key in keys)
        for key in outer:
            place = place.setdefault(key, {})
        place[last] = row.value
    return found
