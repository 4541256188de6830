"""The notebooks: in step with their .py, without outputs, and every cell runs."""

import csv
import importlib.util
import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from sagebench.corpora import cache
from sagebench.perturbations import sets
from sagebench.tables.context import TASKS

FOLDER = ROOT / "notebooks"
SCRIPTS = sorted(FOLDER.glob("[0-9]*.py"))
# Runs a notebook's .py where IPython cannot be imported, then prints values of it as JSON.
RUN = """
import json, runpy, sys
sys.modules["IPython"] = None
names = runpy.run_path(sys.argv[1])
print("\\n" + json.dumps([eval(text, names) for text in sys.argv[2:]]))
"""


def needed(*modules: str) -> None:
    for module in modules:
        if not importlib.util.find_spec(module):
            pytest.skip(f"no {module} (pip install -r requirements-notebooks.lock)")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone has beside its notebooks, and a per-user folder with the archives alone."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("params.yaml", "config", "results", "notebooks"):
        source, copy = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, copy)
        else:
            shutil.copy(source, copy)
    archives = cache.folder() / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    (folder / "cache").mkdir()
    (folder / "cache" / "archives").symlink_to(archives)
    return folder


def environment(place: Path) -> dict[str, str]:
    own = {"MPLBACKEND": "Agg", "PYTHONUTF8": "1", cache.FOLDER_VARIABLE: str(place / "cache")}
    return {**os.environ, **own}


def run(place: Path, name: str, *values: str) -> tuple[str, list[Any]]:
    """What the notebook prints, and what expressions of its names are afterwards."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(place / "notebooks" / f"{name}.py"), *values],
        cwd=place / "notebooks", env=environment(place), text=True, capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text, _, last = done.stdout.rstrip("\n").rpartition("\n")
    return text, json.loads(last)


def rows(table: str, **wanted: str) -> list[dict[str, str]]:
    """Rows of a result table, read without the library."""
    with open(ROOT / "results" / "tables" / f"{table}.csv", encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    return [row for row in found if all(row[key] == value for key, value in wanted.items())]


def test_there_are_notebooks() -> None:
    assert len(SCRIPTS) >= 4
    listed = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    for script in SCRIPTS:
        assert f"../notebooks/{script.stem}.ipynb" in listed


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_is_its_script(script: Path) -> None:
    needed("jupytext")
    made = runpy.run_path(str(FOLDER / "pair.py"))["notebook"](script)
    assert script.with_suffix(".ipynb").read_text(encoding="utf-8") == made, "run make notebooks"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_keeps_no_outputs(script: Path) -> None:
    notebook = json.loads(script.with_suffix(".ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
    }


def test_results_are_explored(place: Path) -> None:
    text, (leaders, drawn) = run(
        place, "01_explore_results", "[line[:3] for line in leaders]", "len(figures.FIGURES)"
    )
    for title, system, value in leaders:
        measure = next((task for task, name in TASKS.items() if name == title), "overall")
        found = rows("summary", corpus="all corpora", measure=measure)
        scores = {row["title"]: float(row["value"]) for row in found if row["kind"] != "reference"}
        assert value == scores[system] == max(scores.values())
    assert [title for title, *_ in leaders] == [*TASKS.values(), "Overall"]
    assert text.count("the committed bytes") == 2 * drawn


def test_what_the_scores_hide_is_drawn(place: Path) -> None:
    _, (shown, winners) = run(
        place,
        "04_what_the_scores_hide",
        'values(corrected, ["overall"])["overall"].to_dict()',
        "winners",
    )
    found = rows("chance_corrected", corpus="all corpora", measure="overall")
    assert shown == {row["title"]: float(row["value"]) for row in found}
    combinations = {row["measure"] for row in rows("readings")}
    assert sum(winners.values()) >= sum(name.startswith("overall:") for name in combinations)


@pytest.mark.timeout(600)  # every model and metric is loaded
def test_one_document_is_followed(place: Path) -> None:
    text, (kept, versions, shape, columns) = run(
        place,
        "02_one_document",
        "{name: frame['text'][0] for name, frame in "
        "workspace.inputs('robustness', 'cnn_dailymail')['perturbed'].items()}",
        "versions",
        "table.shape",
        "len(systems)",
    )
    titles = {row.name: row.title for row in sets.describe()}
    assert list(versions) == list(titles.values())
    assert len(kept) == 6
    assert all(versions[titles[name]] == found for name, found in kept.items())
    assert shape == [len(titles) + 1, columns]
    # Everything printed is visible text, also of the hostile one.
    assert all(line.isprintable() for line in text.splitlines())
    assert "\\x1b[31m" in text
    assert "\\u202e" in text


def test_a_model_is_added(place: Path) -> None:
    text, (scores,) = run(
        place, "03_add_your_model", "summary[['title', 'measure', 'value']].values.tolist()"
    )
    assert {title for title, *_ in scores} == {"trigrams", "Jaccard", "Random"}
    assert {measure for _, measure, _ in scores} >= {*TASKS, "overall"}
    assert all(0 <= value <= 1 for _, measure, value in scores if measure in TASKS)
    assert "gave NaN or infinity" in text


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_kernel_runs_every_cell(
    script: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed("nbclient", "ipykernel")
    import nbformat
    from nbclient import NotebookClient

    for name, value in environment(place).items():
        if name != "MPLBACKEND":
            monkeypatch.setenv(name, value)
    notebook = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    metadata = {"path": str(place / "notebooks")}
    NotebookClient(notebook, timeout=280, resources={"metadata": metadata}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert pictures
    # A figure that nothing draws would be shown by its name.
    assert not any("<Figure" in output.get("data", {}).get("text/plain", "") for output in outputs
                   if output not in pictures)  # fmt: skip
