"""BM25Plus against rank_bm25."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Plus

from sagebench.metrics.bm25 import BM25
from sagebench.tokens import cl100k

WORDS = ["the", "cat", "sat", "on", "mat", "The", "dog", "\n", "🙂"]
FULL = st.lists(st.sampled_from(WORDS), min_size=1, max_size=25).map(" ".join)
TEXT = st.one_of(st.just(""), FULL)
QUIET = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def batch(raw):
    return BM25(raw("cl100k"))


@pytest.fixture(scope="module")
def by_self(raw):
    return BM25(raw("cl100k"), normalise="self")


@pytest.fixture(scope="module")
def encode(raw):
    return cl100k(raw("cl100k")).encode


def oracle(encode, corpus, query, **options):
    """Raw scores of `query` for each text of `corpus`."""
    return BM25Plus([encode(text) for text in corpus], **options).get_scores(encode(query))


@QUIET
@given(documents=st.lists(FULL, min_size=1, max_size=6), queries=st.lists(TEXT, max_size=4))
def test_matrix_equals_rank_bm25(batch, encode, documents, queries):
    expected = [oracle(encode, documents, query) for query in queries]
    np.testing.assert_allclose(
        batch.matrix(queries, documents),
        np.array(expected).reshape(len(queries), len(documents)),
        rtol=1e-10,
        atol=1e-12,
    )


def test_an_empty_document_counts_in_the_average_length(batch, encode):
    documents = ["the cat", "", "a dog sat on the mat", ""]
    np.testing.assert_allclose(
        batch.matrix(["the dog the dog"], documents)[0],
        oracle(encode, documents, "the dog the dog"),
        rtol=1e-12,
    )


@pytest.mark.parametrize(("k1", "b", "delta"), [(0.9, 0.4, 0.5), (0.0, 0.0, 0.0), (2.0, 1.0, 1.0)])
def test_parameters_reach_the_formula(raw, encode, k1, b, delta):
    metric = BM25(raw("cl100k"), k1=k1, b=b, delta=delta)
    documents = ["the cat sat on the mat", "dog", "the the dog"]
    # rank_bm25 divides 0 by 0 where a token is absent and k1 is 0; the limit of the gain is 0
    with np.errstate(invalid="ignore"):
        expected = oracle(encode, documents, "the dog", k1=k1, b=b, delta=delta)
    if k1:
        np.testing.assert_allclose(metric.matrix(["the dog"], documents)[0], expected, rtol=1e-12)
    assert np.isfinite(metric.matrix(["the dog"], documents)).all()


def raw_pair(encode, document, query):
    return oracle(encode, [document], query)[0] if document else 0.0


@QUIET
@given(pairs=st.lists(st.tuples(TEXT, TEXT), min_size=2, max_size=8))
def test_pairs_are_scores_in_a_corpus_of_one(batch, by_self, encode, pairs):
    a, b = map(list, zip(*pairs, strict=True))
    raw = np.array([raw_pair(encode, x, y) for x, y in pairs])
    if np.ptp(raw) > 1e-9:
        expected = (raw - raw.min()) / np.ptp(raw)
        np.testing.assert_allclose(batch.pairs(a, b), expected, atol=1e-12)
    own = np.array([raw_pair(encode, x, x) for x in a])
    expected = np.minimum(np.divide(raw, own, out=np.zeros(len(raw)), where=own > 0), 1)
    np.testing.assert_allclose(by_self.pairs(a, b), expected, atol=1e-12)


def test_a_constant_batch_has_no_scale(batch):
    np.testing.assert_array_equal(batch.pairs(["a b", "a b"], ["a b", "a b"]), [0.5, 0.5])
    np.testing.assert_array_equal(batch.pairs(["a"], ["a"]), [0.5])
    np.testing.assert_array_equal(batch.condensed(["same"] * 3), [0.5] * 3)


def test_tokens_that_a_needle_adds_count_nothing(by_self, batch):
    document = "the cat sat on the mat"
    needle = document + " lorem ipsum dolor"
    assert by_self.pairs([document], [needle])[0] == pytest.approx(1)
    assert by_self.pairs([document], ["the cat the cat " + document])[0] == 1  # cut at 1
    scores = batch.pairs([document] * 3, [document, needle, "the cat"])
    assert scores[0] == pytest.approx(scores[1])
    assert batch.batch_dependent
    assert not by_self.batch_dependent
    assert batch.corpus_dependent
    assert by_self.corpus_dependent


@QUIET
@given(texts=st.lists(FULL, min_size=2, max_size=6))
@pytest.mark.parametrize("normalise", ["batch", "self"])
def test_condensed_averages_both_directions(batch, by_self, encode, normalise, texts):
    scores = np.array([oracle(encode, texts, query) for query in texts])
    upper = np.triu_indices(len(texts), k=1)
    if normalise == "self":
        scores = np.minimum(scores / np.diag(scores), 1)
        expected = ((scores + scores.T) / 2)[upper]
        np.testing.assert_allclose(by_self.condensed(texts), expected, atol=1e-6)
        return
    mean = ((scores + scores.T) / 2)[upper]
    if np.ptp(mean) > 1e-3:
        expected = (mean - mean.min()) / np.ptp(mean)
        np.testing.assert_allclose(batch.condensed(texts), expected, atol=1e-3)


def test_equal_documents_tie_exactly(batch):
    documents = ["the cat sat on the mat", "a dog", "the cat sat on the mat", "the end"]
    row = batch.matrix(["the mat is a cat"], documents)[0]
    assert row[0] == row[2]
    swapped = batch.matrix(["the mat is a cat"], documents[::-1])[0][::-1]
    np.testing.assert_array_equal(row, swapped)
