"""The bootstrap by weights, against the same statistics computed resample by resample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from sagebench import stats


def expanded(row: np.ndarray, *columns: np.ndarray) -> list[np.ndarray]:
    """A resample spelt out: each unit as often as its weight says."""
    return [np.repeat(column, row.astype(int)) for column in columns]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_weights_start_with_the_sample_and_count_to_n():
    weights = stats.weights(9, 50, 1, "task", "corpus")
    assert weights.shape == (51, 9)
    assert (weights[0] == 1).all()
    assert (weights.sum(axis=1) == 9).all()
    assert len(np.unique(weights[1:], axis=0)) > 40


def test_weights_depend_on_seed_and_purpose_only():
    first = stats.weights(9, 50, 1, "task", "corpus")
    assert (first == stats.weights(9, 50, 1, "task", "corpus")).all()
    assert (first != stats.weights(9, 50, 2, "task", "corpus")).any()
    assert (first != stats.weights(9, 50, 1, "task", "other")).any()


def test_means_are_those_of_the_resamples_and_skip_nan(rng):
    weights = stats.weights(20, 30, 1)
    values = rng.normal(size=20)
    values[[3, 4]] = np.nan
    for row, found in zip(weights, stats.mean(weights, values), strict=True):
        assert found == pytest.approx(np.nanmean(expanded(row, values)[0]), abs=1e-12)


def test_mean_of_nothing_is_nan_without_a_warning():
    assert np.isnan(stats.mean(stats.weights(3, 5, 1), np.full(3, np.nan))).all()


@pytest.mark.filterwarnings("ignore:.*ill-defined:sklearn.exceptions.UndefinedMetricWarning")
def test_classification_is_scikit_learns_on_every_resample(rng):
    weights = stats.weights(12, 60, 2)
    predicted, actual = rng.integers(0, 2, size=(2, 12)).astype(float)
    found = stats.classification(weights, predicted, actual)
    for index, row in enumerate(weights):
        p, a = expanded(row, predicted, actual)
        expected = {
            "accuracy": sk.accuracy_score(a, p),
            "precision": sk.precision_score(a, p, zero_division=0),
            "recall": sk.recall_score(a, p, zero_division=0),
            "f1": sk.f1_score(a, p, zero_division=0),
        }
        for name, value in expected.items():
            assert found[name][index] == pytest.approx(value, abs=1e-12), name


def test_a_half_prediction_counts_half_in_both_cells():
    half = stats.classification(np.ones((1, 4)), np.full(4, 0.5), np.array([1.0, 1, 1, 0]))
    # tp = fn = 1.5, fp = tn = 0.5
    assert half["accuracy"] == 0.5
    assert half["precision"] == 0.75
    assert half["recall"] == 0.5
    assert half["f1"] == pytest.approx(3 / 5)


def test_classification_leaves_nan_out_and_is_nan_without_units():
    predicted, actual = np.array([1, np.nan, 0]), np.array([1.0, 1, 0])
    assert stats.classification(np.ones((1, 3)), predicted, actual)["recall"] == 1
    gone = stats.classification(np.ones((1, 3)), np.full(3, np.nan), actual)
    assert all(np.isnan(value).all() for value in gone.values())


def test_pearson_is_numpys_on_every_resample(rng):
    weights = stats.weights(15, 60, 3)
    x, y = rng.normal(size=(2, 15)) + 1e3
    x[2] = np.nan
    for row, found in zip(weights, stats.pearson(weights, x, y), strict=True):
        a, b = expanded(row, x, y)
        keep = ~np.isnan(a)
        assert found == pytest.approx(np.corrcoef(a[keep], b[keep])[0, 1], abs=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, 2 / 3, 1e6])
def test_pearson_of_a_constant_is_zero(value):
    found = stats.pearson(stats.weights(7, 20, 1), np.full(7, value), np.arange(7.0))
    assert (found == 0).all()


def test_pearson_is_zero_in_resamples_that_repeat_one_unit():
    x, y = np.array([0.1, 0.2]), np.array([0.3, 0.7])
    weights = np.array([[1.0, 1], [2, 0], [0, 2]])
    assert stats.pearson(weights, x, y) == pytest.approx([1, 0, 0])


def test_pearson_without_a_common_unit_is_nan():
    x, y = np.array([1, np.nan]), np.array([np.nan, 1])
    assert np.isnan(stats.pearson(np.ones((2, 2)), x, y)).all()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_v_measure_is_scikit_learns_on_every_resample(codes):
    classes, clusters = np.array(codes, dtype=np.int64).T
    weights = stats.weights(len(codes), 5, 4)
    found = stats.v_measure(weights, classes, clusters)
    for index, row in enumerate(weights):
        expected = sk.homogeneity_completeness_v_measure(*expanded(row, classes, clusters))
        got = [found[name][index] for name in ("homogeneity", "completeness", "v_measure")]
        assert got == pytest.approx(expected, abs=1e-9)


def test_harmonic_mean_by_hand_and_with_a_zero():
    values = np.array([[1.0, 0.5], [0.25, 0.0], [2.0, 2.0]])
    assert stats.harmonic_mean(values) == pytest.approx([2 / 3, 0, 2])


def test_centred_draws_average_to_the_point_within_limits():
    values = np.array([0.5, 0.6, 0.7, 0.8])
    assert stats.centred(values) == pytest.approx([0.5, 0.4, 0.5, 0.6])
    assert stats.centred(np.array([0.99, 0.1, 0.9])).max() == 1


def test_interval_skips_undefined_resamples_and_holds_the_point():
    low, high = stats.interval(np.array([0.9, np.nan, 0.1, 0.2, 0.3]), 0.95)
    assert 0.1 < low < 0.2
    assert high == 0.9
    assert np.isnan(stats.interval(np.array([np.nan, 1, 1]), 0.95)).all()
    assert np.isnan(stats.interval(np.array([1, np.nan, np.nan]), 0.95)).all()


def test_intervals_of_a_mean_cover_the_truth_about_as_often_as_they_say(rng):
    weights = stats.weights(60, 400, 5)
    covered = 0
    for _ in range(300):
        low, high = stats.interval(stats.mean(weights, rng.normal(size=60)), 0.95)
        covered += low <= 0 <= high
    assert 0.91 <= covered / 300 <= 0.98


def test_centred_v_intervals_of_a_random_clustering_hold_the_point(rng):
    classes, clusters = rng.integers(0, 5, size=(2, 100))
    raw = stats.v_measure(stats.weights(100, 400, 6), classes, clusters)["v_measure"]
    assert np.median(raw[1:]) > raw[0], "the bias that centring is for"
    low, high = stats.interval(stats.centred(raw), 0.95)
    assert low < raw[0] < high
