"""Looking after the stores: what is kept and what goes, and damage that is only reported."""

import shutil
import sys

import polars as pl
import pytest
from test_embeddings_store import flip, same, vectors_of

from sagebench import frames, layout
from sagebench.__main__ import main
from sagebench.embeddings import upkeep
from sagebench.embeddings.base import build
from sagebench.embeddings.embed import embed
from sagebench.embeddings.store import Store
from sagebench.errors import BenchError
from sagebench.plan import Plan


def test_only_the_wanted_vectors_are_kept(tmp_path):
    put = vectors_of(range(500))
    wanted = dict(list(put.items())[::2])
    with Store(tmp_path / "a.sqlite", 8) as store:
        store.put_many(put)
    with Store(tmp_path / "a.sqlite", 8) as store:
        size = store.stat().size
        assert store.unused([*wanted, b"x" * 32]) == 250
        assert same(store.get_many(put), put)
        assert store.keep_only([*wanted, b"x" * 32]) == 250
        assert same(store.get_many(put), wanted)
        assert store.keep_only(wanted) == 0
        assert store.stat().size < size
        assert store.verify() == 250
        assert store.keep_only([]) == 250


def test_stat_and_verify_read_every_store(tmp_path, capsys):
    for name, dim in (("a", 8), ("b", 3)):
        with Store(tmp_path / f"{name}.sqlite", dim) as store:
            store.put_many(vectors_of(range(dim), dim))
    assert main(["store", "stat", "--folder", str(tmp_path)]) == 0
    assert main(["store", "verify", "--folder", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "a.sqlite: 8 vectors, 0." in printed
    assert "b.sqlite: 3 vectors, all sound" in printed


@pytest.mark.parametrize("where", ["vector", "head"])
def test_damage_is_reported_and_left_as_it_is(tmp_path, capsys, where):
    path, put = tmp_path / "a.sqlite", vectors_of(range(9))
    with Store(path, 8) as store:
        store.put_many(put)
    if where == "head":
        path.write_bytes(b"garbage!" * 100)
    else:
        flip(path, next(iter(put)))
    before = path.read_bytes()
    assert main(["store", "verify", "--folder", str(tmp_path)]) == 2
    assert "a.sqlite is damaged" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("*.damaged*"))


@pytest.fixture
def project(tmp_path, raw):
    """A plan of one static model and one small clustering corpus, its texts and their vectors."""
    plan = Plan.read("params.yaml")
    plan.__dict__["models"] = {"wordllama": "wordllama"}
    plan.__dict__["tasks"] = {"clustering": plan.tasks["clustering"]}
    plan.tasks["clustering"].corpora[:] = ["bbc"]
    data = tmp_path / "data"
    shutil.copytree(raw("wordllama"), data / "raw", symlinks=True)
    sample = pl.DataFrame({"doc_id": ["1", "2"], "text": ["one text", "two texts"], "label": "ab"})
    frames.write(sample, layout.sample(data, "clustering", "bbc"), frames.LABELLED)
    return plan, data, tmp_path / "stores"


def test_gc_keeps_what_the_plan_asks_for(project):
    plan, data, folder = project
    encoder = build("wordllama", data / "raw")
    with Store.of(encoder, folder) as store:
        embed(["one text", "two texts", "a text of yesterday"], encoder, store)
        current = store.path
    with Store(folder / "of-old.sqlite", 8) as store:
        store.put_many(vectors_of(range(3)))
    (folder / "x.damaged-1").write_text("")
    lines = list(upkeep.collect(plan, data, folder, dry_run=True))
    assert "1 of 3 vectors unused" in lines[0]
    assert [line.split(":")[0] for line in lines[1:]] == ["of-old.sqlite", "x.damaged-1"]
    assert [stat.vectors for stat in upkeep.stats(folder)] == [3, 3]
    assert list(upkeep.collect(plan, data, folder)) == lines
    assert {stat.path: stat.vectors for stat in upkeep.stats(folder)} == {current: 2}
    assert not list(folder.glob("*old*")) + list(folder.glob("*.damaged-1"))
    with Store.of(encoder, folder) as store:
        assert len(embed(["one text", "two texts"], encoder, store)) == 2


def test_gc_without_the_texts_would_delete_everything_so_it_refuses(project):
    plan, data, folder = project
    layout.sample(data, "clustering", "bbc").unlink()
    with pytest.raises(BenchError, match=r"bbc.parquet is missing .*`snakemake --cores all`"):
        list(upkeep.collect(plan, data, folder))


def test_looking_at_stores_loads_no_model_library(tmp_path):
    before = set(sys.modules)
    assert main(["store", "stat", "--folder", str(tmp_path)]) == 0
    assert not {"torch", "transformers", "sentence_transformers"} & (set(sys.modules) - before)
