"""Levenshtein, ROUGE and Jaccard against their definitions and reference libraries."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from sagebench.metrics import allpairs, overlap
from sagebench.metrics.jaccard import Jaccard
from sagebench.metrics.levenshtein import Levenshtein
from sagebench.metrics.rouge import Rouge, ngram_occurrences
from sagebench.metrics.rouge_l import RougeL
from sagebench.tokens import cl100k

WORDS = ["the", "cat", "sat", "on", "mat", "The", "café", "\n", "🙂", "\ud800", "\0", "3.14"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)
TEXTS = st.lists(TEXT, min_size=2, max_size=7)
QUIET = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def folder(raw):
    return raw("cl100k")


@pytest.fixture(scope="module")
def rouge(folder):
    return Rouge(folder, implementation="exact")


@pytest.fixture(scope="module")
def jaccard(folder):
    return Jaccard(folder)


@pytest.fixture(scope="module")
def encode(folder):
    return cl100k(folder).encode


@pytest.fixture(scope="module")
def reference(encode):
    """Mean of rouge-score's ROUGE-1 F and ROUGE-2 F over cl100k tokens."""
    from rouge_score.rouge_scorer import RougeScorer

    class Cl100k:
        tokenize = staticmethod(encode)

    scorer = RougeScorer(["rouge1", "rouge2"], tokenizer=Cl100k())

    def score(a: str, b: str) -> float:
        found = scorer.score(a, b)
        return (found["rouge1"].fmeasure + found["rouge2"].fmeasure) / 2

    return score


def all_pairs(texts):
    return [(x, y) for i, x in enumerate(texts) for y in texts[i + 1 :]]


def edit_ratio(a: str, b: str) -> float:
    """1 - (insertions + deletions) / (|a| + |b|), by the textbook's dynamic programme."""
    if not a + b:
        return 1.0
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(previous[j - 1] if x == y else 1 + min(previous[j], row[j - 1]))
        previous = row
    return 1 - previous[-1] / (len(a) + len(b))


@QUIET
@given(texts=st.lists(st.text(alphabet="ab \0\ud800🙂", max_size=12), min_size=2, max_size=6))
def test_levenshtein_is_its_definition(tmp_path_factory, texts):
    metric = Levenshtein(tmp_path_factory.getbasetemp())
    expected = [edit_ratio(x, y) for x, y in all_pairs(texts)]
    np.testing.assert_allclose(metric.condensed(texts), expected, atol=1e-6)
    a, b = map(list, zip(*all_pairs(texts), strict=True))
    np.testing.assert_allclose(metric.pairs(a, b), expected, atol=1e-12)
    scalar = [Indel.normalized_similarity(x, y) for x, y in all_pairs(texts)]
    np.testing.assert_array_equal(metric.pairs(a, b), scalar)


@QUIET
@given(texts=TEXTS)
def test_rouge_kernel_equals_rouge_score(rouge, reference, texts):
    expected = [reference(x, y) for x, y in all_pairs(texts)]
    a, b = map(list, zip(*all_pairs(texts), strict=True))
    np.testing.assert_allclose(rouge.pairs(a, b), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rouge.condensed(texts), expected, atol=1e-7)
    square = [[reference(x, y) for y in texts] for x in texts[:2]]
    np.testing.assert_allclose(rouge.matrix(texts[:2], texts), square, rtol=0, atol=1e-12)


@QUIET
@given(texts=TEXTS)
def test_both_rouge_implementations_are_equal_to_the_bit(folder, rouge, texts):
    library = Rouge(folder)
    assert library.parameters.implementation == "library"
    np.testing.assert_array_equal(
        library.pairs(texts, texts[::-1]), rouge.pairs(texts, texts[::-1])
    )


def test_rouge_by_hand(rouge):
    # tokens a b a | a a c: unigrams share 2 of 3; bigrams (ab, ba) and (aa, ac) share none
    same, other = " a b a", " a a c"
    assert rouge.pairs([same], [other])[0] == pytest.approx((2 / 3 + 0) / 2)
    np.testing.assert_array_equal(rouge.pairs(["", "a", "a"], ["", "a", ""]), [0, 0.5, 0])


