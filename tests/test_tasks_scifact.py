"""The paper's BM25 retrieval robustness, recomputed on one of its 18 BEIR collections."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from tasks_support import POSITIONS, SEMANTIC, SUPERFICIAL, cell, spec

from sagebench import frames, registry
from sagebench.perturbations.apply import perturb

SECTION = {
    "transforms": SUPERFICIAL + SEMANTIC,
    "insertion": {"sizes": [0.15, 0.5], "positions": POSITIONS},
    "removal": {"sizes": [0.15, 0.5], "positions": POSITIONS},
    "cutoff": 10,
    "layout": "paired",
}
SEED = 2509


def scifact(folder: Path) -> dict:
    """All documents (title and abstract), queries and judgments."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as stream:
        documents = [json.loads(line) for line in stream]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    texts = [f"{document['title']} {document['text']}" for document in documents]
    sample = pl.DataFrame({"doc_id": [document["_id"] for document in documents], "text": texts})
    qrels = pl.read_csv(
        folder / "qrels" / "test.tsv",
        separator="\t",
        schema_overrides=[pl.String, pl.String, pl.Int64],
    )
    qrels.columns = ["query_id", "doc_id", "relevance"]
    return {
        "sample": sample.with_columns(pl.lit(None, pl.String).alias("summary")),
        "queries": pl.DataFrame(
            {"query_id": [q["_id"] for q in queries], "text": [q["text"] for q in queries]}
        ),
        "qrels": frames.QRELS.check(qrels.filter(pl.col("relevance") > 0)),
    }


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_bm25_retention_on_scifact_is_the_papers(raw, shared):
    data = scifact(shared / "data" / "retrieval" / "scifact")
    assert (data["sample"].height, data["queries"].height) == (5183, 300)
    files = raw("cl100k")
    grids = dict.fromkeys(SECTION["transforms"]) | {
        "lorem_insertion": SECTION["insertion"],
        "span_removal": SECTION["removal"],
    }
    data["perturbed"] = {
        name: perturb(data["sample"], name, {}, SEED, raw=files, needles=grid)
        for name, grid in grids.items()
    }
    task = registry.load("task", "retrieval")()
    settings = spec(SECTION, seed=SEED, resamples=1000)
    bm25 = registry.load("metric", "bm25")(files)
    ranking = task.similarity(data, bm25, settings)
    _, cells, _ = task.score(data, {"bm25": ranking}, settings)
    score = cell(cells, "bm25", "score")
    assert score["n"] == 300
    # A draft of this project got 0.243 here; the paper reports 0.240, over 18 collections.
    assert score["value"] == pytest.approx(0.240, abs=0.03)
    assert score["value"] == pytest.approx(0.243, abs=0.03)
    assert cell(cells, "bm25", "retention:numerization")["value"] < 0.05
    assert cell(cells, "bm25", "without_worst")["value"] > 0.4
