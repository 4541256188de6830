"""The rules of the acquire phase with sets of the Hub: mirror and folders come from params.yaml."""

import json
from pathlib import Path

import polars as pl
import pytest
from hub_server import serve
from hub_sets import beir, made
from workflow_support import Project

from sagebench.corpora import catalogue

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(300)]

WANTED = [
    "data/corpora/retrieval/beir_fever.parquet",
    "data/corpora/retrieval/beir_bioasq.parquet",
    "data/samples/retrieval/beir_fever.parquet",
]


def test_a_mirror_and_a_user_s_folder(tmp_path: Path) -> None:
    project = Project(tmp_path / "a folder")
    own = tmp_path / "it's {mine}"  # a name that a shell and a template would trip over
    for name, content in beir("test").items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_bytes(content)
    environment = {
        "SAGEBENCH_CACHE": str(tmp_path / "cache"), "HF_HUB_CACHE": str(tmp_path / "hf"),
        "NO_PROXY": "127.0.0.1,localhost", "SAGEBENCH_DVC": "0",
    }  # fmt: skip
    retrieval = {"corpora": ["beir_fever", "beir_bioasq"], "documents": 6, "draw": "judged"}
    with serve() as hub:
        known = catalogue.load()
        fever = known.hub["beir_fever"]
        hub.add(fever.hub, fever.revision, made("beir_fever", known))
        project.change(
            {
                "tasks": {"retrieval": retrieval},
                "mirror": hub.url,
                "folders": {"beir_bioasq": str(own)},
            }
        )
        project.snakemake("--cores", "1", *WANTED, **environment)
        assert hub.requests
    corpus = pl.read_parquet(project.folder / WANTED[0])
    assert corpus.height == 6  # what the task draws
    assert pl.read_parquet(project.folder / WANTED[2]).equals(corpus)
    record = json.loads((project.folder / "data/raw/beir_fever/source.json").read_text())
    assert record["commit"] == fever.revision
    # Bytes from elsewhere are the same bytes: nothing runs again.
    project.change({"mirror": str(tmp_path), "folders": {"beir_bioasq": "/elsewhere"}})
    assert project.planned("--cores", "1", *WANTED) == []
    # A larger sample needs another pool, and no download.
    project.change({"tasks": {"retrieval": {"documents": 7}}})
    assert project.planned("--cores", "1", *WANTED) == [
        "corpus beir_bioasq", "corpus beir_fever", f"sample {WANTED[2]}",
    ]  # fmt: skip
