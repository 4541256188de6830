"""What holds for every registered metric and perturbation, those of tomorrow too.

Both are taken from the registry, so that a new one is held to these promises without a line here;
an exception has to be declared below, with its reason. The metrics' and the tasks' own files have
their brute-force twins.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sagebench import registry
from sagebench.tokens import cl100k

METRICS = sorted(registry.entries("metric"))
PERTURBATIONS = sorted(registry.entries("perturbation"))
# Not 1 on equal texts, by what they are.
NOT_ONE = {
    "bm25": "scaled over its batch (test_metrics_bm25.py)",
    "constant_2_3": "a reference that is always 2/3",
    "random": "a reference that is drawn",
}
NOT_SYMMETRIC = {"bm25": "scores a query against a document"}
SLOW = {"bertscore": 4}  # runs a model: fewer examples

WORDS = st.lists(
    st.sampled_from(["the", "cat", "sat", "Mat", "on", "25", "é", "🙂", "naïve", "not"]),
    min_size=2, max_size=10,
).map(" ".join)  # fmt: skip
ANY = st.one_of(st.text(st.characters(), max_size=40), WORDS)  # lone surrogates too
PAIRS = st.lists(st.tuples(ANY, ANY), min_size=1, max_size=6)


def check(name: str, strategy: Any, promise: Callable[[Any], None]) -> None:
    """Hypothesis with as many examples as the thing called `name` can pay for."""
    settings(max_examples=SLOW.get(name, 40), deadline=None, suppress_health_check=[*HealthCheck])(
        given(strategy)(promise)
    )()


@pytest.fixture(scope="module")
def made(raw: Callable[..., Path]) -> Callable[[str, str], Any]:
    """`made("metric", "rouge")`: with its default parameters and the sources that it needs."""

    @cache
    def make(kind: str, name: str) -> Any:
        folder = raw("cl100k", *registry.entries(kind)[name].needs)
        return registry.load(kind, name)(folder)

    return make


@pytest.mark.parametrize("name", METRICS)
def test_similarities_are_numbers_from_0_to_1(made, name: str) -> None:
    metric = made("metric", name)

    def promise(pairs: list[tuple[str, str]]) -> None:
        values = metric.pairs(*map(list, zip(*pairs, strict=True)))
        assert values.shape == (len(pairs),)
        assert values.dtype == np.float64
        defined = values[~np.isnan(values)]  # NaN says "none is defined": left out and counted
        assert np.isfinite(defined).all()
        assert ((defined >= 0) & (defined <= 1)).all()

    check(name, PAIRS, promise)


@pytest.mark.parametrize("name", METRICS)
def test_every_pair_of_words_has_a_similarity(made, name: str) -> None:
    metric = made("metric", name)
    check(name, st.tuples(WORDS, WORDS), lambda pair: _finite(metric.pairs([pair[0]], [pair[1]])))


def _finite(values: np.ndarray) -> None:
    assert np.isfinite(values).all()


@pytest.mark.parametrize("name", [name for name in METRICS if name not in NOT_SYMMETRIC])
def test_symmetric(made, name: str) -> None:
    metric = made("metric", name)

    def promise(pairs: list[tuple[str, str]]) -> None:
        a, b = map(list, zip(*pairs, strict=True))
        np.testing.assert_allclose(metric.pairs(a, b), metric.pairs(b, a), rtol=0, atol=1e-6)

    check(name, PAIRS, promise)


@pytest.mark.parametrize("name", [name for name in METRICS if name not in NOT_ONE])
def test_equal_texts_of_two_words_or_more_have_1(made, name: str) -> None:
    metric = made("metric", name)
    check(
        name, WORDS,
        lambda text: np.testing.assert_allclose(metric.pairs([text], [text]), 1, rtol=0, atol=1e-6),
    )  # fmt: skip


@pytest.mark.parametrize("name", METRICS)
def test_row_order_changes_nothing(made, name: str) -> None:
    metric = made("metric", name)

    def promise(pairs: list[tuple[str, str]]) -> None:
        a, b = map(list, zip(*pairs, strict=True))
        np.testing.assert_array_equal(metric.pairs(a, b)[::-1], metric.pairs(a[::-1], b[::-1]))

    check(name, PAIRS, promise)


@pytest.mark.parametrize("name", METRICS)
def test_batch_size_changes_nothing_unless_declared(made, name: str) -> None:
    metric = made("metric", name)
    if metric.batch_dependent:
        assert name in NOT_ONE
        return

    def promise(pairs: list[tuple[str, str]]) -> None:
        a, b = map(list, zip(*pairs, strict=True))
        alone = [metric.pairs([x], [y])[0] for x, y in pairs]
        np.testing.assert_array_equal(metric.pairs(a, b), alone)

    check(name, PAIRS, promise)


def test_exceptions_are_of_metrics_that_exist() -> None:
    assert {*NOT_ONE, *NOT_SYMMETRIC, *SLOW} <= set(METRICS)


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_a_perturbed_text_can_be_written(made, name: str) -> None:
    """Whatever came in: no lone surrogate goes out, empty stays empty, and again is the same."""
    perturbation = made("perturbation", name)
    place = [0.5, 0.5] if perturbation.kind in ("insertion", "removal") else []

    def promise(text: str) -> None:
        out = perturbation.apply(text, 7, *place)
        assert out.encode("utf-8").decode("utf-8") == out
        assert perturbation.apply(text, 7, *place) == out
        assert (out == "") >= (text == "")

    check(name, ANY, promise)


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_needles_are_exact_in_tokens(made, raw, name: str) -> None:
    """The tokens that an insertion brings, and those that a removal leaves, to the token."""
    perturbation = made("perturbation", name)
    if perturbation.kind not in ("insertion", "removal"):
        return
    tokens = cl100k(raw("cl100k"))

    def promise(value: tuple[str, float, float]) -> None:
        text, size, position = value
        out = perturbation.apply(text, 7, size, position)
        n = len(tokens.encode(text))
        if perturbation.kind == "insertion":
            start = int(position * len(text))
            needle = out[start : len(out) - len(text) + start]
            assert text[:start] + needle + text[start:] == out
            assert len(tokens.encode(needle)) == int(size * n)
        else:
            pieces = [tokens.decode_bytes([token]) for token in tokens.encode(text)]
            left = n - int(size * n)
            heads = (b"".join(pieces[:k] + pieces[k + n - left :]) for k in range(left + 1))
            assert out in [head.decode("utf-8", "replace") for head in heads]

    fraction = st.floats(0.01, 1)
    check(name, st.tuples(WORDS, fraction, st.floats(0, 1)), promise)
