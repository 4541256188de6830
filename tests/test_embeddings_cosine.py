"""Cosine over an embeddings table, against the formula written out in plain Python."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

from sagebench import frames
from sagebench.embeddings.keys import text_key
from sagebench.errors import BenchError
from sagebench.metrics import vectors
from sagebench.metrics.cosine import Cosine
from sagebench.metrics.vectors import Vectors

numbers = st.floats(-1, 1, width=32)
tables = st.integers(1, 5).flatmap(
    lambda dim: st.lists(st.lists(numbers, min_size=dim, max_size=dim), min_size=1, max_size=9)
)


def cosine_of(rows: list[list[float]]) -> tuple[Cosine, list[str]]:
    """A system whose text "0" has the first vector, "1" the second, and so on."""
    return Cosine(table_of(rows)), [str(i) for i in range(len(rows))]


def table_of(rows: list[list[float]]) -> pl.DataFrame:
    """frames.EMBEDDINGS of the texts "0", "1", …"""
    texts = [str(i) for i in range(len(rows))]
    table = pl.DataFrame(
        {
            "text_sha256": [text_key(text) for text in texts],
            "vector": pl.Series(rows, dtype=pl.List(pl.Float32)),
            "tokens": [1] * len(rows),
            "truncated": [False] * len(rows),
            "valid": [any(row) for row in rows],
        }
    )
    return frames.EMBEDDINGS.check(table)


def by_hand(a: list[float], b: list[float]) -> float:
    norms = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(x * x for x in b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / norms if norms else math.nan


@given(tables)
def test_all_three_shapes_equal_the_formula(rows):
    system, texts = cosine_of(rows)
    n = len(texts)
    expected = np.array([[by_hand(a, b) for b in rows] for a in rows])
    left, right = np.divmod(np.arange(n * n), n)
    pairs = system.pairs([texts[i] for i in left], [texts[i] for i in right]).reshape(n, n)
    np.testing.assert_allclose(pairs, expected, atol=1e-9)
    zeros = np.nan_to_num(expected, nan=0.0)
    np.testing.assert_allclose(system.matrix(texts, texts), zeros, atol=1e-6)
    square = squareform(system.condensed(texts))
    np.testing.assert_allclose(square, zeros - np.diag(np.diag(zeros)), atol=1e-6)


@given(tables)
def test_values_stay_in_range_and_a_text_is_exactly_itself(rows):
    system, texts = cosine_of(rows)
    pairs = system.pairs(texts, texts)
    assert all(math.isnan(value) or value == 1.0 for value in pairs)
    assert np.abs(system.matrix(texts, texts)).max() <= 1.0


def test_equal_vectors_tie_exactly_wherever_they_stand():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(301, 384)).astype(np.float32)
    rows[7] = rows[150] = rows[300]
    system, texts = cosine_of(rows.tolist())
    matrix = system.matrix(texts[:40], texts)
    assert np.array_equal(matrix[:, 7], matrix[:, 300])
    assert np.array_equal(matrix[:, 150], matrix[:, 300])
    shuffled = list(reversed(texts))
    assert np.array_equal(system.matrix(texts[:40], shuffled)[:, ::-1], matrix)


def test_blocks_join_without_a_seam(monkeypatch):
    rows = np.random.default_rng(2).normal(size=(23, 6)).astype(np.float32).tolist()
    system, texts = cosine_of(rows)
    whole = system.pairs(texts, texts[::-1]), system.matrix(texts, texts), system.condensed(texts)
    monkeypatch.setattr("sagebench.metrics.cosine._BLOCK", 4)
    parts = system.pairs(texts, texts[::-1]), system.matrix(texts, texts), system.condensed(texts)
    for a, b in zip(whole, parts, strict=True):
        assert np.array_equal(a, b)


def test_a_text_without_direction_is_not_a_number_in_pairs_and_zero_elsewhere():
    system, texts = cosine_of([[0.0, 0.0], [3.0, 4.0]])
    assert math.isnan(system.pairs(["0"], ["1"])[0])
    assert system.matrix(texts, texts).tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert system.condensed(texts).tolist() == [0.0]


def test_nothing_to_compare():
    system, _ = cosine_of([[1.0, 0.0]])
    assert system.pairs([], []).shape == (0,)
    assert system.matrix([], ["0"]).shape == (0, 1)
    assert system.condensed(["0"]).shape == (0,)
    assert Cosine(frames.EMBEDDINGS.empty()).condensed([]).shape == (0,)


def test_an_unknown_text_is_named():
    system, _ = cosine_of([[1.0]])
    with pytest.raises(BenchError, match=r"begins 'never seen'.*run again"):
        system.matrix(["0"], ["never seen"])


@given(tables, st.integers(0, 40))
def test_vectors_on_disk_are_those_in_memory(tmp_path_factory, rows, held):
    folder = tmp_path_factory.getbasetemp()
    texts = [str(i) for i in range(len(rows))]
    path = folder / "embeddings.parquet"
    frames.write(table_of(rows), path, frames.EMBEDDINGS)
    one, other = Vectors(table_of(rows)), Vectors(path, held=held)
    asked = [*texts[::-1], texts[0]]
    np.testing.assert_array_equal(other.find(asked), one.find(asked))
    np.testing.assert_array_equal(other.take(other.find(asked)), one.take(one.find(asked)))
    np.testing.assert_array_equal(other.valid, one.valid)


def test_large_tables_are_read_in_parts_and_spilled(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "_ROWS", 3)
    rows = np.random.default_rng(0).normal(size=(10, 4)).tolist()
    path = tmp_path / "embeddings.parquet"
    frames.write(table_of(rows), path, frames.EMBEDDINGS)
    for held in (0, 4 * 4 * 5, 10_000):  # no part, some parts, every part fits
        system = Cosine(path)
        system._vectors = Vectors(path, held=held)
        texts = [str(i) for i in range(10)]
        expected = Cosine(table_of(rows))
        np.testing.assert_array_equal(
            system.matrix(texts[:4], texts), expected.matrix(texts[:4], texts)
        )
        np.testing.assert_array_equal(system.condensed(texts), expected.condensed(texts))
    assert [file.name for file in tmp_path.iterdir()] == ["embeddings.parquet"]


def test_a_kept_corpus_is_never_taken_for_another():
    rows = np.random.default_rng(1).normal(size=(6, 4)).tolist()
    system, texts = cosine_of(rows)
    fresh, _ = cosine_of(rows)
    documents = texts[:4]
    system.matrix(texts[:1], documents)
    documents.reverse()  # the same list, other documents
    np.testing.assert_array_equal(
        system.matrix(texts[:1], documents), fresh.matrix(texts[:1], documents)
    )
