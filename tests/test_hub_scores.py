"""From the Hub to the tables: the paper's data sets through all five tasks, at a tiny size."""

from pathlib import Path

import polars as pl
import pytest
import yaml
from hub_server import serve
from hub_sets import serve_made
from workflow_support import Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow, pytest.mark.timeout(900)]

TINY = {
    "size": "tiny",
    "tasks": {
        "human_preference": {
            "preferences": ["feedback_choices_valid2"],
            "ratings": ["feedback_ratings_tldr"],
            "min_gap": 0.0,
        },
        "robustness": {"corpora": ["sumpubmed_all"], "documents": 4},
        "sensitivity": {"corpora": ["paul_graham", "amazon_polarity_test"], "documents": 4},
        "clustering": {"corpora": ["mteb_reddit"], "texts": 8},
        "retrieval": {"corpora": ["beir_fever"], "documents": 6, "draw": "judged"},
    },
    "agreement": {"corpora": ["cnn_dailymail_test"], "documents": 4, "systems": ["jaccard"]},
    "models": [],
    "references": ["constant_1"],
}


def test_the_paper_s_sets_reach_the_tables(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.change(TINY)
    params = project.folder / "params.yaml"
    with serve() as hub:
        serve_made(hub)
        project.change({"mirror": hub.url})
        content = yaml.safe_load(params.read_text(encoding="utf-8"))
        params.write_text(
            yaml.safe_dump(content | {"metrics": {"jaccard": {}}}, sort_keys=False),
            encoding="utf-8",
        )
        project.run("python", "-m", "sagebench", "dvc")
        project.snakemake("--cores", "2", NO_PROXY="127.0.0.1,localhost", SAGEBENCH_DVC="0")
    summary = project.summary().filter(pl.col("system") == "jaccard")
    scores = dict(summary.select("measure", "value").rows())
    assert {"human_preference", "robustness", "sensitivity", "clustering", "retrieval"} <= set(
        scores
    )
    assert all(0 <= value <= 1 for value in scores.values())
    card = (project.folder / "results/corpora.md").read_text(encoding="utf-8")
    assert "for `refs/convert/parquet`" in card
    assert "(not drawn)" in card
    caption = (project.folder / "results/tables/retrieval.md").read_text(encoding="utf-8")
    assert "documents drawn every second one judged" in caption
    robustness = (project.folder / "results/tables/robustness.md").read_text(encoding="utf-8")
    assert "reported on the same corpus" in robustness
