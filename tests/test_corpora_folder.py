"""Corpora of a folder of the user's: copied and checked, parsed, used like any other."""

import gzip
import hashlib
import itertools
import json

import numpy as np
import polars as pl
import pytest
from conftest import ROOT

from sagebench import frames, registry
from sagebench import params as params_module
from sagebench.corpora import card, catalogue
from sagebench.corpora.build import build
from sagebench.corpora.catalogue import FolderSource
from sagebench.corpora.fetch import fetch
from sagebench.corpora.folder import copy
from sagebench.corpora.parsers.json_documents import json_line_documents, json_object_documents
from sagebench.corpora.parsers.realsumm import realsumm_choices, realsumm_ratings
from sagebench.corpora.sample import sample
from sagebench.embeddings.base import build as build_model
from sagebench.embeddings.embed import embed
from sagebench.embeddings.store import Store
from sagebench.errors import BenchError
from sagebench.metrics.cosine import Cosine
from sagebench.perturbations.apply import perturb
from sagebench.plan import Plan

FOLDERS = [n for n, s in catalogue.load().sources.items() if isinstance(s, FolderSource)]
CONTENT = b'{"a": 1}\n'


def source(**changed: object) -> FolderSource:
    file = {"member": "a.jsonl", "sha256": hashlib.sha256(CONTENT).hexdigest()}
    entry = {"folder": "sets/demo", "licence": "CC0", "citation": "none", "files": {"a": file}}
    return FolderSource.model_validate(entry | changed)


def place(root, name="a.jsonl", content=CONTENT):
    path = root / "sets" / "demo" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


# --- copying ---------------------------------------------------------------------------------


def test_a_file_is_copied_plain_or_packed(tmp_path):
    place(tmp_path / "plain")
    place(tmp_path / "packed", "a.jsonl.gz", gzip.compress(CONTENT))
    for root in ("plain", "packed"):
        copy("demo", source(), tmp_path / root / "raw", tmp_path / root)
        assert (tmp_path / root / "raw" / "a").read_bytes() == CONTENT


def test_what_is_not_there_or_another_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("SAGEBENCH_DATA", raising=False)
    with pytest.raises(BenchError, match="'demo' is read from a folder of yours: set SAGEBENCH_D"):
        copy("demo", source(), tmp_path / "raw")
    monkeypatch.setenv("SAGEBENCH_DATA", str(tmp_path))
    with pytest.raises(BenchError, match=r"neither .*a\.jsonl nor a\.jsonl\.gz"):
        copy("demo", source(), tmp_path / "raw")
    place(tmp_path, content=b"other")
    with pytest.raises(BenchError, match=r"a\.jsonl: checksum mismatch, expected sha256"):
        copy("demo", source(), tmp_path / "raw")
    assert not (tmp_path / "raw" / "a").exists()
    place(tmp_path, "a.jsonl.gz", b"no gzip")
    (tmp_path / "sets/demo/a.jsonl").unlink()
    with pytest.raises(BenchError, match="cannot be read"):
        copy("demo", source(), tmp_path / "raw")


@pytest.mark.parametrize("folder", ["/etc", "../x", "a/../b", "a\\b", ""])
def test_a_folder_stays_below_the_users(folder):
    with pytest.raises(ValueError, match="folder"):
        source(folder=folder)


@pytest.mark.parametrize("size", ["nearest", "realsumm"])
def test_no_default_run_needs_them(size):
    default = Plan.read(ROOT / "params.yaml")
    assert not set(default.sources()) & set(FOLDERS)
    overlay = Plan.read(ROOT / "params.yaml", ROOT / "config" / f"{size}.yaml")
    assert set(overlay.sources()) & set(FOLDERS)


# --- parsing ---------------------------------------------------------------------------------


def lines(path, *rows):
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def summary(doc_id, system, text, recall):
    return {
        "doc_id": doc_id, "system_type": "abs", "system": system, "summary": text,
        "litepyramid_recall": recall,
    }  # fmt: skip


@pytest.fixture
def realsumm(tmp_path):
    articles = [{"doc_id": n, "document": f"article {n}\u2028on"} for n in (0, 1)]
    rows = [
        summary(0, "b", "good", 0.8), summary(0, "a", "bad", 0.2), summary(0, "c", "bad", 0.2),
        summary(1, "a", "one", 0.5),
    ]  # fmt: skip
    return [lines(tmp_path / "d.jsonl", *articles), lines(tmp_path / "s.jsonl", *rows)]


