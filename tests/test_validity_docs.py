"""Marked tables of the documentation equal the CSV files; blocks and runs are checked."""

from pathlib import Path

import pytest
from conftest import ROOT

from sagebench import marked, stability
from sagebench.errors import BenchError

HEAD = "system,title,kind,corpus,measure,value,low,high,n,note\n"
ROWS = [
    ("a", "A|b", "classical", 0.5),
    ("b", "B", "embedding", -0.25),
    ("r", "Random", "reference", 0.9),
]
PAGE = "x\n<!-- t: made | m -->\n| system | Mine |\nold\n<!-- /t -->\ny\n"


def table(folder: Path, name: str, measure: str, rows: list[tuple]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{s},{t},{k},all corpora,{measure},{v},,,3,\n" for s, t, k, v in rows]
    (folder / f"{name}.csv").write_text(HEAD + "".join(lines), encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_marked_tables_are_the_results(path):
    text = path.read_text(encoding="utf-8")
    assert marked.refresh(text, ROOT / "results" / "tables") == text


def test_a_block_is_made_anew_and_keeps_its_header(tmp_path):
    table(tmp_path, "made", "m", ROWS)
    fresh = marked.refresh(PAGE, tmp_path)
    assert fresh.splitlines() == [
        "x", "<!-- t: made | m -->", "| system | Mine |", "|---|---|", "| A\\|b | **0.500** |",
        "| B | −0.250 |", "| *Random* | 0.900 |", "<!-- /t -->", "y",
    ]  # fmt: skip
    assert marked.refresh(fresh, tmp_path) == fresh


def test_an_unknown_measure_is_named(tmp_path):
    table(tmp_path, "made", "other", ROWS)
    with pytest.raises(BenchError, match="measure 'm'"):
        marked.refresh(PAGE, tmp_path)


def test_stability_counts_winners_and_pairs_that_disagree(tmp_path):
    values = [(0.5, 0.4), (0.5, 0.7), (0.6, 0.5)]
    for run, (first, second) in enumerate(values):
        rows = [("a", "A", "classical", first), ("b", "B", "embedding", second), ROWS[2]]
        table(tmp_path / str(run) / "tables", "summary", "robustness", rows)
    folders = [tmp_path / str(run) for run in range(3)]
    report = stability.compare(folders)
    assert "| Robustness | A (2), B (1) | 2 of 3 | 0.300 (B) |" in report
    with pytest.raises(BenchError, match="at least two"):
        stability.compare(folders[:1])
    table(folders[2] / "tables", "summary", "robustness", ROWS[:1])
    with pytest.raises(BenchError, match="differ in system 'b'"):
        stability.compare(folders)
