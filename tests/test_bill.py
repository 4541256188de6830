"""The bill before anything is sent, the budget, and a key that appears nowhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from api_support import DIM, KEY, serve

from sagebench import bill, frames, layout
from sagebench.corpora import catalogue
from sagebench.errors import BenchError
from sagebench.jobs import Jobs
from sagebench.params import load
from sagebench.plan import Plan
from sagebench.tokens import cl100k

ROOT = Path(__file__).resolve().parents[1]
LABELLED = [f"text {i} about {'law and order' if i % 2 else 'tea and cake'}" for i in range(12)]
DOCUMENTS = [f"document number {i} says {'more ' * i}" for i in range(5)]
QUERIES = ["document number 1", DOCUMENTS[2], "number 4"]
SPECS = {
    "clustering": {"kind": "clustering", "corpora": {"demo": "labelled"}, "perturbations": []},
    "retrieval": {"kind": "retrieval", "corpora": {"demo": "retrieval"}, "perturbations": []},
}


@pytest.fixture
def data(tmp_path, raw, monkeypatch):
    """A data folder with the samples of two tasks, and the tokenizer."""
    monkeypatch.setenv("SAGEBENCH_STORE", str(tmp_path / "store"))
    folder = tmp_path / "data"
    ids = [f"t{i:02}" for i in range(len(LABELLED))]
    parts = {
        "sample": pl.DataFrame(
            {"doc_id": ids, "text": LABELLED, "label": [str(i % 2) for i in range(len(ids))]}
        )
    }
    layout.write_corpus(parts, layout.sample(folder, "clustering", "demo"), "labelled")
    ids = [f"d{i}" for i in range(len(DOCUMENTS))]
    retrieval = {
        "sample": pl.DataFrame(
            {"doc_id": ids, "text": DOCUMENTS, "summary": None},
            schema_overrides={"summary": pl.String},
        ),
        "queries": pl.DataFrame({"query_id": ["q1", "q2", "q3"], "text": QUERIES}),
        "qrels": pl.DataFrame(
            {"query_id": ["q1", "q2", "q3"], "doc_id": ["d1", "d2", "d4"], "relevance": [1, 1, 1]}
        ),
    }
    layout.write_corpus(retrieval, layout.sample(folder, "retrieval", "demo"), "retrieval")
    (folder / "raw").mkdir()
    for source in ("cl100k", "minilm", "paraphrase_l3"):
        (folder / "raw" / source).symlink_to(raw(source) / source)
    return folder


def own(api, **settings):
    known = {"name": "mine", "provider": api.provider, "model": "m", "dimensions": DIM}
    return known | {"base_url": api.url, "key": "TEST_KEY", "concurrency": 2} | settings


def billed(model, price=10.0, name="mine"):
    return {"models": {name: {"model": model, "price": price}}, "tasks": SPECS}


def run(*arguments, folder, **environment):
    return subprocess.run(
        [sys.executable, "-m", "sagebench", *map(str, arguments)], cwd=folder, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        capture_output=True, check=False,
    )  # fmt: skip


def embed(model, task, folder, out="out.parquet", **extra):
    spec = SPECS[task] | {"task": task, "model": model} | extra
    log = folder / "logs" / f"{task}.log"
    return run(
        "embed", folder / out, "--data", folder / "data", "--spec", json.dumps(spec),
        "--log", log, folder=folder, TEST_KEY=KEY,
    )  # fmt: skip


def test_the_bill_counts_each_vector_once_and_what_is_stored_costs_nothing(data):
    with serve("cohere") as api:
        lines = list(bill.lines(billed(own(api)), data))
        assert not api.requests
        count = [len(cl100k(data / "raw").encode(text)) for text in LABELLED]
        assert (lines[0].texts, lines[0].stored, lines[0].tokens) == (12, 0, sum(count))
        assert lines[0].usd == pytest.approx(sum(count) * 10 / 1e6)
        # Cohere reads queries in another way, so the text that is both is sent twice.
        assert lines[1].texts == len(DOCUMENTS) + len(QUERIES)
        done = embed(own(api), "clustering", data.parent)
        assert done.returncode == 0, done.stderr
        after = list(bill.lines(billed(own(api)), data))
        assert sum(len(request["texts"]) for request in api.requests) == 12
    assert (after[0].texts, after[0].stored, after[0].tokens, after[0].usd) == (12, 12, 0, 0.0)
    assert after[1] == lines[1]
    with serve("openai") as api:
        assert [line.texts for line in bill.lines(billed(own(api)), data)] == [12, 7]


def test_the_bill_is_printed(data):
    with serve("cohere") as api:
        lines = list(bill.lines(billed(own(api), None), data))
    text = bill.render([*lines, bill.Line("other", "retrieval", 1000, 1, 2_000_000, 40.0)])
    assert re.search(r"mine +clustering +12 +0 +\d+ +price unknown", text)
    assert re.search(r"total .* 40.00 \+ unknown", text)
    assert "nothing to pay" in bill.render([])


def test_a_run_above_the_budget_sends_nothing(data):
    with serve() as api:
        model = own(api)
        for price, message in [(1e6, "more than budget_usd 1;"), (None, "mine is unknown")]:
            done = embed(
                model, "clustering", data.parent, bill=billed(model, price), budget_usd=1.0
            )
            assert done.returncode == 2
            assert message in done.stderr
        assert not api.requests
        done = embed(model, "clustering", data.parent, bill=billed(model, 1.0), budget_usd=1.0)
        assert done.returncode == 0, done.stderr
        assert api.requests
        bill.check(billed(model, 1e6) | {"tasks": {"clustering": SPECS["clustering"]}}, 0.0, data)


def test_missing_texts_name_the_way_to_them(data):
    layout.sample(data, "clustering", "demo").unlink()
    with serve() as api, pytest.raises(BenchError, match="snakemake --cores all texts"):
        list(bill.lines(billed(own(api)), data))


def test_a_key_appears_in_no_file_and_no_message(data):
    refused = [(400, {}, {"error": {"message": f"bad request of {KEY}"}})] * 20
    outputs = []
    with serve(key="sk-another") as api:
        outputs.append(embed(own(api), "clustering", data.parent))
    assert "does not accept the key" in outputs[0].stderr
    with serve(faults=refused) as api:
        outputs.append(embed(own(api), "clustering", data.parent))
    assert "bad request of ***" in outputs[1].stderr
    with serve(faults=["cut"] * 2) as api:
        outputs.append(embed(own(api), "retrieval", data.parent))
    assert outputs[2].returncode == 0, outputs[2].stderr
    for output in outputs:
        assert KEY not in output.stdout + output.stderr
    for path in data.parent.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("task", ["clustering", "retrieval"])
def test_scores_through_a_server_equal_those_computed_here(data, task):
    from sagebench.embeddings.base import build

    local = build("paraphrase_l3", data / "raw")

    def vectors(texts):
        return (local.encode(texts) * 2.5).tolist()  # a server's need not be of length 1

    with serve("openai", embed=vectors) as api:
        model = own(api, dimensions=384, name="served", max_tokens=128,
                    tokenizer="minilm/model/tokenizer.json")  # fmt: skip
        for name, entry in (("served", model), ("paraphrase_l3", "paraphrase_l3")):
            out = layout.embeddings(data, task, name).relative_to(data.parent)
            done = embed(entry, task, data.parent, out=out)
            assert done.returncode == 0, done.stderr
    tables = [
        pl.read_parquet(layout.embeddings(data, task, n)) for n in ("served", "paraphrase_l3")
    ]
    assert tables[0].drop("vector").equals(tables[1].drop("vector"))
    a, b = (np.array(table["vector"].to_list()) for table in tables)
    np.testing.assert_allclose(a, b, atol=1e-6)
    found = {name: _scored(data, task, name) for name in ("served", "paraphrase_l3")}
    assert found["served"].equals(found["paraphrase_l3"])


def _scored(data, task, name):
    from sagebench import registry
    from sagebench.metrics.cosine import Cosine

    spec, kind = SPECS[task], registry.load("task", task)()
    (role,) = spec["corpora"].values()
    inputs = layout.read_inputs(data, task, "demo", role, [])
    system = Cosine(frames.read(layout.embeddings(data, task, name), frames.EMBEDDINGS))
    settings = {
        "task": {"cutoff": 3, "layout": "paired"}, "corpus": "demo", "seed": 1,
        "bootstrap": {"resamples": 100, "level": 0.95},
    }  # fmt: skip
    similarity = kind.similarity(inputs, system, settings)
    rounded = similarity.with_columns(pl.col("similarity").round(5))
    if task == "retrieval":
        return rounded
    return kind.score(inputs, {"x": similarity}, settings)[1].sort(pl.all())


# --- parameters --------------------------------------------------------------------------------


def plan(**changes):
    config = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    return Plan(load(config | changes), catalogue.load())


def test_under_a_budget_every_task_is_read_first():
    models = ["glove", "text_embedding_3_small"]
    free, capped = plan(models=models, budget_usd=None), plan(models=models, budget_usd=5)
    retrieval = "data/samples/retrieval/semanlink_arxiv.parquet"

    def inputs(found, model):
        return [path.as_posix() for path in found.embed_inputs("clustering", model)]

    assert retrieval not in inputs(free, models[1])
    assert retrieval in inputs(capped, models[1])
    assert retrieval not in inputs(capped, "glove")
    spec = json.loads(Jobs(capped).embed_spec("clustering", models[1]))
    assert spec["budget_usd"] == 5
    assert spec["bill"]["models"] == {models[1]: {"model": models[1], "price": 0.02}}
    assert "bill" not in json.loads(Jobs(free).embed_spec("clustering", models[1]))
    assert Jobs(free).params_spec() == Jobs(capped).params_spec()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"provider": "opena", "model": "m", "dimensions": 3}, "'openai', 'cohere'"),
        ({"provider": "openai", "dimensions": 3}, "models.0.model: is missing"),
        ({"provider": "openai", "model": "m", "dimensions": 3, "modle": 1}, "Did you mean 'model'"),
        ({"provider": "openai", "model": "m", "dimensions": 3, "key": KEY}, "models.0.key"),
        ({"provider": "openai", "model": "m", "dimensions": 3, "base_url": "http://u:p@h/"}, "url"),
        ({"provider": "openai", "model": "m", "dimensions": 3, "max_tokens": 9, "send_tokens": 3},
         "send_tokens is below max_tokens"),
        ({"path": "x", "prompts": {"querry": "q"}}, "querry"),
        ({"path": "x", "dtyp": "float16"}, "Did you mean 'dtype'"),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_explained(entry, message):
    with pytest.raises(BenchError, match=re.escape(message)) as caught:
        plan(models=[{"name": "mine"} | entry])
    assert KEY not in str(caught.value)


def test_the_papers_models_are_in_the_catalogue():
    reported = pl.read_csv(ROOT / "workflow/catalogue/reported_scores.csv")
    known = {model.title for model in catalogue.load().models.values() if model.backend == "api"}
    systems = set(reported["system"])
    assert len(known) == 5
    assert known <= systems, systems
