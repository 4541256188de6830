"""Samples: within one another, independent of what else is there, never empty."""

import logging

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sagebench import frames
from sagebench.corpora.sample import sample
from sagebench.errors import BenchError


def documents(n: int, start: int = 0) -> dict[str, pl.DataFrame]:
    rows = [(f"d{i:03}", f"text {i}", None) for i in range(start, start + n)]
    return {"sample": _frame(frames.DOCUMENTS, rows)}


def retrieval(n: int, relevant: dict[str, list[int]]) -> dict[str, pl.DataFrame]:
    found = documents(n)
    found["queries"] = _frame(frames.QUERIES, [(q, f"query {q}") for q in sorted(relevant)])
    judged = [(q, f"d{i:03}", 1) for q in sorted(relevant) for i in relevant[q]]
    found["qrels"] = _frame(frames.QRELS, judged)
    return found


def _frame(schema: frames.Schema, rows: list[tuple]) -> pl.DataFrame:
    types = {name: column.dtype for name, column in schema.columns.items()}
    return schema.check(pl.DataFrame(rows, schema=types, orient="row"))


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 3))
def test_a_smaller_sample_lies_within_a_larger(one: int, two: int, seed: int) -> None:
    small, large = (
        set(sample("documents", documents(50), n, seed, "x")["sample"]["doc_id"])
        for n in sorted((one, two))
    )
    assert small <= large
    assert len(large) == min(50, max(one, two))


def test_the_draw_depends_on_seed_and_corpus_and_not_on_the_rest() -> None:
    def drawn(content: dict[str, pl.DataFrame], seed: int = 1, corpus: str = "x") -> set[str]:
        return set(sample("documents", content, 20, seed, corpus)["sample"]["doc_id"])

    base = drawn(documents(100))
    assert drawn(documents(100)) == base
    assert drawn(documents(100), seed=2) != base
    assert drawn(documents(100), corpus="y") != base
    shuffled = {"sample": documents(100)["sample"].sample(fraction=1, shuffle=True, seed=3)}
    assert drawn(shuffled) == base
    # Documents of the smaller corpus that were drawn from the larger are drawn from it, too.
    smaller = documents(60)
    assert base & set(smaller["sample"]["doc_id"]) <= drawn(smaller)


def test_rows_keep_the_corpus_order() -> None:
    found = sample("documents", documents(50), 20, 1, "x")["sample"]
    assert found["doc_id"].is_sorted()


def test_more_than_there_is_gives_all_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert sample("documents", documents(5), 9, 1, "x")["sample"].height == 5
    assert "corpus x: 9 asked for, all 5 are used" in caplog.text


@pytest.mark.parametrize("n", [0, -3])
def test_an_empty_sample_is_an_error(n: int) -> None:
    with pytest.raises(BenchError, match=f"a sample of {n} from 5 of corpus 'x' is empty"):
        sample("documents", documents(5), n, 1, "x")
    with pytest.raises(BenchError, match="from 0 of corpus 'x' is empty"):
        sample("documents", documents(0), 3, 1, "x")


def test_preferences_leave_small_gaps_out_first() -> None:
    rows = [(f"p{i:02}", "d", "t", "a", "b", 1 + i % 2, i / 10) for i in range(20)]
    content = {"sample": _frame(frames.PREFERENCES, rows)}
    found = sample("preferences", content, 8, 1, "x", min_gap=1.0)["sample"]
    assert found.height == 8
    assert found["gap"].min() >= 1.0
    with pytest.raises(BenchError, match=r"no pair with a gap of 5.*lower min_gap"):
        sample("preferences", content, 8, 1, "x", min_gap=5)


def test_a_rated_item_keeps_all_its_aspects() -> None:
    rows = [
        (f"i{i}", aspect, "a", "b", 1.0, 3) for i in range(9) for aspect in ("fluent", "overall")
    ]
    found = sample("ratings", {"sample": _frame(frames.RATINGS, rows)}, 4, 1, "x")["sample"]
    assert found["item_id"].n_unique() == 4
    assert found.height == 8


def test_labelled_needs_two_classes() -> None:
    rows = [(f"d{i}", f"t{i}", "rare" if i == 7 else "common") for i in range(40)]
    content = {"sample": _frame(frames.LABELLED, rows)}
    with pytest.raises(BenchError, match="2 texts of corpus 'x' are of 1 class"):
        sample("labelled", content, 2, 1, "x")
    assert sample("labelled", content, 40, 1, "x")["sample"]["label"].n_unique() == 2


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["q1", "q2", "q3"]),
        st.lists(st.integers(0, 11), min_size=1, max_size=5, unique=True),
        min_size=1,
    ),
    st.integers(1, 14),
)
def test_retrieval_keeps_exactly_the_judged_queries(relevant: dict[str, list[int]], n: int) -> None:
    content = retrieval(12, relevant)
    drawn = set(sample("documents", content, n, 1, "x")["sample"]["doc_id"])
    expected = {
        query: {f"d{i:03}" for i in documents} & drawn for query, documents in relevant.items()
    }
    expected = {query: documents for query, documents in expected.items() if documents}
    if not expected:
        with pytest.raises(BenchError, match="ask for more documents"):
            sample("retrieval", content, n, 1, "x")
        return
    found = sample("retrieval", content, n, 1, "x")
    assert set(found["sample"]["doc_id"]) == drawn
    assert set(found["queries"]["query_id"]) == set(expected)
    judged = {q: set() for q in expected}
    for query, document, _ in found["qrels"].rows():
        judged[query].add(document)
    assert judged == expected
