"""BERTScore against `bert_score.score` itself.

One pair a batch: in a larger one the library's padding raises a token's best match to 0 where
all of its cosines are negative, so that its values depend on the batch.
"""

import importlib
from itertools import combinations

import numpy as np
import pytest

from sagebench.errors import BenchError
from sagebench.metrics.bertscore import BertScore

TEXTS = [
    "A cat sat on the mat.",
    "The mat had a cat sitting on it.",
    "Interest rates rose again in the third quarter, the central bank said.",
    "word",
    "Café déjà vu 🙂 — naïve <b>bold</b>",
    "one two three " * 200,
    "  A cat sat on the mat.\n",
]


@pytest.fixture(scope="module")
def metric(raw):
    return BertScore(raw("minilm"))


@pytest.fixture(scope="module")
def cut(raw):
    return BertScore(raw("minilm"), max_tokens=8)


@pytest.fixture(scope="module")
def library(raw):
    """F1 of aligned lists by the library, its tokenizer limited as the metric's is."""
    import bert_score
    from bert_score.utils import get_tokenizer

    module = importlib.import_module("bert_score.score")
    folder = str(raw("minilm") / "minilm" / "model")

    def f1(a, b, max_tokens=256, num_layers=6):
        def limited(*args, **kwargs):
            tokenizer = get_tokenizer(*args, **kwargs)
            tokenizer.model_max_length = max_tokens
            return tokenizer

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "get_tokenizer", limited)
            _, _, values = bert_score.score(
                a, b, model_type=folder, num_layers=num_layers, batch_size=1
            )
            return values.numpy()

    return f1


def pairs_of(texts):
    return map(list, zip(*combinations(texts, 2), strict=True))


def test_pairs_equal_the_library(metric, library):
    a, b = pairs_of(TEXTS)
    np.testing.assert_allclose(metric.pairs(a, b), library(b, a), atol=1e-5)


def test_truncation_and_depth_equal_the_library(raw, cut, library):
    a, b = pairs_of(TEXTS)
    np.testing.assert_allclose(cut.pairs(a, b), library(b, a, max_tokens=8), atol=1e-5)
    shallow = BertScore(raw("minilm"), num_layers=2)
    np.testing.assert_allclose(shallow.pairs(a, b), library(b, a, num_layers=2), atol=1e-5)


def test_matrix_and_condensed_equal_pairs(metric):
    a, b = pairs_of(TEXTS)
    np.testing.assert_allclose(metric.condensed(TEXTS), metric.pairs(a, b), atol=1e-7)
    square = metric.matrix(TEXTS[:3], TEXTS)
    np.testing.assert_allclose(square[0, 1:], metric.pairs([TEXTS[0]] * 6, TEXTS[1:]), atol=0)
    np.testing.assert_allclose(square[:3, :3], square[:3, :3].T, atol=1e-6)


def test_a_text_equals_itself(metric):
    np.testing.assert_allclose(metric.pairs(TEXTS, TEXTS), 1, atol=1e-6)
    assert metric.pairs(TEXTS, TEXTS).max() <= 1


@pytest.mark.parametrize("empty", ["", " \n\t", "\0", "\u200b", "[CLS]"])
def test_a_text_without_tokens_has_no_similarity(metric, empty):
    assert np.isnan(metric.pairs([empty, "word", empty], ["word", empty, empty])).all()
    assert np.isnan(metric.condensed([empty, "word"])).all()


def test_hostile_texts(metric):
    hostile = [
        "\ud800 lone",
        "nul\0in",
        "שלום \u202eabc",
        "👩‍👩‍👧‍👦",
        "e" + "\u0301" * 300,
        "x" * 2**20,
    ]
    values = metric.pairs(hostile, ["plain words"] * len(hostile))
    assert np.isfinite(values).all()
    assert values.min() >= 0
    assert values.max() <= 1


def test_no_texts(metric):
    assert metric.pairs([], []).shape == (0,)
    assert metric.condensed(["one"]).shape == (0,)
    assert metric.matrix(["q"], []).shape == (1, 0)


def test_each_visible_text_is_encoded_once(raw):
    metric = BertScore(raw("minilm"), max_tokens=8)
    encoded = []
    encode = metric._encode
    metric._encode = lambda text: encoded.append(text) or encode(text)
    seen = "one two three four five six"
    texts = [seen, seen + " seven", seen + " eight", "other words"]
    values = metric.condensed([*texts, *texts])
    assert encoded == [seen, "other words"]  # an edit beyond the cut costs nothing …
    assert values[0] == pytest.approx(1, abs=1e-6)  # … and cannot be seen
    assert metric.truncated(texts) == 2
    assert metric.truncated(["", *texts]) == 2


def test_values_do_not_depend_on_threads(raw):
    import torch

    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            results.append(BertScore(raw("minilm")).pairs(TEXTS[:3], TEXTS[3:6]))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*results)


def test_a_folder_whose_name_means_something_to_the_library(raw, tmp_path):
    # The library takes a path with "t5" in it for a T5 model.
    (tmp_path / "t5" / "minilm").mkdir(parents=True)
    (tmp_path / "t5" / "minilm" / "model").symlink_to(raw("minilm") / "minilm" / "model")
    folder = tmp_path / "t5"
    metric = BertScore(folder)
    metric._folder = folder / "minilm" / "model"  # unresolved, as a real folder would be
    assert metric.pairs(["a cat"], ["a cat"])[0] == pytest.approx(1, abs=1e-6)


def test_a_model_that_was_not_fetched(tmp_path):
    with pytest.raises(BenchError, match=r"minilm.* is missing"):
        BertScore(tmp_path)
