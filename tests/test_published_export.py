"""MTEB's result files: the same keys and types as the real ones."""

import json
from pathlib import Path

import fake_scores
import pytest

from sagebench import layout, tables
from sagebench import params as params_module
from sagebench.errors import BenchError
from sagebench.plan import Plan
from sagebench.published import mteb
from sagebench.published.checks import CHECKS

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan.read(ROOT / "params.yaml")


def kinds(content: dict) -> dict[str, str]:
    """Key -> type; a whole number counts as a float, as JSON has one kind of number."""
    return {
        key: "float" if isinstance(value, int | float) and not isinstance(value, bool)
        else type(value).__name__
        for key, value in content.items()
    }  # fmt: skip


def schema(contents: list[dict]) -> tuple[set[str], dict[str, set[str]]]:
    """The keys that all of the real files have, and every key's types."""
    types: dict[str, set[str]] = {}
    for content in contents:
        for key, kind in kinds(content).items():
            types.setdefault(key, set()).add(kind)
    return set.intersection(*(set(content) for content in contents)), types


def fits(content: dict, real: list[dict]) -> None:
    needed, types = schema(real)
    assert needed <= set(content)
    for key, kind in kinds(content).items():
        assert kind in types[key], (key, kind)


@pytest.fixture(scope="module")
def real(shared: Path) -> dict[str, list[dict]]:
    """Task -> the real result files of every model; "meta" -> the models' descriptions."""
    found: dict[str, list[dict]] = {}
    for path in sorted((shared / "data/reference_scores/mteb_results").glob("*/*/*.json")):
        name = "meta" if path.stem == "model_meta" else path.stem
        found.setdefault(name, []).append(json.loads(path.read_text(encoding="utf-8")))
    return found


def example(task: str, theirs: dict) -> dict:
    """A record as verify-published writes it, with scores under the names that checks give."""
    cutoffs = (1, 3, 5, 10, 20, 100, 1000)
    kind = CHECKS[task].main
    if kind == "cosine_spearman":
        scores = {f"{a}_{b}": 0.5 for a in ("cosine", "euclidean", "manhattan")
                  for b in ("pearson", "spearman")} | {"pearson": 0.5, "spearman": 0.5}  # fmt: skip
    elif kind == "ndcg_at_10":
        names = ("ndcg", "map", "recall", "precision", "mrr")
        scores = {f"{name}_at_{cutoff}": 0.5 for name in names for cutoff in cutoffs}
    elif kind == "accuracy":
        run = {"accuracy": 0.5, "f1": 0.5, "f1_weighted": 0.5}
        scores = {**run, "scores_per_experiment": [run]}
    else:
        values = {"Level 0": [0.5]} if task.endswith(".v2") else [0.5]
        scores = {"v_measure": 0.5, "v_measure_std": 0.1, "v_measures": values}
    return {
        "model": "minilm", "published_model": "o/m", "same": True, "task": task, "main": kind,
        "dataset_revision": theirs["dataset_revision"], "seconds": 1.5, "scores": scores,
    }  # fmt: skip


@pytest.mark.parametrize("task", CHECKS)
def test_a_published_task_has_the_keys_and_types_of_real_files(task, real, plan, tmp_path):
    assert {each["dataset_revision"] for each in real[task]} >= {CHECKS[task].dataset_revision}
    record = example(task, real[task][0])
    written = mteb.published([record], plan, tmp_path)
    meta, path = written
    assert path.relative_to(tmp_path).parts[0] == "sagebench__minilm"
    content = json.loads(path.read_text("utf-8"))
    fits(content, [each for name, files in real.items() if name != "meta" for each in files])
    assert content["task_name"] == task
    (ours,) = content["scores"]["test"]
    rows = [
        {key: value for key, value in row.items() if not key.startswith("nauc_")}
        for each in real[task]
        for row in each["scores"]["test"]
    ]
    fits(ours, rows)
    assert ours["main_score"] == ours[CHECKS[task].main]
    fits(json.loads(meta.read_text("utf-8")), real["meta"])


def test_the_benchmarks_own_tasks_have_names_of_their_own(real, plan, tmp_path):
    params = params_module.read(ROOT / "params.yaml")
    data = tmp_path / "data"
    for task in mteb.TASKS:
        for corpus in tables.task_corpora(params, task):
            fake_scores.write_task(data, params, task, corpus, fake_scores.system_names(params))
            sample = layout.sample(data, task, corpus)
            sample.parent.mkdir(parents=True, exist_ok=True)
            sample.write_bytes(corpus.encode())
    written = mteb.benchmark(plan, tmp_path / "out", data)
    assert len(written) == len(plan.systems) * (len(mteb.TASKS) + 1)
    (path,) = (tmp_path / "out" / "sagebench__rouge").glob("*/SAGEClustering.json")
    content = json.loads(path.read_text("utf-8"))
    assert content["task_name"] not in real
    every = [each for name, files in real.items() if name != "meta" for each in files]
    fits(content, every)
    rows = {row["hf_subset"]: row for row in content["scores"]["test"]}
    assert set(rows) == set(params.tasks.clustering.corpora)
    cells = fake_scores.cells_of(data, "clustering", "bbc").rows(named=True)
    value = next(c["value"] for c in cells if (c["system"], c["measure"]) == ("rouge", "score"))
    assert rows["bbc"]["main_score"] == rows["bbc"]["score"] == value
    again = mteb.benchmark(plan, tmp_path / "again", data)
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]
    layout.scores(data, "clustering", "bbc", "cells").unlink()
    with pytest.raises(BenchError, match="build the results first"):
        mteb.benchmark(plan, tmp_path / "third", data)
