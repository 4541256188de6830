"""Retrieval on SciFact and ratings on STSBenchmark, warm, against mteb on the same vectors."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sagebench import frames
from sagebench.bench.measure import Place, Row, Section, Target, child, median, peak_mb

MODEL = "minilm"


def measure(place: Place) -> Section:
    """mteb runs in the folder of packages beside the lock (`place.scratch`/packages)."""
    if place.shared is None:
        return Section("SciFact", notes=["Not measured: no benchmark data (SAGE_SHARED)."])
    packages = place.scratch / "packages"
    if not (packages / "mteb").is_dir():
        return Section("SciFact", notes=["Not measured: `make bench` installs mteb for it."])
    options = {"shared": place.shared, "data": place.data, "scratch": place.scratch}
    child(prepare, **options)
    mine = child(ours, **options)
    other = child(mtebs, path=packages, **options)
    rows = []
    for what in ("SciFact", "STSBenchmark"):
        found, theirs = mine[what], other[what]
        rows.append(
            Row(
                f"{what}, from vectors to score", found["size"], found["seconds"],
                peak_mb=mine["peak_mb"], reference="mteb on the same vectors",
                reference_seconds=theirs["seconds"],
                difference=abs(found["score"] - theirs["score"]),
            )
        )  # fmt: skip
    warm = mine["warm"]
    rows.append(Row("SciFact, embedding again, warm store", mine["SciFact"]["size"], warm, runs=1))
    target = Target(
        "retrieval on SciFact, warm, vs mteb from precomputed vectors", "times",
        rows[0].ratio or 0, at_least=1.5,
    )  # fmt: skip
    notes = [
        f"nDCG@10 on SciFact {mine['SciFact']['score']:.4f}, mteb {other['SciFact']['score']:.4f}; "
        f"Spearman on STSBenchmark {mine['STSBenchmark']['score']:.4f}, "
        f"mteb {other['STSBenchmark']['score']:.4f}. mteb gets its vectors from memory; ours are "
        "read from the table. A warm store still reads every text with the model's tokenizer."
    ]
    return Section("SciFact and STSBenchmark", rows, [target], notes=notes)


def scifact(shared: Path) -> tuple[dict[str, str], dict[str, str], dict[str, dict[str, int]]]:
    """Documents (title and text), queries and judgments by id."""
    folder = shared / "data" / "retrieval" / "scifact"
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as stream:
        found = [json.loads(line) for line in stream]
    documents = {each["_id"]: f"{each['title']} {each['text']}".strip() for each in found}
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = {query["_id"]: query["text"] for query in map(json.loads, lines)}
    judged: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, relevance = line.split("\t")
        judged.setdefault(query, {})[document] = int(relevance)
    return documents, queries, judged


def sts(shared: Path) -> tuple[list[str], list[str], list[float]]:
    """Both sides and the ratings of STSBenchmark's test part."""
    path = shared / "data" / "human_ratings" / "stsbenchmark" / "sts-test.csv"
    with open(path, encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row[5] for row in rows], [row[6] for row in rows], [float(row[4]) for row in rows]


def prepare(shared: str, data: str, scratch: str) -> dict[str, Any]:
    """The tables of vectors, through the store; minutes the first time."""
    _embed(Path(shared), Path(data), Path(scratch))
    return {}


def _embed(shared: Path, data: Path, scratch: Path) -> None:
    from sagebench.embeddings.base import build
    from sagebench.embeddings.embed import embed
    from sagebench.embeddings.store import Store

    documents, queries, _ = scifact(shared)
    left, right, _ = sts(shared)
    encoder = build(MODEL, data / "raw")
    with Store.of(encoder, scratch / "embeddings") as store:
        for name, texts in {
            "SciFact": [*documents.values(), *queries.values()],
            "STSBenchmark": left + right,
        }.items():
            table = embed(texts, encoder, store)
            frames.write(table, scratch / f"{name}.parquet", frames.EMBEDDINGS)


