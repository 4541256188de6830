"""What every metric promises: range, identity, symmetry, agreement of its three forms, hostile
texts, and errors for parameters that do not exist."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sagebench import registry
from sagebench.errors import BenchError
from sagebench.metrics.base import Metric

TOKENS = ("cl100k",)
CHEAP = {
    "levenshtein": {},
    "levenshtein workers": {"workers": 2},
    "rouge": {},
    "rouge exact": {"implementation": "exact"},
    "rouge_l": {},
    "jaccard": {},
    "bm25": {},
    "bm25 self": {"normalise": "self"},
    "constant_1": {},
    "constant_2_3": {},
    "length_ratio": {},
    "random": {},
}
SIMILARITIES = ["levenshtein", "rouge", "rouge exact", "rouge_l", "jaccard", "length_ratio"]
ONE_FORM = [*SIMILARITIES, "constant_1", "constant_2_3", "random"]  # all but BM25

HOSTILE = [
    "",
    "word",
    "two words",
    " \t\n\r ",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽",
    "e\u0301a\u0300" + "\u0300" * 50,
    "שלום עולם مرحبا \u202eabc\u202c",
    "nul\0in\0side\0",
    "\ud800 lone \udfff",
    "<b>markup</b> &amp; <|endoftext|> {{x}} [CLS]",
    "../../etc/passwd C:\\x\\y",
    "ﷺ ½ ß ǅ İ ı",
    "a" * 3000,
    "the cat sat on the mat. " * 40,
]
TEXT = st.one_of(
    st.text(alphabet=st.characters(), max_size=40),  # surrogates too
    st.lists(st.sampled_from(["the", "cat", "sat", "The", "mat.", "\n"]), max_size=12).map(
        " ".join
    ),
)
QUIET = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def metrics(raw) -> dict[str, Metric]:
    folder = raw(*TOKENS)
    return {
        label: registry.load("metric", label.split()[0])(raw=folder, **params)
        for label, params in CHEAP.items()
    }


def condensed_of(square: np.ndarray) -> np.ndarray:
    return square[np.triu_indices(len(square), k=1)]


@pytest.mark.parametrize("label", CHEAP)
def test_hostile_texts_give_finite_values_in_range(metrics, label):
    metric = metrics[label]
    a = [x for x in HOSTILE for _ in HOSTILE]
    b = HOSTILE * len(HOSTILE)
    values = metric.pairs(a, b)
    assert values.shape == (len(a),)
    assert values.dtype == np.float64
    assert np.isfinite(values).all()
    assert values.min() >= 0
    assert values.max() <= 1
    condensed = metric.condensed(HOSTILE)
    assert condensed.dtype == np.float32
    assert condensed.shape == (len(HOSTILE) * (len(HOSTILE) - 1) // 2,)
    assert condensed.min() >= 0
    assert condensed.max() <= 1
    assert np.isfinite(metric.matrix(HOSTILE, HOSTILE[:3])).all()


@pytest.mark.parametrize("label", CHEAP)
def test_a_line_of_a_megabyte(metrics, label):
    line = "lorem ipsum " * 90_000
    assert len(line) > 2**20
    values = metrics[label].pairs([line, line], ["lorem", line])
    assert np.isfinite(values).all()


@pytest.mark.parametrize("label", CHEAP)
def test_no_texts(metrics, label):
    metric = metrics[label]
    assert metric.pairs([], []).shape == (0,)
    assert metric.condensed([]).shape == (0,)
    assert metric.condensed(["one"]).shape == (0,)
    assert metric.matrix([], []).shape == (0, 0)
    assert metric.matrix(["q"], []).shape == (1, 0)
    assert metric.matrix([], ["d", "e"]).shape == (0, 2)


@pytest.mark.parametrize("label", CHEAP)
def test_pairs_of_unequal_length_are_refused(metrics, label):
    with pytest.raises(ValueError, match=r"(?i)length|shorter|longer"):
        metrics[label].pairs(["a", "b"], ["a"])


@QUIET
@given(texts=st.lists(TEXT, min_size=2, max_size=6))
@pytest.mark.parametrize("label", ONE_FORM)
def test_matrix_and_condensed_agree_with_pairs(metrics, label, texts):
    metric = metrics[label]
    a = [x for x in texts for _ in texts]
    square = metric.pairs(a, texts * len(texts)).reshape(len(texts), -1)
    np.testing.assert_allclose(metric.matrix(texts, texts), square, atol=1e-6)
    np.testing.assert_allclose(metric.condensed(texts), condensed_of(square), atol=1e-6)
    np.testing.assert_array_equal(square, square.T)


@QUIET
@given(text=TEXT)
@pytest.mark.parametrize("label", [*SIMILARITIES, "bm25 self"])
def test_a_text_equals_itself(metrics, label, text):
    tokens = len(metrics["jaccard"]._ids(text))
    value = metrics[label].pairs([text], [text])[0]
    if label == "rouge_l" and not tokens:
        assert value == 0
    elif label in ("rouge", "rouge exact") and tokens < 2:  # no bigram; as rouge-score
        assert value == tokens / 2
    elif label == "bm25 self" and not tokens:
        assert value == 0
    else:
        assert value == 1


@pytest.mark.parametrize("label", [label for label in CHEAP if label != "bm25"])
def test_a_pair_does_not_depend_on_its_batch(metrics, label):
    metric = metrics[label]
    assert not metric.batch_dependent
    reverse = HOSTILE[::-1]
    together = metric.pairs(HOSTILE, reverse)
    alone = [metric.pairs([x], [y])[0] for x, y in zip(HOSTILE, reverse, strict=True)]
    np.testing.assert_array_equal(together, alone)


def test_values_do_not_depend_on_the_order_of_texts(metrics):
    order = np.random.default_rng(1).permutation(len(HOSTILE))
    for label, metric in metrics.items():
        straight = metric.matrix(HOSTILE, HOSTILE)
        shuffled = metric.matrix([HOSTILE[i] for i in order], [HOSTILE[i] for i in order])
        np.testing.assert_array_equal(straight[np.ix_(order, order)], shuffled, err_msg=label)


def test_the_sources_that_metrics_read_are_declared():
    needs = {name: entry.needs for name, entry in registry.entries("metric").items()}
    for name in ("rouge", "jaccard", "bm25"):
        assert needs[name] == ("cl100k",)
    assert needs["bertscore"] == ("minilm",)
    assert needs["levenshtein"] == needs["random"] == ()


def test_reference_rows_are_marked():
    for name in ("constant_1", "constant_2_3", "random", "length_ratio"):
        assert registry.load("metric", name).reference
    for name in ("levenshtein", "rouge", "jaccard", "bm25", "bertscore"):
        assert not registry.load("metric", name).reference


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("rouge", {"implementaton": "exact"}, "'implementation'"),
        ("rouge", {"implementation": "fast"}, "'library' or 'exact'"),
        ("bm25", {"k_1": 1.2}, "'k1'"),
        ("bm25", {"b": 1.5}, "less than or equal to 1"),
        ("bm25", {"b": "0.5"}, "valid number"),
        ("bm25", {"normalise": "none"}, "(got 'none')"),
        ("bertscore", {"max_tokens": 2}, "greater than or equal to 3"),
        ("random", {"seed": -1}, "greater than or equal to 0"),
        ("jaccard", {"weights": 1}, "takes no parameters: remove 'weights'"),
    ],
)
def test_wrong_parameters_are_named(tmp_path, name, params, expected):
    with pytest.raises(BenchError) as caught:
        registry.load("metric", name)(raw=tmp_path, **params)
    assert expected in str(caught.value)
    assert next(iter(params)) in str(caught.value)


def test_random_is_uniform_seeded_and_unordered(metrics):
    texts = [f"text {i}" for i in range(300)]
    values = metrics["random"].condensed(texts)
    assert abs(values.mean() - 0.5) < 0.005
    assert abs(np.quantile(values, 0.1) - 0.1) < 0.005
    assert len(np.unique(values)) > 0.99 * len(values)
    other = registry.load("metric", "random")(raw=".", seed=1).condensed(texts)
    assert abs(np.corrcoef(values, other)[0, 1]) < 0.03
    # Written down once: the value must never depend on platform, process or hash seed.
    assert metrics["random"].pairs(["b"], ["a"])[0] == 0.5078775908381077


def test_references_by_hand(metrics):
    a, b = ["abcd", "", "", "ab"], ["ab", "", "x", "abc"]
    np.testing.assert_array_equal(metrics["length_ratio"].pairs(a, b), [0.5, 1, 0, 2 / 3])
    np.testing.assert_array_equal(metrics["constant_1"].pairs(a, b), [1] * 4)
    np.testing.assert_array_equal(metrics["constant_2_3"].pairs(a, b), [2 / 3] * 4)
