"""Published scores, reproduced by the project's own encoder, store and cosine."""

import csv
import gzip
import json
import math

import pytest

from sagebench.corpora import catalogue
from sagebench.embeddings.base import build
from sagebench.embeddings.embed import embed
from sagebench.embeddings.store import Store
from sagebench.metrics.cosine import Cosine

MINILM = "sentence-transformers__all-MiniLM-L6-v2"


def published(shared, task):
    """MiniLM's main score on a task's test part."""
    path = shared / "data" / "reference_scores" / "main_scores.tsv"
    with open(path, encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            if (row["model"], row["task"], row["split"]) == (MINILM, task, "test"):
                return float(row["main_score"])
    raise KeyError(task)


def system_of(name, texts, raw, folder):
    model = build(name, raw(*catalogue.load().model(name).sources))
    with Store.of(model, folder) as store:
        return Cosine(embed(texts, model, store))


def sts_spearman(name, shared, raw, folder):
    from scipy.stats import spearmanr

    path = shared / "data" / "human_ratings" / "stsbenchmark" / "sts-test.csv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 1_379
    human = [float(row[4]) for row in rows]
    left, right = [row[5] for row in rows], [row[6] for row in rows]
    system = system_of(name, left + right, raw, folder)
    return spearmanr(system.pairs(left, right), human).statistic


def test_sts_benchmark(shared, raw, tmp_path):
    found = sts_spearman("minilm", shared, raw, tmp_path)
    assert found == pytest.approx(published(shared, "STSBenchmark"), abs=0.001)
    assert found == pytest.approx(0.820, abs=0.001)


@pytest.mark.slow
def test_sts_benchmark_loses_little_in_int8(shared, raw, tmp_path):
    found = sts_spearman("minilm_int8", shared, raw, tmp_path)
    assert 0 < published(shared, "STSBenchmark") - found < 0.002


def ndcg_at_10(ranked, relevant):
    """Linear gains, discount log2(rank + 1); ideal over all relevant documents."""
    gains = [relevant.get(doc, 0) / math.log2(rank + 2) for rank, doc in enumerate(ranked[:10])]
    best = sorted(relevant.values(), reverse=True)[:10]
    return sum(gains) / sum(gain / math.log2(rank + 2) for rank, gain in enumerate(best))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_scifact(shared, raw, tmp_path):
    folder = shared / "data" / "retrieval" / "scifact"
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as stream:
        corpus = {
            doc["_id"]: f"{doc['title']} {doc['text']}".strip() for doc in map(json.loads, stream)
        }
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = {query["_id"]: query["text"] for query in map(json.loads, lines)}
    relevant: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, doc, score = line.split("\t")
        relevant.setdefault(query, {})[doc] = int(score)
    assert (len(corpus), len(relevant)) == (5_183, 300)
    asked = [queries[query] for query in relevant]
    system = system_of("minilm", [*corpus.values(), *asked], raw, tmp_path)
    scores = system.matrix(asked, list(corpus.values()))
    ids = list(corpus)
    values = []
    for row, judged in zip(scores, relevant.values(), strict=True):
        ranked = [ids[i] for i in sorted(range(len(ids)), key=lambda i: (-row[i], ids[i]))]
        values.append(ndcg_at_10(ranked, judged))
    found = sum(values) / len(values)
    print(f"SciFact nDCG@10 {found:.5f}")
    assert found == pytest.approx(published(shared, "SciFact"), abs=0.003)
    assert found == pytest.approx(0.645, abs=0.003)
