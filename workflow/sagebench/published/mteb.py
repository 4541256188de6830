"""Results as MTEB's result files: <model>/<revision>/<task>.json beside a model_meta.json.

The shape is that of MTEB 1.12 and later (TaskResult). `mteb_version` and `kg_co2_emissions` are
null: MTEB did not run. A model's folder is named after this project, for what ran is its pinned
copy of the weights through its own encoder; `adapted_from` names the published model.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from sagebench import __version__, frames, layout
from sagebench.corpora.files import write_bytes
from sagebench.errors import BenchError
from sagebench.plan import DATA, Plan
from sagebench.provenance import file_sha256

_LANGUAGE = ["eng-Latn"]
_NAMED = 40  # characters of a revision or a data set's: as many as Git's
# This benchmark's tasks under names that no task of MTEB has; a corpus becomes a subset.
TASKS = {
    "human_preference": "SAGEHumanPreference",
    "robustness": "SAGERobustness",
    "sensitivity": "SAGESensitivity",
    "clustering": "SAGEClustering",
    "retrieval": "SAGERetrieval",
}


def result(
    task: str, dataset_revision: str, subsets: dict[str, dict[str, Any]], seconds: float | None
) -> dict[str, Any]:
    """A result file's content; `subsets` maps a subset to its scores, `main_score` among them."""
    rows = [
        dict(sorted((scores | {"hf_subset": name, "languages": _LANGUAGE}).items()))
        for name, scores in subsets.items()
    ]
    return {
        "dataset_revision": dataset_revision,
        "evaluation_time": seconds,
        "kg_co2_emissions": None,
        "mteb_version": None,
        "scores": {"test": rows},
        "task_name": task,
    }


def published(records: Iterable[dict[str, Any]], plan: Plan, out: Path) -> list[Path]:
    """Write the records of `table.read`, one file per model and task; the paths written."""
    written: list[Path] = []
    for record in records:
        folder = _model_folder(plan, record["model"], out, written)
        scores = record["scores"] | {"main_score": record["scores"][record["main"]]}
        content = result(
            record["task"], record["dataset_revision"], {"default": scores}, record["seconds"]
        )
        written.append(_write(folder / f"{record['task']}.json", content))
    return written


def benchmark(plan: Plan, out: Path, data: Path = DATA) -> list[Path]:
    """Write the built scores of the five tasks, one file per system and task.

    `dataset_revision` is a digest of the samples. A score without a value is left out, and a
    corpus whose main score has none. BenchError if a file of scores is missing.
    """
    written: list[Path] = []
    for name, task in TASKS.items():
        corpora = plan.tasks[name].corpora
        cells = {corpus: _cells(data, name, corpus) for corpus in corpora}
        samples = [file_sha256(layout.sample(data, name, corpus)) for corpus in corpora]
        revision = hashlib.sha256("".join(samples).encode()).hexdigest()[:_NAMED]
        for system in plan.tasks[name].systems:
            subsets = {corpus: _measures(frame, system) for corpus, frame in cells.items()}
            subsets = {corpus: found for corpus, found in subsets.items() if found}
            folder = _model_folder(plan, system, out, written)
            content = result(task, revision, subsets, None)
            written.append(_write(folder / f"{task}.json", content))
    return written


def _cells(data: Path, task: str, corpus: str) -> pl.DataFrame:
    path = layout.scores(data, task, corpus, "cells")
    if not path.is_file():
        raise BenchError(f"{path} is missing: build the results first (`make results`)")
    return frames.read(path, frames.CELLS)


def _measures(cells: pl.DataFrame, system: str) -> dict[str, float]:
    """Measure -> value of one system, `main_score` too; empty if that has no value."""
    rows = cells.filter(pl.col("system") == system).drop_nulls("value")
    found = dict(zip(rows["measure"], rows["value"], strict=True))
    return found | {"main_score": found["score"]} if "score" in found else {}


def _model_folder(plan: Plan, system: str, out: Path, written: list[Path]) -> Path:
    """The folder of a system, with its description in it."""
    meta = _meta(plan, system)
    folder = out / meta["name"].replace("/", "__") / meta["revision"]
    if (path := folder / "model_meta.json") not in written:
        written.append(_write(path, meta))
    return folder


def _meta(plan: Plan, system: str) -> dict[str, Any]:
    """The keys that every model_meta.json has, and `adapted_from`."""
    described, known = _description(plan, system), plan.catalogue.models.get(system)
    is_model = known is not None or system in plan.models
    tokens = described.get("max_tokens")
    return {
        "name": f"sagebench/{system}",
        "revision": hashlib.sha256(_text(described).encode()).hexdigest()[:_NAMED],
        "release_date": None,
        "languages": _LANGUAGE,
        "n_parameters": None,
        "max_tokens": None if tokens is None else float(tokens),
        "embed_dim": None,
        "license": known.licence if known else None,
        "framework": [f"sagebench {__version__}"],
        "similarity_fn_name": "cosine" if is_model else None,
        "loader": None,
        "adapted_from": known.published.name if known and known.published else None,
    }


def _description(plan: Plan, system: str) -> dict[str, Any]:
    """Everything that pins a system: its entry with its sources, or its metric and parameters."""
    if system in plan.metrics:
        metric, options = plan.metrics[system]
        return {"metric": metric, "params": options}
    entry = plan.models.get(system, system)
    if not isinstance(entry, str):
        return entry.model_dump(mode="json")
    described = plan.catalogue.model(entry)
    sources = {
        name: plan.catalogue.source(name).model_dump(mode="json") for name in described.sources
    }
    return described.model_dump(mode="json") | {"sources": sources}


def _write(path: Path, content: dict[str, Any]) -> Path:
    write_bytes(path, f"{_text(content)}\n".encode())
    return path


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
