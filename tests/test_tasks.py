"""What all tasks share: the registry, light imports, and the reference rows' known scores."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tasks_support import (
    NEEDLES,
    SEMANTIC,
    SUPERFICIAL,
    cell,
    choices,
    documents,
    needle_frames,
    perturbed,
    ratings,
    spec,
)

from sagebench import registry

TASKS = ["clustering", "human_preference", "retrieval", "robustness", "sensitivity"]


def score(task: str, data: dict, metric: str, settings: dict, tmp_path, **params) -> dict:
    """The score of a registered metric, through the same steps as in the workflow."""
    loaded = registry.load("task", task)()
    system = registry.load("metric", metric)(tmp_path, **params)
    similarity = loaded.similarity(data, system, settings)
    _, cells, _ = loaded.score(data, {metric: similarity}, settings)
    return cell(cells, metric, "score")


def test_all_tasks_are_registered_and_read_no_source():
    entries = registry.entries("task")
    assert sorted(entries) == TASKS
    assert not any(entry.needs for entry in entries.values())


def test_loading_every_task_imports_no_heavy_library():
    heavy = ["scipy", "sklearn", "pandas", "ir_measures", "torch", "nlpaug"]
    code = (
        "import sys; from sagebench import registry\n"
        f"[registry.load('task', name) for name in {TASKS}]\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    library = Path(registry.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(library)},
    )
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(("metric", "expected"), [("constant_2_3", 0.881), ("constant_1", 0.683)])
def test_constant_references_in_sensitivity(metric, expected, tmp_path):
    sample = documents(3)
    data = {"sample": sample, "perturbed": needle_frames(sample, NEEDLES)}
    found = score("sensitivity", data, metric, spec(NEEDLES), tmp_path)
    assert found["value"] == pytest.approx(expected, abs=0.001)


def test_random_reference_in_sensitivity(tmp_path):
    sample = documents(200)
    data = {"sample": sample, "perturbed": needle_frames(sample, NEEDLES)}
    found = score("sensitivity", data, "random", spec(NEEDLES), tmp_path, seed=1)
    assert found["value"] == pytest.approx(0.695, abs=0.02)


def test_random_reference_in_robustness(tmp_path):
    sample = documents(1000)
    data = {
        "sample": sample,
        "perturbed": {name: perturbed(sample, name) for name in SUPERFICIAL + SEMANTIC},
    }
    section = {"superficial": SUPERFICIAL, "semantic": SEMANTIC, "reading": "all_then_mean"}
    found = score("robustness", data, "random", spec(section), tmp_path, seed=1)
    assert found["value"] == pytest.approx(0.183, abs=0.03)


def test_random_reference_in_human_preference(tmp_path):
    settings = spec({"ties": "second"})
    both = [
        score("human_preference", data, "random", settings, tmp_path, seed=1)["value"]
        for data in (choices(2000), ratings(2000))
    ]
    assert sum(both) / 2 == pytest.approx(0.5, abs=0.03)
