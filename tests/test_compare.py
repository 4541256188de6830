"""`compare A B`: folders and revisions, cell by cell."""

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from sagebench.__main__ import main
from sagebench.compare import compare
from sagebench.compare.cells import STATES, Cell, Number
from sagebench.compare.text import _MARKS
from sagebench.errors import BenchError
from sagebench.tables.table import COLUMNS

Rows = list[dict[str, str]]
OTHER = "task,corpus,seed,texts,share\nt,c,1,40,1.0\nt,c,2,40,0.5\n"


def row(system: str = "jaccard", measure: str = "clustering", **values: str) -> dict[str, str]:
    labels = {"system": system, "title": system, "kind": "classical", "corpus": "all corpora"}
    return dict.fromkeys(COLUMNS, "") | labels | {"measure": measure} | values


def write(folder: Path, rows: Rows, other: str = OTHER) -> Path:
    tables = folder / "results/tables"
    tables.mkdir(parents=True, exist_ok=True)
    with open(tables / "summary.csv", "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    (tables / "perturbations.csv").write_text(other, encoding="utf-8")
    return folder


BEFORE = [
    row(value="0.5", low="0.4", high="0.6"),
    row("rouge", value="0.5", low="0.4", high="0.6"),
    row("bm25", value="0.5", low="0.4", high="0.6"),
    row("glove", value="0.5"),
    row("minilm", note="no queries"),
    row("old", value="1"),
]
AFTER = [
    row(value="0.55", low="0.45", high="0.65"),  # within
    row("rouge", value="0.61", low="0.55", high="0.7"),  # beyond
    row("bm25", value="0.5", low="0.45", high="0.55"),  # the interval only
    row("glove", value="0.51"),  # changed
    row("minilm", note="no queries"),  # as empty as before
    row("new", value="1"),
]
EXPECTED = {
    "jaccard": "within", "rouge": "beyond", "bm25": "interval", "glove": "changed",
    "minilm": "same", "old": "removed", "new": "added",
}  # fmt: skip


@pytest.fixture
def two(tmp_path):
    return write(tmp_path / "a", BEFORE), write(tmp_path / "b", AFTER)


def test_every_state_is_told(two):
    found = compare(*two)
    states = {cell.key[0]: cell.state for cell in found.tables["summary"]}
    assert states == EXPECTED
    assert set(states.values()) == set(STATES)
    assert found.alarming
    assert {cell.state for cell in found.tables["perturbations"]} == {"same"}
    # Two rows with equal labels are told apart by their first number, the seed.
    keys = {cell.key for cell in found.tables["perturbations"]}
    assert ("t c 1", "", "share") in keys
    assert ("t c 2", "", "texts") in keys


@pytest.mark.parametrize(
    ("a", "b", "state"),
    [
        (Number(0.5, 0.4, 0.6), Number(0.6, 0.5, 0.7), "within"),  # bounds belong to the interval
        (Number(0.5, 0.4, 0.6), Number(0.58, 0.55, 0.61), "beyond"),  # the old one left the new
        (Number(0.5, 0.4, 0.6), Number(0.61, 0.3, 0.9), "beyond"),
        (Number(0.5, 0.4, 0.6), Number(0.7), "beyond"),  # one interval is enough to judge by
        (Number(0.5, 0.4, 0.6), Number(0.55), "within"),
        (Number(0.5), Number(None, note="gone"), "changed"),
    ],
)
def test_moved_beyond_is_judged_by_both_intervals(a, b, state):
    assert Cell("summary", ("s", "c", "m"), a, b).state == state
    assert Cell("summary", ("s", "c", "m"), b, a).state == state


def test_the_move_is_b_minus_a():
    assert Cell("t", ("s", "c", "m"), Number(0.5), Number(0.25)).move == -0.25
    assert Cell("t", ("s", "c", "m"), None, Number(0.25)).move is None


def test_the_command_marks_counts_and_answers_by_its_exit_code(two, capsys):
    a, b = map(str, two)
    assert main(["compare", a, b]) == 3
    text = capsys.readouterr().out
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}
    assert lines["rouge"].split() == [
        "rouge", "all", "corpora", "clustering", "0.500", "[0.400,", "0.600]", "0.610", "[0.550,",
        "0.700]", "+0.110", "!", "beyond",
    ]  # fmt: skip
    assert lines["jaccard"].endswith("~ within")
    assert lines["minilm"].split()[-2:] == ["–", "–"]
    assert "! beyond (1): moved out of an interval" in text
    assert "perturbations: 4 same" in text
    assert "t c 1" not in text  # equal cells of other tables are only counted
    assert main(["compare", a, b, "--all"]) == 3
    assert "t c 1" in capsys.readouterr().out
    assert main(["compare", a, a]) == 0
    within = write(two[0].parent / "c", [AFTER[0], *BEFORE[1:]])
    assert main(["compare", a, str(within)]) == 0


