"""Similarities of many texts, against reference libraries and plain Python loops."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sagebench import registry
from sagebench.bench.measure import Place, Row, Section, Target, child, curve, median
from sagebench.bench.texts import pieces
from sagebench.metrics.base import Metric
from sagebench.metrics.token_ids import TokenIds

# name -> metric, its parameters, words a text, four numbers of texts (ROUGE-L: of pairs)
KERNELS: dict[str, tuple[str, dict[str, Any], int, list[int]]] = {
    "ROUGE-1+2, all pairs": ("rouge", {}, 100, [250, 500, 1000, 2000]),
    "ROUGE-L, pairs": ("rouge_l", {}, 1000, [50, 100, 200, 400]),
    "BM25, all pairs": ("bm25", {"normalise": "self"}, 100, [250, 500, 1000, 2000]),
    "Jaccard, all pairs": ("jaccard", {}, 100, [625, 1250, 2500, 5000]),
    "Levenshtein, all pairs": ("levenshtein", {}, 100, [50, 100, 200, 400]),
    "BERTScore, pairs": ("bertscore", {}, 100, [20, 40, 80, 160]),
}
_VARIANTS = 10  # texts that BERTScore compares with the same one
TARGETS = {
    "ROUGE-1+2, all pairs": 200.0,
    "ROUGE-L, pairs": 500.0,
    "BM25, all pairs": 50.0,
    "Jaccard, all pairs": 50.0,
}
_DIM = 384


def measure(place: Place) -> Section:
    """Every kernel at four sizes, its reference on a sample."""
    rows, targets = [], []
    for what, (_, _, words, sizes) in KERNELS.items():
        ours = child(kernel, what=what, data=place.data)
        other = child(reference, what=what, data=place.data)
        n = sizes[-1]
        unit = "texts" if "all" in what else "pairs"
        row = Row(
            what,
            f"{n:,} {unit} of {words:,} words",
            ours["curve"][-1][1],
            peak_mb=ours["peak_mb"],
            reference=other["name"],
            reference_seconds=other["seconds"],
            reference_sample=other["sample"],
            difference=other["difference"],
            curve=ours["curve"],
        )
        rows.append(row)
        if what in TARGETS:
            name = f"{what}, {row.size}, vs {row.reference}"
            targets.append(Target(name, "times", row.ratio or 0, at_least=TARGETS[what]))
    for what, job in {"cosine, all pairs": cosine, "complete linkage": linkage}.items():
        found = child(job)
        rows.append(Row(what=what, **found))
    notes = [
        "Kernels and references are given the tokens of each text; all else counts. Levenshtein "
        "and its reference are one library. Cosine is computed in float64 and rounded to 12 "
        "decimals, so that equal vectors are equally near whatever the block or the number of "
        "threads; scikit-learn's float32 product is faster and does not promise that."
    ]
    return Section("Similarities", rows, targets, notes=notes)


def kernel(what: str, data: str) -> dict[str, Any]:
    """Seconds at four sizes, from tokens on: a metric of its own for each run."""
    metric, params, words, sizes = KERNELS[what]
    texts = pieces(data, 2 * sizes[-1], words)
    raw, tokens = Path(data) / "raw", TokenIds(Path(data) / "raw")
    for text in texts:
        tokens(text)
    first: Any = registry.load("metric", metric)(raw, **params)
    loaded = {name: getattr(first, name) for name in ("_tokenizer", "_model") if _has(first, name)}

    def fresh() -> Metric:
        made: Metric = registry.load("metric", metric)(raw, **params)
        if hasattr(made, "_ids"):
            made._ids = tokens
        vars(made).update(loaded)
        return made

    def prepare(n: int) -> Callable[[], object]:
        if "all" in what:
            return lambda: fresh().condensed(texts[:n])
        return lambda: fresh().pairs(*_sides(metric, texts, n))

    return curve(prepare, sizes)


def _has(system: Any, name: str) -> bool:
    return hasattr(type(system), name)


def _sides(metric: str, texts: list[str], n: int) -> tuple[list[str], list[str]]:
    """n pairs; BERTScore compares each text with a few, as the tasks do."""
    each = _VARIANTS if metric == "bertscore" else 1
    return [texts[i // each] for i in range(n)], texts[n : 2 * n]


def reference(what: str, data: str) -> dict[str, Any]:
    """Seconds of the reference for the whole of the largest size, and the largest difference."""
    metric, params, words, sizes = KERNELS[what]
    texts = pieces(data, 2 * sizes[-1], words)
    system = registry.load("metric", metric)(Path(data) / "raw", **params)
    n = sizes[-1]
    pairs = n * (n - 1) // 2 if "all" in what else n
    if metric == "bm25":
        return _rank_bm25(system, texts[:n])
    if metric == "bertscore":
        return _bert_score(system, *_sides(metric, texts, n))
    sample, name, score = {
        "rouge": (200, "rouge-score", _rouge_score(system, ["rouge1", "rouge2"])),
        "rouge_l": (6, "rouge-score", _rouge_score(system, ["rougeL"])),
        "jaccard": (20_000, "Python sets in a loop", _sets(system)),
        "levenshtein": (2_000, "rapidfuzz in a loop", _ratio),
    }[metric]
    left, right = (np.random.default_rng(0).integers(0, n, (2, sample))).tolist()
    a, b = [texts[i] for i in left], [texts[n + i] for i in right]
    system.pairs(a, b)  # tokenises
    values: list[float] = []

    def loop() -> None:
        values[:] = [score(x, y) for x, y in zip(a, b, strict=True)]

    seconds = median(loop) / sample * pairs
    difference = float(np.abs(system.pairs(a, b) - np.array(values)).max())
    return {
        "name": name, "seconds": seconds, "sample": f"{sample:,} of {pairs:,} pairs",
        "difference": difference,
    }  # fmt: skip


def _rouge_score(system: Any, measures: list[str]) -> Callable[[str, str], float]:
    from rouge_score.rouge_scorer import RougeScorer

    class Tokens:
        tokenize = staticmethod(lambda text: system._ids(text).tolist())

    scorer = RougeScorer(measures, tokenizer=Tokens())

    def score(a: str, b: str) -> float:
        found = scorer.score(a, b)
        return sum(found[each].fmeasure for each in measures) / len(measures)

    return score


def _sets(system: Any) -> Callable[[str, str], float]:
    known: dict[str, set[int]] = {}

    def tokens(text: str) -> set[int]:
        if text not in known:
            known[text] = set(system._ids(text).tolist())
        return known[text]

    return lambda a, b: len(tokens(a) & tokens(b)) / len(tokens(a) | tokens(b))


def _ratio(a: str, b: str) -> float:
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(a, b)


def _rank_bm25(system: Any, texts: list[str]) -> dict[str, Any]:
    from rank_bm25 import BM25Plus

    tokens = [system._ids(text).tolist() for text in texts]
    corpus, sample = BM25Plus(tokens, k1=1.5, b=0.75, delta=1.0), 20
    found: list[Any] = []

    def ask() -> None:
        found[:] = [corpus.get_scores(query) for query in tokens[:sample]]

    seconds = median(ask) / sample * len(texts)
    difference = float(np.abs(system.matrix(texts[:sample], texts) - np.array(found)).max())
    return {
        "name": "rank_bm25", "seconds": seconds, "difference": difference,
        "sample": f"{sample} of {len(texts):,} queries",
    }  # fmt: skip


def _bert_score(system: Any, a: list[str], b: list[str]) -> dict[str, Any]:
    from bert_score import BERTScorer

    sample, layers = 40, system.parameters.num_layers
    scorer = BERTScorer(
        model_type=str(system._folder), num_layers=layers, batch_size=1, device="cpu", nthreads=1
    )
    a, b, pairs = a[:sample], b[:sample], len(a)
    found: list[Any] = []
    seconds = median(lambda: found.append(scorer.score(a, b, batch_size=1)[2].numpy()))
    return {
        "name": "bert-score", "seconds": seconds / len(a) * pairs,
        "sample": f"{len(a)} of {pairs} pairs",
        "difference": float(np.abs(system.pairs(a, b) - found[-1]).max()),
    }  # fmt: skip


def cosine() -> dict[str, Any]:
    """All pairs of drawn vectors, against scikit-learn's."""
    from sklearn.metrics.pairwise import cosine_similarity

    from sagebench.bench.drawn import embeddings
    from sagebench.metrics.cosine import Cosine

    sizes = [500, 1000, 2000, 4000]
    texts, table = embeddings(sizes[-1], _DIM)
    system = Cosine(table)
    found = curve(lambda n: lambda: system.condensed(texts[:n]), sizes)
    vectors = system._vectors.take(system._vectors.find(texts))
    square: list[Any] = [None]

    def other() -> None:
        square[0] = cosine_similarity(vectors)

    seconds = median(other)
    upper = square[0][np.triu_indices(len(texts), k=1)]
    return {
        "size": f"{sizes[-1]:,} vectors of {_DIM}", "seconds": found["curve"][-1][1], **found,
        "reference": "scikit-learn, whole matrix in float32", "reference_seconds": seconds,
        "difference": float(np.abs(system.condensed(texts) - upper).max()),
    }  # fmt: skip


def linkage() -> dict[str, Any]:
    """Complete linkage of drawn similarities, against scikit-learn's clustering."""
    from scipy.spatial.distance import squareform
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.metrics import adjusted_rand_score

    from sagebench.tasks.clustering import complete_linkage

    sizes, k = [250, 500, 1000, 2000], 20
    drawn = np.random.default_rng(0).random(sizes[-1] * (sizes[-1] - 1) // 2)
    # Copies, for it works in its input.
    found = curve(lambda n: lambda: complete_linkage(drawn[: n * (n - 1) // 2].copy(), k), sizes)
    model = AgglomerativeClustering(n_clusters=k, metric="precomputed", linkage="complete")
    distance = squareform(drawn)
    seconds = median(lambda: model.fit_predict(distance))
    same = adjusted_rand_score(model.labels_, complete_linkage(drawn.copy(), k)[0])
    return {
        "size": f"{sizes[-1]:,} texts", "seconds": found["curve"][-1][1], **found,
        "reference": "scikit-learn", "reference_seconds": seconds, "difference": 1 - same,
    }  # fmt: skip
