"""Published scores, reproduced by the project's own encoder, store and cosine."""

import json

import pytest

from sagebench.__main__ import main
from sagebench.published.checks import CHECKS
from sagebench.published.folder import Folder
from sagebench.published.verify import candidates, require, verify

JUDGED = [name for name, check in CHECKS.items() if check.tolerance is not None]
MINILM = "sentence-transformers__all-MiniLM-L6-v2"


def rows_of(shared, folder, model, *tasks):
    rows = verify(Folder(shared / "data"), candidates([], [model]), tasks, print, folder)
    return {row.check.task: row for row in rows}


def test_sts_benchmark(shared, tmp_path):
    """Also the numbers beside the main score are MTEB's."""
    row = rows_of(shared, tmp_path, "minilm", "STSBenchmark")["STSBenchmark"]
    require([row])
    assert row.ours == pytest.approx(0.820, abs=0.001)
    (path,) = (shared / "data/reference_scores/mteb_results" / MINILM).glob("8b*/STSBenchmark.json")
    theirs = json.loads(path.read_text("utf-8"))["scores"]["test"][0]
    for name in ("cosine_pearson", "euclidean_spearman", "manhattan_pearson"):
        assert row.scores[name] == pytest.approx(theirs[name], abs=0.001), name


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_every_judged_task_of_minilm(shared, tmp_path):
    rows = rows_of(shared, tmp_path, "minilm", *JUDGED)
    assert set(rows) == set(JUDGED)
    require(list(rows.values()))
    # The draws are MTEB's own, so each single experiment must come out, not only the mean.
    path = next(
        (shared / "data/reference_scores/mteb_results" / MINILM).glob("8b*/Banking77*.json")
    )
    theirs = json.loads(path.read_text("utf-8"))["scores"]["test"][0]["scores_per_experiment"]
    ours = rows["Banking77Classification"].scores["scores_per_experiment"]
    for mine, published in zip(ours, theirs, strict=True):
        assert mine["accuracy"] == pytest.approx(published["accuracy"], abs=0.002)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_newsgroups_come_near(shared, tmp_path):
    tasks = ("TwentyNewsgroupsClustering", "TwentyNewsgroupsClustering.v2")
    for row in rows_of(shared, tmp_path, "minilm", *tasks).values():
        assert row.within is None
        assert "other sampling" in row.note
        assert abs(row.difference) < 0.05


@pytest.mark.slow
def test_sts_benchmark_loses_little_in_int8(shared, tmp_path):
    row = rows_of(shared, tmp_path, "minilm_int8", "STSBenchmark")["STSBenchmark"]
    assert row.within is None
    assert -0.002 < row.difference < 0


@pytest.mark.slow
def test_a_wrong_published_value_ends_the_command_badly(shared, tmp_path, monkeypatch, capsys):
    for name in ("human_ratings", "reference_scores"):
        (tmp_path / name).mkdir()
    (tmp_path / "human_ratings" / "sts13").symlink_to(shared / "data" / "human_ratings" / "sts13")
    scores = (shared / "data/reference_scores/main_scores.tsv").read_text("utf-8")
    changed = scores.replace("0.8060316722220763", "0.8090316722220763")
    assert changed != scores
    (tmp_path / "reference_scores" / "main_scores.tsv").write_text(changed, encoding="utf-8")
    monkeypatch.setenv("SAGEBENCH_STORE", str(tmp_path / "store"))
    command = ["verify-published", "--data", str(tmp_path), "--model", "minilm", "--task", "STS13"]
    assert main([*command, "--output", str(tmp_path / "out")]) == 2
    assert "1 of 1 published scores not reproduced:\n  minilm" in capsys.readouterr().err
    assert "NO" in (tmp_path / "out" / "published.md").read_text("utf-8")
