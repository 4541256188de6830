"""Peak memory and growth of the two tasks whose size explodes: clustering and retrieval.

Through the tasks' own code, from files and back; only the vectors are drawn.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sagebench import frames, layout, registry
from sagebench.bench.drawn import embeddings, table
from sagebench.bench.measure import Place, Row, Section, Target, child, exponent, peak_mb, times
from sagebench.embeddings.keys import text_key

CLUSTERED = [2_500, 5_000, 10_000, 20_000]
DOCUMENTS = [12_500, 25_000, 50_000, 100_000]
_CLASSES, _QUERIES, _DIM = 20, 100, 384
_GB = 1_000.0  # MB
_TRANSFORMS = [
    "random_capitalization", "character_deletion", "numerization",
    "negation_toggling", "sentence_shuffling", "word_shuffling",
]  # fmt: skip
_NEEDLES = {"sizes": [0.15, 0.5], "positions": [0.0, 0.5, 1.0]}


def measure_clustering(place: Place) -> Section:
    """Similarities and scores of up to 20,000 texts, each step in a process of its own."""
    steps = _steps(place, "clustering", clustering, CLUSTERED)
    peak = max(row.peak_mb or 0 for row in steps) / _GB
    target = Target(f"clustering of {CLUSTERED[-1]:,} texts, peak", "GB", peak, at_most=4)
    notes = [f"Vectors of {_DIM} numbers are drawn; all else is the task's own code and files."]
    return Section("Clustering, memory and growth", steps, [target], notes=notes)


def measure_retrieval(place: Place) -> Section:
    """Rankings and scores of up to 100,000 documents, each step in a process of its own."""
    steps = _steps(place, "retrieval", retrieval, DOCUMENTS)
    peak = max(row.peak_mb or 0 for row in steps) / _GB
    whole = [(size, sum(row.curve[i][1] for row in steps)) for i, size in enumerate(DOCUMENTS)]
    name = f"{DOCUMENTS[-1]:,} documents × 18 perturbations, retrieval scoring"
    targets = [
        Target(f"{name}, peak", "GB", peak, at_most=3),
        Target(f"{name}, growth exponent", "", exponent(whole), at_most=1.1),
    ]
    notes = [
        f"Vectors of {_DIM} numbers are drawn, texts short, {_QUERIES} queries; all else is the "
        "task's own code and files. Vectors above 0.5 GB wait on disk."
    ]
    return Section("Retrieval, memory and growth", steps, targets, notes=notes)


def _steps(
    place: Place, what: str, job: Callable[..., dict[str, Any]], sizes: list[int]
) -> list[Row]:
    found: dict[str, list[dict[str, Any]]] = {"similarity": [], "score": []}
    for size in sizes:
        folder = place.scratch / what
        child(job, step="prepare", n=size, folder=folder)
        for step, results in found.items():
            results.append(child(job, step=step, n=size, folder=folder))
    unit = "texts" if what == "clustering" else "documents × 18 perturbations"
    rows = []
    for step, results in found.items():
        seconds = [result["seconds"] for result in results]
        rows.append(
            Row(
                f"{what}, {step}", f"{sizes[-1]:,} {unit}", seconds[-1], runs=1,
                peak_mb=results[-1]["peak_mb"], curve=list(zip(sizes, seconds, strict=True)),
            )
        )  # fmt: skip
    return rows


def clustering(step: str, n: int, folder: str) -> dict[str, Any]:
    """One step of the clustering task on n texts."""
    data, task = Path(folder), registry.load("task", "clustering")()
    spec = {"task": {}, "corpus": "drawn", "seed": 0, "bootstrap": {"resamples": 100, "level": 0.9}}
    vectors = data / "embeddings.parquet"
    # Two systems, for what one leaves behind must not weigh on the next.
    paths = dict.fromkeys(("drawn", "drawn_again"), data / "similarity.parquet")
    similar = layout.OnDemand(paths, frames.SIMILARITY["clustering"])
    if step == "prepare":
        texts, made = embeddings(n, _DIM)
        ids = [f"{number:06d}" for number in range(n)]
        labels = [str(number % _CLASSES) for number in range(n)]
        sample = pl.DataFrame({"doc_id": ids, "text": texts, "label": labels})
        frames.write(sample, data / "sample.parquet", frames.LABELLED)
        frames.write(made, vectors, frames.EMBEDDINGS)
        return {}
    inputs = layout.read_corpus(data / "sample.parquet", "labelled")

    def run() -> None:
        if step == "score":
            task.score(inputs, similar, spec)
            return
        from sagebench.metrics.cosine import Cosine

        made = task.similarity(inputs, Cosine(vectors), spec)
        frames.write(made, data / "similarity.parquet", frames.SIMILARITY["clustering"])

    return {"seconds": times(run, 1)[0], "peak_mb": peak_mb()}


def retrieval(step: str, n: int, folder: str) -> dict[str, Any]:
    """One step of the retrieval task on n documents with 18 perturbed copies each."""
    data, task = Path(folder), registry.load("task", "retrieval")()
    section = {
        "transforms": _TRANSFORMS, "insertion": _NEEDLES, "removal": _NEEDLES,
        "cutoff": 10, "layout": "paired",
    }  # fmt: skip
    spec = {"task": section, "corpus": "drawn", "seed": 0}
    spec["bootstrap"] = {"resamples": 100, "level": 0.9}
    perturbations = [*_TRANSFORMS, "lorem_insertion", "span_removal"]
    if step == "prepare":
        _prepare_retrieval(data, n, perturbations)
        return {}
    inputs = layout.read_inputs(data, "retrieval", "drawn", "retrieval", perturbations)
    similar = {"drawn": data / "similarity.parquet"}

    def run() -> None:
        if step == "score":
            task.score(inputs, layout.OnDemand(similar, frames.SIMILARITY["retrieval"]), spec)
            return
        from sagebench.metrics.cosine import Cosine

        made = task.similarity(inputs, Cosine(data / "embeddings.parquet"), spec)
        frames.write(made, similar["drawn"], frames.SIMILARITY["retrieval"])

    return {"seconds": times(run, 1)[0], "peak_mb": peak_mb()}


def _prepare_retrieval(data: Path, n: int, perturbations: list[str]) -> None:
    ids = [f"{number:06d}" for number in range(n)]
    queries = pl.DataFrame({"query_id": ids[:_QUERIES], "text": [f"q {i}" for i in ids[:_QUERIES]]})
    sample = pl.DataFrame(
        {"doc_id": ids, "text": ids, "summary": pl.Series([None] * n, dtype=pl.String)}
    )
    qrels = pl.DataFrame({"query_id": ids[:_QUERIES], "doc_id": ids[:_QUERIES], "relevance": 1})
    qrels = qrels.with_columns(pl.col("relevance").cast(pl.Int64))
    place = layout.sample(data, "retrieval", "drawn")
    layout.write_corpus({"sample": sample, "queries": queries, "qrels": qrels}, place, "retrieval")
    texts = [*ids, *queries["text"]]
    for name in perturbations:
        needle = name not in _TRANSFORMS
        grid: list[tuple[float | None, float | None]] = [(None, None)]
        if needle:
            grid = [(size, at) for size in _NEEDLES["sizes"] for at in _NEEDLES["positions"]]
        copies = [f"{i} {name} {size} {at}" for i in ids for size, at in grid]
        texts += copies
        schema = {key: column.dtype for key, column in frames.PERTURBED.columns.items()}
        frame = pl.DataFrame(
            {
                "doc_id": [i for i in ids for _ in grid],
                "perturbation": [name] * len(copies),
                "size": [size for size, _ in grid] * n,
                "position": [at for _, at in grid] * n,
                "text": copies,
                "changed": [True] * len(copies),
                "tokens_before": [1] * len(copies),
                "tokens_after": [1] * len(copies),
            },
            schema=schema,
        )
        frames.write(frame, layout.perturbed(data, "retrieval", "drawn", name), frames.PERTURBED)
    _write_vectors(data, np.sort(np.array([text_key(text) for text in texts], dtype="S64")))


def _write_vectors(data: Path, keys: np.ndarray) -> None:
    """embeddings.parquet in parts, for as a whole it would need 6 GB."""
    parts, step = [], 50_000
    for start in range(0, len(keys), step):
        part = [key.decode() for key in keys[start : start + step].tolist()]
        parts.append(data / f"part-{start:08d}.parquet")
        frames.write(table(part, _DIM, seed=start), parts[-1], frames.EMBEDDINGS)
    pl.scan_parquet(parts).sink_parquet(
        data / "embeddings.parquet", compression="uncompressed", row_group_size=step
    )
    for path in parts:
        path.unlink()