def test_json_holds_every_cell_with_both_sides(two, capsys):
    assert main(["compare", *map(str, two), "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["alarming"] is True
    assert sum(found["counts"].values()) == sum(map(len, found["tables"].values())) == 11
    cells = {cell["system"]: cell for cell in found["tables"]["summary"]}
    assert {name: cell["state"] for name, cell in cells.items()} == EXPECTED
    assert cells["rouge"]["a"] == {"value": 0.5, "low": 0.4, "high": 0.6, "note": ""}
    assert cells["rouge"]["move"] == 0.11
    assert cells["new"]["a"] is None


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@y", *arguments], cwd=folder, check=True,
        capture_output=True,
    )  # fmt: skip


def test_git_revisions_are_read_without_a_checkout(two, monkeypatch, capsys):
    project, other = two
    git(project, "init", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-m", "before")
    shutil.copytree(other / "results", project / "results", dirs_exist_ok=True)
    git(project, "add", ".")
    git(project, "commit", "-m", "after")
    (project / "results/tables/summary.csv").write_text("unsaved", encoding="utf-8")
    found = compare("HEAD~1", "main", project)
    assert {c.key[0]: c.state for c in found.tables["summary"]} == EXPECTED
    assert not compare("main", other, project).alarming  # a revision beside a folder
    below = project / "deeper/project"  # a project may lie below the repository's top
    write(below, BEFORE)
    git(project, "add", "deeper")
    git(project, "commit", "-m", "below")
    assert not compare("HEAD", below, below).alarming
    monkeypatch.chdir(other)
    assert main(["compare", "HEAD~2", "main", "--root", str(project)]) == 3


@pytest.mark.parametrize("name", ["no-such", "--output=x", "", "HEAD"])
def test_what_is_neither_is_named(name, tmp_path):
    folder = write(tmp_path / "a", BEFORE)
    with pytest.raises(BenchError, match="neither a folder nor a Git revision"):
        compare(folder, name, tmp_path)


def test_a_folder_without_tables_or_with_broken_ones_is_refused(tmp_path, two):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(BenchError, match="has no tables"):
        compare(two[0], empty)
    path = two[1] / "results/tables/summary.csv"
    path.write_text(",".join(COLUMNS) + "\na,b\n", encoding="utf-8")
    with pytest.raises(BenchError, match="rows of other length"):
        compare(*two)
    path.write_bytes(b"system\n\xff\n")
    with pytest.raises(BenchError, match="is no CSV file"):
        compare(*two)
    write(two[1], [AFTER[0], AFTER[0]])
    with pytest.raises(BenchError, match="two rows for jaccard"):
        compare(*two)


def test_hostile_names_stay_on_their_line(tmp_path, capsys):
    name = "\x1b[31mred\u202e\nnext | <b>"
    a = write(tmp_path / "a", [row(name, value="0.5")])
    b = write(tmp_path / "b", [row(name, value="0.6")])
    assert main(["compare", str(a), str(b)]) == 3
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert sum("0.600" in line and "next | <b>" in line for line in text.splitlines()) == 1
    main(["compare", str(a), str(b), "--json"])
    cells = json.loads(capsys.readouterr().out)["tables"]["summary"]
    assert cells[0]["system"] == name


def test_the_committed_results_equal_themselves():
    root = Path(__file__).resolve().parents[1]
    found = compare(root, root / "results/tables")
    assert not found.alarming
    assert found.counts(found.cells) == {"same": len(found.cells)}
    assert len(found.cells) > 3000


def test_the_docs_list_every_state():
    root = Path(__file__).resolve().parents[1]
    text = (root / "docs/report.md").read_text(encoding="utf-8")
    for state, meaning in STATES.items():
        mark = _MARKS.get(state, "")
        assert f"| {state} | {mark}{' ' if mark else ''}| {meaning} |" in text