def ours(shared: str, data: str, scratch: str) -> dict[str, Any]:
    """From the tables of vectors to the scores, by the tasks' own code."""
    from scipy.stats import spearmanr

    from sagebench.metrics.cosine import Cosine
    from sagebench.tasks.base import Inputs
    from sagebench.tasks.ranking import ORIGINAL
    from sagebench.tasks.retrieval import Retrieval
    from sagebench.tasks.retrieval_score import Judged, ndcg

    documents, queries, judged = scifact(Path(shared))
    left, right, ratings = sts(Path(shared))
    inputs: Inputs = {
        "sample": pl.DataFrame({"doc_id": list(documents), "text": list(documents.values())}),
        "queries": pl.DataFrame({"query_id": list(queries), "text": list(queries.values())}),
        "qrels": pl.DataFrame(
            [(q, d, r) for q, found in judged.items() for d, r in found.items()],
            schema=["query_id", "doc_id", "relevance"], orient="row",
        ),
        "perturbed": {},
    }  # fmt: skip
    scores: dict[str, float] = {}

    def retrieve() -> None:
        system = Cosine(Path(scratch) / "SciFact.parquet")
        spec: Any = {"task": {"cutoff": 10, "layout": "paired"}, "seed": 0}
        ranking = Retrieval().similarity(inputs, system, spec)
        scores["SciFact"] = float(ndcg(ranking, Judged.of(inputs), ORIGINAL, 10).mean())

    def rate() -> None:
        system = Cosine(Path(scratch) / "STSBenchmark.parquet")
        scores["STSBenchmark"] = float(spearmanr(system.pairs(left, right), ratings).statistic)

    seconds = {"SciFact": median(retrieve), "STSBenchmark": median(rate)}
    sizes = {
        "SciFact": f"{len(documents):,} documents, {len(queries)} queries",
        "STSBenchmark": f"{len(left):,} pairs",
    }
    peak = peak_mb()
    warm = median(lambda: _embed(Path(shared), Path(data), Path(scratch)), runs=1)
    found: dict[str, Any] = {
        name: {"size": sizes[name], "seconds": seconds[name], "score": scores[name]}
        for name in seconds
    }
    return {**found, "warm": warm, "peak_mb": peak}


def mtebs(shared: str, data: str, scratch: str) -> dict[str, Any]:
    """The same two scores by `mteb.evaluate`, whose encoder looks vectors up in memory."""
    del data
    import logging
    import warnings

    import mteb
    import torch
    from datasets import disable_progress_bars

    torch.set_num_threads(1)
    disable_progress_bars()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    model = _mteb_model(Path(shared), Path(scratch))
    found: dict[str, Any] = {}
    for name, task in _mteb_tasks(Path(shared)).items():
        task.unload_data = lambda: None  # mteb would fetch it again for the next run
        task.data_loaded = True
        scores: list[float] = []

        def run(task: Any = task, scores: list[float] = scores) -> None:
            done = mteb.evaluate(model, task, cache=None, show_progress_bar=False)
            scores.append(done.task_results[0].get_score())

        found[name] = {"seconds": median(run), "score": scores[-1]}
    return found


def _mteb_model(shared: Path, scratch: Path) -> Any:
    import mteb
    import torch

    documents, queries, _ = scifact(shared)
    left, right, _ = sts(shared)
    vectors = _by_text(scratch, {
        "SciFact": [*documents.values(), *queries.values()], "STSBenchmark": left + right,
    })  # fmt: skip

    class Known:
        mteb_model_meta = mteb.get_model_meta("sentence-transformers/all-MiniLM-L6-v2")

        def encode(self, inputs: Any, **_: Any) -> Any:
            return np.stack([vectors[text] for batch in inputs for text in batch["text"]])

        def similarity(self, a: Any, b: Any) -> Any:
            return torch.as_tensor(a) @ torch.as_tensor(b).T  # unit vectors

        def similarity_pairwise(self, a: Any, b: Any) -> Any:
            return (torch.as_tensor(a) * torch.as_tensor(b)).sum(dim=1)

    return Known()


def _mteb_tasks(shared: Path) -> dict[str, Any]:
    """mteb's two tasks with the data of this machine."""
    import mteb
    import pyarrow
    from datasets import Dataset, DatasetDict

    def dataset(name: str, **columns: Any) -> Any:
        # With a name of its own: datasets would pickle the table to find one.
        return Dataset(pyarrow.table(columns), fingerprint=name)

    documents, queries, judged = scifact(shared)
    keys, texts = list(documents), list(documents.values())
    retrieval, rating = mteb.get_task("SciFact"), mteb.get_task("STSBenchmark")
    retrieval.dataset = {
        "default": {
            "test": {
                "corpus": dataset("corpus", id=keys, title=[""] * len(keys), text=texts),
                "queries": dataset("queries", id=list(queries), text=list(queries.values())),
                "relevant_docs": judged, "top_ranked": None,
            }
        }
    }  # fmt: skip
    left, right, ratings = sts(shared)
    pairs = dataset("pairs", sentence1=left, sentence2=right, score=ratings)
    rating.dataset = DatasetDict({"test": pairs})
    return {"SciFact": retrieval, "STSBenchmark": rating}


def _by_text(scratch: Path, texts: dict[str, list[str]]) -> dict[str, Any]:
    from sagebench.metrics.vectors import Vectors

    found: dict[str, Any] = {}
    for name, wanted in texts.items():
        vectors = Vectors(scratch / f"{name}.parquet")
        found.update(zip(wanted, vectors.take(vectors.find(wanted)), strict=True))
    return found
