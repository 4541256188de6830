"""Retrieval on SciFact and ratings on STSBenchmark, warm, against mteb on the same vectors."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sagebench import frames
from sagebench.bench.measure import Place, Row, Section, Target, child, median, peak_mb
from sagebench.published import sts
from sagebench.published.folder import Folder
from sagebench.published.scifact import SciFact

MODEL = "minilm"


def measure(place: Place) -> Section:
    """mteb runs in the folder of packages beside the lock (`place.scratch`/packages)."""
    if place.published is None:
        note = "Not measured: no folder of benchmark data (--published, or SAGEBENCH_DATA)."
        return Section("SciFact", notes=[note])
    packages = place.scratch / "packages"
    if not (packages / "mteb").is_dir():
        return Section("SciFact", notes=["Not measured: `make bench` installs mteb for it."])
    options = {"published": place.published, "data": place.data, "scratch": place.scratch}
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


def _sets(published: str) -> tuple[SciFact, sts.Pairs]:
    folder = Folder(Path(published))
    return SciFact.read(folder), sts.benchmark(folder)


def prepare(published: str, data: str, scratch: str) -> dict[str, Any]:
    """The tables of vectors, through the store; minutes the first time."""
    _embed(published, Path(data), Path(scratch))
    return {}


def _embed(published: str, data: Path, scratch: Path) -> None:
    from sagebench.embeddings.base import build
    from sagebench.embeddings.embed import embed
    from sagebench.embeddings.store import Store

    scifact, rated = _sets(published)
    encoder = build(MODEL, data / "raw")
    with Store.of(encoder, scratch / "embeddings") as store:
        for name, texts in {"SciFact": scifact.texts, "STSBenchmark": rated.texts}.items():
            table = embed(texts, encoder, store)
            frames.write(table, scratch / f"{name}.parquet", frames.EMBEDDINGS)


def ours(published: str, data: str, scratch: str) -> dict[str, Any]:
    """From the tables of vectors to the scores, by the tasks' own code."""
    from scipy.stats import spearmanr

    from sagebench.metrics.cosine import Cosine
    from sagebench.tasks.base import Inputs
    from sagebench.tasks.ranking import ORIGINAL
    from sagebench.tasks.retrieval import Retrieval
    from sagebench.tasks.retrieval_score import Judged, ndcg

    scifact, rated = _sets(published)
    documents, queries = scifact.documents, scifact.queries
    inputs: Inputs = {
        "sample": pl.DataFrame({"doc_id": list(documents), "text": list(documents.values())}),
        "queries": pl.DataFrame({"query_id": list(queries), "text": list(queries.values())}),
        "qrels": pl.DataFrame(
            [(q, d, r) for q, found in scifact.relevant.items() for d, r in found.items()],
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
        similarity = system.pairs(rated.left, rated.right)
        scores["STSBenchmark"] = float(spearmanr(similarity, rated.ratings).statistic)

    seconds = {"SciFact": median(retrieve), "STSBenchmark": median(rate)}
    sizes = {
        "SciFact": f"{len(documents):,} documents, {len(queries)} queries",
        "STSBenchmark": f"{len(rated.left):,} pairs",
    }
    peak = peak_mb()
    warm = median(lambda: _embed(published, Path(data), Path(scratch)), runs=1)
    found: dict[str, Any] = {
        name: {"size": sizes[name], "seconds": seconds[name], "score": scores[name]}
        for name in seconds
    }
    return {**found, "warm": warm, "peak_mb": peak}


def mtebs(published: str, data: str, scratch: str) -> dict[str, Any]:
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
    sets = _sets(published)
    model = _mteb_model(*sets, Path(scratch))
    found: dict[str, Any] = {}
    for name, task in _mteb_tasks(*sets).items():
        task.unload_data = lambda: None  # mteb would fetch it again for the next run
        task.data_loaded = True
        scores: list[float] = []

        def run(task: Any = task, scores: list[float] = scores) -> None:
            done = mteb.evaluate(model, task, cache=None, show_progress_bar=False)
            scores.append(done.task_results[0].get_score())

        found[name] = {"seconds": median(run), "score": scores[-1]}
    return found


def _mteb_model(scifact: SciFact, rated: sts.Pairs, scratch: Path) -> Any:
    import mteb
    import torch

    vectors = _by_text(scratch, {"SciFact": scifact.texts, "STSBenchmark": rated.texts})

    class Known:
        mteb_model_meta = mteb.get_model_meta("sentence-transformers/all-MiniLM-L6-v2")

        def encode(self, inputs: Any, **_: Any) -> Any:
            return np.stack([vectors[text] for batch in inputs for text in batch["text"]])

        def similarity(self, a: Any, b: Any) -> Any:
            return torch.as_tensor(a) @ torch.as_tensor(b).T  # unit vectors

        def similarity_pairwise(self, a: Any, b: Any) -> Any:
            return (torch.as_tensor(a) * torch.as_tensor(b)).sum(dim=1)

    return Known()


def _mteb_tasks(scifact: SciFact, rated: sts.Pairs) -> dict[str, Any]:
    """mteb's two tasks with the data of this machine."""
    import mteb
    import pyarrow
    from datasets import Dataset, DatasetDict

    def dataset(name: str, **columns: Any) -> Any:
        # With a name of its own: datasets would pickle the table to find one.
        return Dataset(pyarrow.table(columns), fingerprint=name)

    keys, texts = list(scifact.documents), list(scifact.documents.values())
    queries = scifact.queries
    retrieval, rating = mteb.get_task("SciFact"), mteb.get_task("STSBenchmark")
    retrieval.dataset = {
        "default": {
            "test": {
                "corpus": dataset("corpus", id=keys, title=[""] * len(keys), text=texts),
                "queries": dataset("queries", id=list(queries), text=list(queries.values())),
                "relevant_docs": scifact.relevant, "top_ranked": None,
            }
        }
    }  # fmt: skip
    pairs = dataset("pairs", sentence1=rated.left, sentence2=rated.right, score=rated.ratings)
    rating.dataset = DatasetDict({"test": pairs})
    return {"SciFact": retrieval, "STSBenchmark": rating}


def _by_text(scratch: Path, texts: dict[str, list[str]]) -> dict[str, Any]:
    from sagebench.metrics.vectors import Vectors

    found: dict[str, Any] = {}
    for name, wanted in texts.items():
        vectors = Vectors(scratch / f"{name}.parquet")
        found.update(zip(wanted, vectors.take(vectors.find(wanted)), strict=True))
    return found