@QUIET
@given(texts=TEXTS)
def test_rouge_l_equals_rouge_score(folder, encode, texts):
    from rouge_score.rouge_scorer import RougeScorer

    class Cl100k:
        tokenize = staticmethod(encode)

    score = RougeScorer(["rougeL"], tokenizer=Cl100k()).score
    metric = RougeL(folder)
    expected = [score(x, y)["rougeL"].fmeasure for x, y in all_pairs(texts)]
    a, b = map(list, zip(*all_pairs(texts), strict=True))
    np.testing.assert_allclose(metric.pairs(a, b), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(metric.condensed(texts), expected, atol=1e-7)
    square = [[score(x, y)["rougeL"].fmeasure for y in texts] for x in texts[:2]]
    np.testing.assert_allclose(metric.matrix(texts[:2], texts), square, rtol=0, atol=1e-12)


def test_rouge_l_by_hand(folder, encode):
    metric = RougeL(folder)
    # a b c d | b d a: the subsequence b d is 2 of 4 and 2 of 3
    assert metric.pairs([" a b c d"], [" b d a"])[0] == pytest.approx(2 * 0.5 * (2 / 3) / (7 / 6))
    np.testing.assert_array_equal(metric.pairs(["", "a", "a"], ["", "a", ""]), [0, 1, 0])


def test_tokens_survive_the_coding_whatever_their_number(folder):
    # Numbers in the range of surrogates are tokens like others.
    metric = RougeL(folder)
    ids = np.arange(0xD7F0, 0xE010, dtype=np.int64)
    metric._ids = {"all": ids, "odd": ids[1::2]}.__getitem__
    assert metric.pairs(["all"], ["odd"])[0] == pytest.approx(2 * 0.5 / 1.5)


@given(ids=st.lists(st.integers(0, 3), max_size=30))
def test_ngram_occurrences_turn_clipped_counts_into_sets(ids):
    for n in (1, 2):
        keys = ngram_occurrences(np.array(ids, dtype=np.int64), n)
        assert len(np.unique(keys)) == len(keys) == max(0, len(ids) - n + 1)
        assert (np.diff(keys) > 0).all()


@QUIET
@given(texts=TEXTS)
def test_jaccard_is_its_definition(jaccard, encode, texts):
    def expected(x, y):
        left, right = set(encode(x)), set(encode(y))
        return len(left & right) / len(left | right) if left | right else 1.0

    a, b = map(list, zip(*all_pairs(texts), strict=True))
    values = [expected(x, y) for x, y in all_pairs(texts)]
    np.testing.assert_allclose(jaccard.pairs(a, b), values, rtol=0, atol=1e-15)
    np.testing.assert_allclose(jaccard.condensed(texts), values, atol=1e-7)


def random_sets(generator, n, keys, size):
    return [np.unique(generator.integers(0, keys, generator.integers(0, size))) for _ in range(n)]


@pytest.mark.parametrize("dense_columns", [0, 5, 1000])
def test_overlaps_do_not_depend_on_the_split_of_columns(monkeypatch, dense_columns):
    monkeypatch.setattr(overlap, "_DENSE_COLUMNS", dense_columns)
    generator = np.random.default_rng(3)
    left = random_sets(generator, 12, 40, 30)
    right = random_sets(generator, 9, 60, 30)
    shared, rows, columns = overlap.Overlaps(left, right).block(2, 11, first=4)
    expected = [[len(set(x) & set(y)) for y in map(list, right[4:])] for x in map(list, left[2:11])]
    np.testing.assert_array_equal(shared, expected)
    np.testing.assert_array_equal(rows[:, 0], [len(x) for x in left[2:11]])
    np.testing.assert_array_equal(columns, [len(x) for x in right[4:]])


@pytest.mark.parametrize("cells", [1, 20, 10_000])
def test_all_pairs_do_not_depend_on_the_block_size(cells):
    generator = np.random.default_rng(4)
    square = generator.random((13, 13), dtype=np.float32)
    widest = 0

    def block(start, stop):
        nonlocal widest
        widest = max(widest, stop - start)
        return square[start:stop, start:]

    result = allpairs.condensed(13, block, cells)
    np.testing.assert_array_equal(result, square[np.triu_indices(13, k=1)])
    assert widest <= max(1, cells // 13)
    rows = allpairs.matrix(13, 13, lambda start, stop: square[start:stop], cells)
    np.testing.assert_array_equal(rows, square)
