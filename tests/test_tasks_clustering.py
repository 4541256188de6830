"""Task 4 against scikit-learn's agglomerative clustering and V-measure."""

import numpy as np
import polars as pl
import pytest
from scipy.spatial.distance import squareform
from sklearn import metrics as sk
from sklearn.cluster import AgglomerativeClustering
from tasks_support import Fake, cell, constant, draws_of, noise, shuffled_inputs, spec, unit_values

from sagebench import frames
from sagebench.errors import BenchError
from sagebench.tasks.clustering import Clustering, complete_linkage, hash_ordered

TASK = Clustering()
SPEC = spec({})


def inputs(n: int, classes: int = 4) -> dict:
    """Ids follow the classes, as in many corpora."""
    labels = [f"class {i * classes // n}" for i in range(n)]
    rows = {
        "doc_id": [f"{label}/{i:03d}" for i, label in enumerate(labels)],
        "text": [f"{label} text {i}" for i, label in enumerate(labels)],
        "label": labels,
    }
    return {"sample": frames.LABELLED.check(pl.DataFrame(rows))}


def run(data: dict, systems: dict, settings: dict = SPEC):
    similarities = {name: TASK.similarity(data, s, settings) for name, s in systems.items()}
    return TASK.score(data, similarities, settings)


def agglomerative(similarity: np.ndarray, k: int) -> np.ndarray:
    model = AgglomerativeClustering(n_clusters=k, metric="precomputed", linkage="complete")
    return model.fit_predict(squareform(1 - similarity.astype(float)))


@pytest.mark.parametrize("k", [2, 5, 39])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_clusters_are_scikit_learns(k, seed):
    similarity = np.random.default_rng(seed).random(40 * 39 // 2).astype(np.float32)
    clusters, heights = complete_linkage(1 - similarity.astype(float), k)
    assert len(set(clusters)) == k
    assert heights.shape == (39,)
    assert sk.adjusted_rand_score(agglomerative(similarity, k), clusters) == 1


def brute_complete_linkage(distance: np.ndarray, k: int) -> set[frozenset]:
    clusters = [frozenset([i]) for i in range(len(distance))]
    while len(clusters) > k:
        far = {
            (a, b): max(distance[i, j] for i in a for j in b)
            for x, a in enumerate(clusters)
            for b in clusters[x + 1 :]
        }
        a, b = min(far, key=far.__getitem__)
        clusters = [c for c in clusters if c not in (a, b)] + [a | b]
    return set(clusters)


def test_clusters_are_those_of_the_plain_algorithm():
    similarity = np.random.default_rng(5).random(15 * 14 // 2).astype(np.float32)
    clusters, _ = complete_linkage(1 - similarity.astype(float), 4)
    groups = {frozenset(np.flatnonzero(clusters == code).tolist()) for code in range(4)}
    assert groups == brute_complete_linkage(squareform(1 - similarity.astype(float)), 4)


def test_linkage_works_in_its_input_and_takes_no_copy():
    distance = np.random.default_rng(0).random(30 * 29 // 2)
    before = distance.copy()
    complete_linkage(distance, 3)
    assert not np.array_equal(distance, before)


def test_scores_are_the_v_measure_of_those_clusters():
    data, system = inputs(40), noise(3)
    units, cells, _ = run(data, {"s": system})
    sample = data["sample"].sort("doc_id")
    distance = 1 - np.array(
        [[system.function(*sorted([a, b])) for b in sample["text"]] for a in sample["text"]],
        dtype=np.float32,
    ).astype(float)
    np.fill_diagonal(distance, 0)
    model = AgglomerativeClustering(n_clusters=4, metric="precomputed", linkage="complete")
    clusters = model.fit_predict(distance)
    expected = sk.homogeneity_completeness_v_measure(sample["label"].to_list(), clusters)
    for measure, value in zip(("homogeneity", "completeness", "score"), expected, strict=True):
        found = cell(cells, "s", measure)
        assert found["value"] == pytest.approx(value, abs=1e-9)
        assert found["low"] <= found["value"] <= found["high"]
    kept = unit_values(units, "s", "cluster")
    assert sk.adjusted_rand_score(clusters, [kept[name] for name in sample["doc_id"]]) == 1
    assert unit_values(units, "s", "class")["class 2/020"] == 2


def test_perfect_similarity_gets_one_with_a_tight_interval():
    same = Fake(lambda a, b: float(a.split()[1] == b.split()[1]))
    _, cells, draws = run(inputs(40), {"ideal": same})
    found = cell(cells, "ideal", "score")
    assert [found["value"], found["low"], found["high"]] == pytest.approx([1, 1, 1])
    assert draws_of(draws, "ideal", "score") == pytest.approx(1)


def test_ties_do_not_leak_the_classes_from_the_ids():
    _, cells, _ = run(inputs(120), {"one": constant(1)})
    found = cell(cells, "one", "score")
    assert found["value"] < 0.15
    assert found["ties"] == 119
    assert "equal height" in found["note"]


def test_ties_are_counted_only_where_heights_repeat():
    _, cells, _ = run(inputs(30), {"fine": noise(1)})
    assert cell(cells, "fine", "score")["ties"] == 0
    assert cell(cells, "fine", "score")["note"] == ""


def test_row_order_changes_nothing_even_with_ties():
    data = inputs(40)
    system = noise(2, steps=3)
    for one, two in zip(
        run(data, {"s": system}), run(shuffled_inputs(data), {"s": system}), strict=True
    ):
        assert one.equals(two)


def test_order_is_the_hashes_not_the_ids():
    ordered = hash_ordered(inputs(60)["sample"], 7)["doc_id"].to_list()
    assert ordered != sorted(ordered)
    assert hash_ordered(shuffled_inputs(inputs(60))["sample"], 7)["doc_id"].to_list() == ordered


def test_draws_are_centred_on_the_score():
    _, cells, draws = run(inputs(100), {"s": noise(8)}, spec({}, resamples=500))
    value = cell(cells, "s", "score")["value"]
    assert draws_of(draws, "s", "score").mean() == pytest.approx(value, abs=0.01)


def test_too_few_classes_or_texts_are_refused():
    similarity = {"s": pl.DataFrame({"similarity": np.zeros(6, np.float32)})}
    with pytest.raises(BenchError, match=r"'toy': the sample has 1 class"):
        TASK.score(inputs(4, classes=1), similarity, SPEC)
    with pytest.raises(BenchError, match="4 clusters of 4 texts"):
        TASK.score(inputs(4, classes=4), similarity, SPEC)


def test_similarities_of_another_sample_or_nan_are_refused():
    data = inputs(10)
    similarity = TASK.similarity(data, noise(), SPEC)
    with pytest.raises(BenchError, match="has 45 similarities of text pairs, not 28"):
        TASK.score({"sample": data["sample"][2:]}, {"s": similarity}, SPEC)
    with pytest.raises(BenchError, match="45 NaN"):
        TASK.similarity(data, constant(float("nan")), SPEC)


def test_similarities_are_float32_and_texts_distinct():
    data = inputs(6)
    assert TASK.similarity(data, noise(), SPEC).schema == {"similarity": pl.Float32}
    texts = TASK.texts(data)
    assert texts == sorted(set(texts))