def test_realsumm(realsumm):
    ratings = realsumm_ratings(realsumm)
    assert ratings.read == 4
    assert {(r.text_a, r.text_b, r.aspect, r.rating, r.raters) for r in ratings.rows} == {
        ("article 0\u2028on", "good", "pyramid recall", 0.8, 0),
        ("article 0\u2028on", "bad", "pyramid recall", 0.2, 0),
        ("article 1\u2028on", "one", "pyramid recall", 0.5, 0),
    }
    choices = realsumm_choices(realsumm)
    assert choices.read == 3
    assert choices.dropped == {"the same summary by two systems": 1}
    assert [(c.summary_1, c.summary_2, c.score_1, c.score_2) for c in choices.rows] == [
        ("bad", "good", 0.2, 0.8),
        ("good", "bad", 0.8, 0.2),
    ]


def test_realsumm_refuses_strangers(realsumm):
    lines(realsumm[1], summary(7, "a", "x", 0.1))
    with pytest.raises(BenchError, match="unknown article 7"):
        realsumm_ratings(realsumm)
    lines(realsumm[1], summary(0, "a", "x", None))
    with pytest.raises(BenchError, match=r"s\.jsonl, line 1: no value for 'litepyramid_recall'"):
        realsumm_choices(realsumm)


def test_json_documents(tmp_path):
    path = lines(tmp_path / "x.jsonl", {"id": 1, "body": "t", "short": "s"})
    (row,) = json_line_documents([path], "id", "body", "short").rows
    assert (row.doc_id, row.text, row.summary) == ("1", "t", "s")
    path = lines(tmp_path / "x.json", {"k": {"body": "t", "short": "s"}})
    (row,) = json_object_documents([path], "body", "short").rows
    assert (row.doc_id, row.text, row.summary) == ("k", "t", "s")
    with pytest.raises(BenchError, match=r"x\.json, k: no value for 'long'"):
        json_object_documents([path], "body", "long")
    path.write_text("[", encoding="utf-8")
    with pytest.raises(BenchError, match=r"x\.json: "):
        json_object_documents([path], "body", "short")


# --- the real files --------------------------------------------------------------------------


@pytest.fixture
def built_corpus(shared, tmp_path, monkeypatch, raw):
    """`built_corpus(name)` -> its frames, through fetch and build, and its data card."""
    monkeypatch.setenv("SAGEBENCH_DATA", str(shared / "data"))

    def provide(name):
        entry = catalogue.load().corpus(name)
        for given in {given.partition("/")[0] for given in entry.inputs}:
            fetch(given, tmp_path / "raw" / given)
        path = tmp_path / f"{name}.parquet"
        build(name, tmp_path / "raw", path)
        described = json.loads(path.with_suffix(".card.json").read_text("utf-8"))
        assert "a folder of the user" in card.render([described])
        return {"sample": frames.read(path, frames.ROLES[entry.role])}, described

    return provide


@pytest.mark.parametrize(
    ("name", "read", "rows"),
    [
        ("cnn_dailymail_realsumm", 100, 100),
        ("scisummnet_papers", 200, 200),
        ("legal_plain_english", 446, 445),
    ],
)
def test_the_nearest_documents(name, read, rows, built_corpus):
    found, described = built_corpus(name)
    assert (described["rows_read"], found["sample"].height) == (read, rows)
    assert found["sample"]["summary"].null_count() == 0


def scores_of(inputs, corpus, raw, systems, folder):
    """system -> task 1's score on a sample."""
    task = registry.load("task", "human_preference")()
    spec = {"task": {"ties": "second"}, "corpus": corpus, "seed": 2509}
    similarities = {}
    for name in systems:
        if name == "minilm":
            model = build_model(name, raw(*catalogue.load().model(name).sources))
            with Store.of(model, folder) as store:
                system = Cosine(embed(task.texts(inputs), model, store))
        else:
            system = registry.load("metric", name)(raw=raw("cl100k"))
        similarities[name] = task.similarity(inputs, system, spec)
    spec["bootstrap"] = {"resamples": 200, "level": 0.95}
    _, cells, _ = task.score(inputs, similarities, spec)
    with pl.Config(tbl_rows=-1):
        print(
            cells.filter(pl.col("measure").is_in(["score", "accuracy", "pearson:pyramid recall"]))
        )
    return {(c["system"], c["measure"]): c for c in cells.to_dicts()}


CLASSICAL = ["rouge", "jaccard", "levenshtein", "bm25", "length_ratio"]


