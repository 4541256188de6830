"""From the Hub to the tables: the paper's data sets through all five tasks, at a tiny size, with a
model behind an API and one of the user's own.
"""

from pathlib import Path

import api_support
import polars as pl
import pytest
import yaml
from hub_server import serve
from hub_sets import serve_made
from workflow_support import Project

from sagebench.corpora import cache

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(900)]

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
    "references": ["constant_1"],
}


def test_the_paper_s_sets_reach_the_tables(tmp_path: Path, raw) -> None:
    project = Project(tmp_path / "project")
    project.change(TINY)
    params = project.folder / "params.yaml"
    own = str(raw("minilm") / "minilm" / "model")
    mine = tmp_path / "cache"  # the user's, without vectors that an earlier run has paid
    mine.mkdir()
    for known in cache.folder().iterdir():
        if known.name != "embeddings":
            (mine / known.name).symlink_to(known)
    with serve() as hub, api_support.serve("openai") as api:
        serve_made(hub)
        served = {
            "name": "served", "provider": "openai", "base_url": api.url, "model": "m",
            "dimensions": api_support.DIM, "key": "TEST_KEY", "usd_per_million_tokens": 0,
        }  # fmt: skip
        models = [served, {"name": "mine", "path": own, "batch_size": "auto", "max_tokens": 64}]
        project.change({"mirror": hub.url, "models": models})
        content = yaml.safe_load(params.read_text(encoding="utf-8"))
        params.write_text(
            yaml.safe_dump(content | {"metrics": {"jaccard": {}}}, sort_keys=False),
            encoding="utf-8",
        )
        project.run("python", "-m", "sagebench", "dvc")
        environment = {
            "NO_PROXY": "127.0.0.1,localhost", "SAGEBENCH_DVC": "0",
            "SAGEBENCH_CACHE": str(mine), "TEST_KEY": api_support.KEY,
        }  # fmt: skip
        project.snakemake("--cores", "2", **environment)
        assert api.answered
    page = (project.folder / "results/report.html").read_text(encoding="utf-8")
    assert api_support.KEY not in page
    assert {"served", "mine"} <= set(project.summary()["system"])
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
