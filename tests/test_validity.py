"""Measures that show what the scores hide: brute-force twins and known answers."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
import tasks_support as toy
from scipy.stats import mannwhitneyu, spearmanr
from sklearn.isotonic import IsotonicRegression

from sagebench import registry, stats
from sagebench.tables import chance_corrected, differences, ranks
from sagebench.tables.estimate import Estimate, derived
from sagebench.tasks import ideal, length, recalibration, separation
from sagebench.tasks.ranking import LAYOUTS

SIZES = np.repeat([0.15, 0.5, 0.9], 3)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def expanded(row: np.ndarray, *columns: np.ndarray) -> list[np.ndarray]:
    return [np.repeat(column, row.astype(int), axis=0) for column in columns]


# --- robustness ------------------------------------------------------------------------------


def test_auc_is_mann_whitneys_on_every_resample(rng):
    above, below = rng.integers(0, 6, (7, 3)) / 6, rng.integers(0, 6, (7, 2)) / 6
    above[2, 1] = np.nan
    weights = stats.weights(7, 25, 1)
    kept = np.arange(7) != 2
    for row, found in zip(weights, separation.auc(weights, above, below), strict=True):
        first, second = expanded(row[kept], above[kept], below[kept])
        pairs = first.size * second.size
        twin = mannwhitneyu(first.ravel(), second.ravel()).statistic / pairs
        assert found == pytest.approx(twin, abs=1e-12)


def test_auc_within_compares_a_document_with_itself(rng):
    above, below = rng.integers(0, 4, (6, 3)) / 4, rng.integers(0, 4, (6, 2)) / 4
    above[1, 0] = np.nan
    for document, found in enumerate(separation.within(above, below)):
        pairs = list(itertools.product(above[document], below[document]))
        wins = [math.nan if math.isnan(a) else (a > b) + (a == b) / 2 for a, b in pairs]
        assert found == pytest.approx(sum(wins) / len(wins), nan_ok=True)


def test_auc_of_a_constant_is_a_half_and_nothing_caps_it():
    weights, same = stats.weights(5, 10, 1), np.ones((5, 3))
    assert separation.auc(weights, same, same) == pytest.approx(0.5)
    assert separation.auc(weights, same, 0 * same) == pytest.approx(1)
    assert np.isnan(separation.auc(weights, np.nan * same, same)).all()


# --- sensitivity -----------------------------------------------------------------------------


def test_rank_correlation_is_scipys_per_document(rng):
    similarity = rng.integers(0, 5, (8, 9)) / 5
    similarity[3, 2] = np.nan
    for row, found in zip(
        similarity, recalibration.rank_correlation(similarity, SIZES), strict=True
    ):
        if np.isnan(row).any():
            assert np.isnan(found)
        else:
            assert found == pytest.approx(spearmanr(-row, SIZES).statistic, abs=1e-12)


def test_rank_correlation_of_known_systems():
    perfect, constant = 1 / (1 + SIZES), np.full(9, 2 / 3)
    found = recalibration.rank_correlation(np.vstack([perfect, -perfect, constant]), SIZES)
    assert found == pytest.approx([1, -1, 0])
    ordered = recalibration.ordered_correlation(SIZES)
    assert ordered == pytest.approx(spearmanr(np.arange(9), SIZES).statistic)


def test_recalibration_never_sees_the_document_it_maps(rng):
    ids = [f"d{number}" for number in range(11)]
    target = np.tile(1 / (1 + SIZES), (11, 1))
    similarity = target + rng.normal(0, 0.1, target.shape)
    similarity[4, 4] = np.nan
    mapped, constant = recalibration.recalibrated(similarity, target, ids, 1, "toy")
    fold = recalibration.folds(ids, 1, "toy")
    assert np.bincount(fold, minlength=5).tolist() == [3, 2, 2, 2, 2]
    for document in range(11):
        others = [d for d in range(11) if fold[d] != fold[document] and d != 4]
        if document == 4:
            assert np.isnan(mapped[4]).all()
            continue
        model = IsotonicRegression(out_of_bounds="clip")
        model.fit(np.concatenate(similarity[others]), np.concatenate(target[others]))
        assert mapped[document] == pytest.approx(model.predict(similarity[document]))
        assert constant[document] == pytest.approx(target[others].mean())


def test_folds_do_not_depend_on_the_order_of_documents():
    ids = [f"d{number}" for number in range(13)]
    found = dict(zip(ids, recalibration.folds(ids, 3, "toy"), strict=True))
    again = dict(zip(ids[::-1], recalibration.folds(ids[::-1], 3, "toy"), strict=True))
    assert found == again


# --- human preference ------------------------------------------------------------------------


def test_partial_correlation_is_that_of_residuals_on_every_resample(rng):
    x, y, z = rng.normal(size=(3, 25))
    x, y = x + z, y - 2 * z
    x[3] = np.nan
    weights = stats.weights(25, 20, 2)
    kept = ~np.isnan(x)
    for row, found in zip(weights, length.partial(weights, x, y, z), strict=True):
        a, b, c = expanded(row[kept], x[kept], y[kept], z[kept])
        design = np.column_stack([np.ones(len(c)), c])
        left = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (a, b)]
        assert found == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-9)


def test_partial_correlation_is_zero_where_nothing_but_length_is_left(rng):
    z, y = rng.normal(size=(2, 30))
    weights = stats.weights(30, 10, 1)
    assert (length.partial(weights, 3 * z + 1, y, z) == 0).all()
    assert (length.partial(weights, np.ones(30), y, z) == 0).all()
    assert np.isnan(length.partial(weights, np.full(30, np.nan), y, z)).all()


def test_groups_are_thirds_and_sides():
    first = np.array([10.0, 20, 30, 40, 50, 60])
    second = np.array([10.0, 10, 31, 90, 45, 20])
    choice = np.array([1, 1, 2, 1, 2, 1])
    found = {name: np.flatnonzero(v).tolist() for name, v in
             length.groups(first, second, choice).items()}  # fmt: skip
    gap = abs(first - second) / np.maximum(first, second)
    order = sorted(range(6), key=lambda pair: gap[pair])
    assert [found[name] for name in length.BINS] == [sorted(order[i : i + 2]) for i in (0, 2, 4)]
    assert found["longer"] == [1, 2, 5]
    assert found["shorter"] == [3, 4]


def test_length_alone_has_balanced_accuracy_of_a_half():
    inputs = toy.choices(30)
    texts = [("x" * (number % 7 + 1), "y" * (number % 5 + 2)) for number in range(30)]
    inputs["sample"] = inputs["sample"].with_columns(
        summary_1=pl.Series([a for a, _ in texts]), summary_2=pl.Series([b for _, b in texts])
    )
    task, section = registry.load("task", "human_preference")(), {"ties": "half"}
    by_length = toy.Fake(lambda _, summary: len(summary) / 10)
    similarity = task.similarity(inputs, by_length, toy.spec(section))
    _, cells, _ = task.score(inputs, {"length": similarity}, toy.spec(section))
    assert toy.cell(cells, "length", "accuracy:longer")["value"] == 1
    assert toy.cell(cells, "length", "accuracy:shorter")["value"] == 0
    assert toy.cell(cells, "length", "accuracy:balanced")["value"] == 0.5
    assert toy.cell(cells, "length", "partial:choice")["value"] == pytest.approx(0, abs=1e-6)


# --- the ideal system ------------------------------------------------------------------------


def test_the_ceiling_of_ratings_is_the_best_single_similarity(rng):
    sample = toy.ratings(20, ("fluent", "overall", "short"))
    task = registry.load("task", "human_preference")()
    similarity = task.similarity(sample, toy.noise(), toy.spec({}))
    _, cells, _ = task.score(sample, {"noise": similarity}, toy.spec({"ties": "half"}))
    best = toy.cell(cells, ideal.CEILING, "score")["value"]
    wide = sample["sample"].pivot("aspect", index="item_id", values="rating")
    rated = wide.select("fluent", "overall", "short").to_numpy().T
    r = np.corrcoef(rated)
    assert best == pytest.approx(0.5 * (1 + math.sqrt(r.sum()) / 3))
    for _ in range(200):
        other = rng.normal(size=3) @ rated + 0.1 * rng.normal(size=20)
        mean = np.mean([0.5 * (1 + np.corrcoef(other, row)[0, 1]) for row in rated])
        assert mean <= best + 1e-12


def robust(unchanged: int) -> float:
    sample = toy.documents(6)
    names = [*toy.SUPERFICIAL, *toy.SEMANTIC]
    perturbed = {name: toy.perturbed(sample, name) for name in names}
    ids = sample["doc_id"].sort().to_list()[:unchanged]
    hit = pl.col("doc_id").is_in(ids)
    perturbed["negation_toggling"] = perturbed["negation_toggling"].with_columns(changed=~hit)
    section = {"superficial": toy.SUPERFICIAL, "semantic": toy.SEMANTIC, "reading": "all_then_mean"}
    inputs = {"sample": sample, "perturbed": perturbed}
    task = registry.load("task", "robustness")()
    similarity = task.similarity(inputs, toy.noise(), toy.spec(section))
    _, cells, _ = task.score(inputs, {"noise": similarity}, toy.spec(section))
    return toy.cell(cells, ideal.CEILING, "score")["value"]


def test_the_ceiling_of_robustness_is_lowered_by_texts_that_were_left_as_they_were():
    assert robust(0) == 1
    # Two of six documents can meet one of their three conditions only.
    assert robust(2) == pytest.approx((4 * 3 + 2 * 1) / (6 * 3))


def test_a_constant_explains_nothing_of_sensitivity_and_the_ideal_everything():
    sample = toy.documents(12)
    inputs = {"sample": sample, "perturbed": toy.needle_frames(sample, toy.NEEDLES)}
    task, parameters = registry.load("task", "sensitivity")(), toy.spec(toy.NEEDLES)
    systems = {"constant": toy.constant(2 / 3), "noise": toy.noise()}
    found = {name: task.similarity(inputs, system, parameters) for name, system in systems.items()}
    _, cells, _ = task.score(inputs, found, parameters)
    value = {
        (name, measure): toy.cell(cells, name, measure)["value"]
        for name in (*systems, ideal.CEILING)
        for measure in ("score", "explained", "rank")
    }
    assert value["constant", "score"] > value["noise", "score"]  # what the paper's score rewards
    assert value["constant", "explained"] == pytest.approx(0, abs=1e-12)
    assert value["constant", "rank"] == 0
    assert abs(value["noise", "explained"]) < 0.2
    assert value[ideal.CEILING, "explained"] == pytest.approx(1)
    assert value[ideal.CEILING, "rank"] == pytest.approx(1)
    assert value[ideal.CEILING, "score"] == 1


def test_the_ideal_clustering_has_v_1_whatever_the_resample():
    sample = pl.DataFrame(
        {"doc_id": list("abcdef"), "text": list("uvwxyz"), "label": list("112233")}
    )
    task, inputs = registry.load("task", "clustering")(), {"sample": sample}
    same = dict(zip(sample["text"], sample["label"], strict=True))
    by_class = toy.Fake(lambda a, b: float(same[a] == same[b]))
    similarity = task.similarity(inputs, by_class, toy.spec({}))
    _, cells, draws = task.score(inputs, {"by_class": similarity}, toy.spec({}))
    for system in ("by_class", ideal.CEILING):
        assert toy.cell(cells, system, "score")["value"] == 1
        assert toy.draws_of(draws, system, "score") == pytest.approx(1)


def test_the_judge_sees_relevance_and_no_noise():
    sample = toy.documents(4)
    copies = toy.perturbed(sample, "numerization")
    queries = pl.DataFrame({"query_id": ["q"], "text": ["ask"]})
    qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d0001"], "relevance": [2]})
    judge = ideal.Judge({"sample": sample, "perturbed": {"n": copies}}, queries, qrels)
    texts = [*sample["text"], *copies["text"]]
    owners = [*sample["doc_id"], *copies["doc_id"]]
    assert judge.matrix(["ask"], texts).tolist() == [[2.0 * (d == "d0001") for d in owners]]


# --- tables ----------------------------------------------------------------------------------


def estimate(value: float, draws: list[float]) -> Estimate:
    return Estimate(value, n=9, draws=np.array(draws))


def test_chance_correction_goes_draw_by_draw():
    score, floor = estimate(0.6, [0.5, 0.7, 0.6]), estimate(0.2, [0.1, 0.3, 0.2])
    ceiling = estimate(0.8, [0.9, 0.9, 0.8])
    found = chance_corrected.corrected(score, floor, ceiling, 0.95)
    assert found.value == pytest.approx(0.4 / 0.6)
    assert found.draws == pytest.approx([0.4 / 0.8, 0.4 / 0.6, 0.4 / 0.6])
    assert chance_corrected.corrected(floor, floor, ceiling, 0.95).value == 0
    assert chance_corrected.corrected(ceiling, floor, ceiling, 0.95).value == 1
    undefined = chance_corrected.corrected(score, floor, floor, 0.95)
    assert undefined.value is None
    assert undefined.notes


def test_holm_is_the_step_down_rule(rng):
    p = rng.random(9) ** 3
    for place, found in enumerate(differences.holm(list(p))):
        smaller = [q for q in p if q <= p[place]]
        twin = max(min(1, (9 - sum(r < q for r in p)) * q) for q in smaller)
        assert found == pytest.approx(twin)
    assert differences.holm([0.04]) == [0.04]
    assert differences.holm([]) == []


def test_p_of_a_difference(rng):
    draws = list(rng.normal(0.2, 0.1, 4000))
    found = differences.p_value(estimate(0.2, draws))
    spread = np.std(draws, ddof=1)
    assert found == pytest.approx(math.erfc(0.2 / spread / math.sqrt(2)))
    assert found == pytest.approx(0.0455, abs=0.006)  # two standard errors
    assert differences.p_value(estimate(0, [0, 0])) == 1
    assert differences.p_value(estimate(0.3, [0.3, 0.3])) == 0


def test_ranks_and_first_places_are_counted(rng):
    values = rng.integers(0, 4, (5, 30)) / 4
    place, shares = ranks.ranks(values), np.zeros(5)
    for draw in range(30):
        column = values[:, draw]
        assert place[:, draw].tolist() == [1 + sum(column > value) for value in column]
        winners = np.flatnonzero(column == column.max())
        shares[winners] += 1 / len(winners) / 30
    assert ranks.firsts(values) == pytest.approx(shares)
    assert shares.sum() == pytest.approx(1)


def test_a_derived_score_has_the_interval_of_its_draws(rng):
    a, b = (estimate(v, list(rng.normal(v, 0.1, 500))) for v in (0.5, 0.4))
    found = derived(lambda x, y: x - y, [a, b], 0.9)
    assert found.value == pytest.approx(0.1)
    assert (found.low, found.high) == pytest.approx(
        tuple(np.quantile(np.array(a.draws) - np.array(b.draws), [0.05, 0.95]))
    )


def test_every_reading_is_scored_by_the_same_code_as_the_chosen_one():
    sample = toy.documents(8)
    names = [*toy.SUPERFICIAL, *toy.SEMANTIC]
    inputs = {"sample": sample, "perturbed": {n: toy.perturbed(sample, n) for n in names}}
    task = registry.load("task", "robustness")()
    sections = {
        reading: {"superficial": toy.SUPERFICIAL, "semantic": toy.SEMANTIC, "reading": reading}
        for reading in ("all_then_mean", "simultaneous", "average")
    }
    found = {}
    for reading, section in sections.items():
        similarity = task.similarity(inputs, toy.noise(steps=3), toy.spec(section))
        _, found[reading], _ = task.score(inputs, {"noise": similarity}, toy.spec(section))
    for reading, cells in found.items():
        for other in sections:
            a = toy.cell(cells, "noise", f"score:{other}")
            b = toy.cell(found[other], "noise", "score")
            assert {**a, "measure": ""} == {**b, "measure": ""}, (reading, other)
    assert set(LAYOUTS) == {"paired", "replace", "mixed"}