def test_human_preference_on_realsumm(built_corpus, raw, tmp_path):
    """Both halves of task 1 on a few summaries, beside their definitions."""
    systems = [*CLASSICAL, "minilm"]
    ratings, described = built_corpus("realsumm_ratings")
    assert described["rows_read"] == 2_500
    chosen = sample("ratings", ratings, 20, 2509, "realsumm_ratings")
    found = scores_of(chosen, "realsumm_ratings", raw, systems, tmp_path / "store")
    rows = chosen["sample"]
    shares = [
        min(len(a), len(b)) / max(len(a), len(b)) for a, b in zip(rows["text_a"], rows["text_b"])
    ]
    r = float(np.corrcoef(shares, rows["rating"])[0, 1])
    assert found["length_ratio", "pearson:pyramid recall"]["value"] == pytest.approx(r, abs=1e-9)
    for system in systems:
        cell = found[system, "score"]
        r = found[system, "pearson:pyramid recall"]["value"]
        assert (cell["value"], cell["n"]) == (pytest.approx(0.5 * (r + 1)), 20)

    choices, described = built_corpus("realsumm_choices")
    assert described["rows_read"] == 100 * 25 * 24 // 2
    chosen = sample("preferences", choices, 15, 2509, "realsumm_choices", min_gap=0.125)
    assert (chosen["sample"]["gap"] >= 0.125).all()
    found = scores_of(chosen, "realsumm_choices", raw, systems, tmp_path / "store")
    assert {found[system, "accuracy"]["n"] for system in systems} == {15}


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_similarity_follows_the_human_recall_of_realsumm(built_corpus, raw, tmp_path):
    ratings, _ = built_corpus("realsumm_ratings")
    found = scores_of(ratings, "realsumm_ratings", raw, CLASSICAL, tmp_path)
    for system in ("rouge", "jaccard", "levenshtein"):
        assert found[system, "pearson:pyramid recall"]["low"] > 0.1, system
    choices, _ = built_corpus("realsumm_choices")
    chosen = sample("preferences", choices, 2_000, 2509, "realsumm_choices", min_gap=0.125)
    found = scores_of(chosen, "realsumm_choices", raw, CLASSICAL, tmp_path)
    for system in ("rouge", "jaccard", "levenshtein"):
        assert found[system, "accuracy"]["low"] > 0.5, system


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_the_papers_cells_on_the_nearest_texts(built_corpus, raw):
    """CNN/DailyMail's own articles, lower-case and tokenised: sensitivity agrees, and robustness
    where the form of the texts does not matter. Jaccard's is far lower, 0.05 for 0.174, for just
    that form: `test_robustness_depends_on_the_form_of_the_texts`.
    """
    params = params_module.read(ROOT / "params.yaml")
    sections = {name: getattr(params.tasks, name).model_dump(mode="json")
                for name in ("robustness", "sensitivity")}  # fmt: skip
    needles = dict.fromkeys(
        sections["robustness"]["superficial"] + params.tasks.robustness.semantic
    )
    needles["lorem_insertion"] = sections["sensitivity"]["insertion"]
    needles["span_removal"] = sections["sensitivity"]["removal"]
    reported = {
        "cnn_dailymail_realsumm": {"levenshtein": (0.333, 0.842, 0.864),
                                   "jaccard": (0.174, 0.964, 0.849)},
    }  # fmt: skip
    for corpus, systems in reported.items():
        documents, _ = built_corpus(corpus)
        inputs = sample("documents", documents, 60, params.seed, corpus)
        inputs["perturbed"] = {
            name: perturb(inputs["sample"], name, {}, params.seed, raw=raw("cl100k"), needles=grid)
            for name, grid in needles.items()
        }
        for (system, paper), name in itertools.product(systems.items(), sections):
            metric = registry.load("metric", system)(raw=raw("cl100k"))
            task = registry.load("task", name)()
            spec = {"task": sections[name], "corpus": corpus, "seed": params.seed}
            similarity = task.similarity(inputs, metric, spec)
            spec["bootstrap"] = {"resamples": 100, "level": 0.95}
            _, cells, _ = task.score(inputs, {system: similarity}, spec)
            values = dict(cells.select("measure", "value").iter_rows())
            if name == "robustness":
                assert system == "jaccard" or values["score"] == pytest.approx(
                    paper[0], abs=0.04
                ), system
            else:
                assert values["insertion"] == pytest.approx(paper[1], abs=0.02), system
                assert values["removal"] == pytest.approx(paper[2], abs=0.02), system
