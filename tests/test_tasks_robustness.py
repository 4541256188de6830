"""Task 2 against a plain reading of the protocol."""

import numpy as np
import polars as pl
import pytest
from tasks_support import (
    SEMANTIC,
    SUPERFICIAL,
    Fake,
    cell,
    constant,
    documents,
    draws_of,
    lacking,
    noise,
    perturbed,
    shuffled,
    shuffled_inputs,
    spec,
    unit_values,
)

from sagebench import frames
from sagebench.errors import BenchError
from sagebench.tasks.robustness import CONDITIONS, Robustness

TASK = Robustness()


def section(reading: str = "all_then_mean") -> dict:
    return {"superficial": SUPERFICIAL, "semantic": SEMANTIC, "reading": reading}


def inputs(n: int) -> dict:
    sample = documents(n)
    changed = {name: perturbed(sample, name) for name in SUPERFICIAL + SEMANTIC}
    return {"sample": sample, "perturbed": changed}


def run(data: dict, systems: dict, reading: str = "all_then_mean", **options):
    settings = spec(section(reading), **options)
    similarities = {name: TASK.similarity(data, s, settings) for name, s in systems.items()}
    return TASK.score(data, similarities, settings)


def by_hand(data: dict, system: Fake, reading: str) -> dict[str, float]:
    """The protocol, one document and one comparison at a time."""
    texts = {
        name: dict(zip(frame["doc_id"], frame["text"], strict=True))
        for name, frame in data["perturbed"].items()
    }
    held: dict[str, list[float]] = {name: [] for name in CONDITIONS}
    together = []
    for doc, text, summary in data["sample"].iter_rows():
        to_summary = system.function(text, summary)
        sup = [system.function(text, texts[name][doc]) for name in SUPERFICIAL]
        sem = [system.function(text, texts[name][doc]) for name in SEMANTIC]
        comparisons = [
            [to_summary > t for t in sem],
            [s > to_summary for s in sup],
            [s > t for s in sup for t in sem],
        ]
        for name, single in zip(CONDITIONS, comparisons, strict=True):
            mean = sum(single) / len(single)
            held[name].append(mean if reading == "average" else float(all(single)))
        together.append(float(all(all(single) for single in comparisons)))
    rates = {name: sum(values) / len(values) for name, values in held.items()}
    score = sum(rates.values()) / 3
    if reading == "simultaneous":
        score = sum(together) / len(together)
    return rates | {"score": score}


@pytest.mark.parametrize("reading", ["all_then_mean", "simultaneous", "average"])
@pytest.mark.parametrize("steps", [None, 4])
def test_scores_are_the_protocols(reading, steps):
    data, system = inputs(40), noise(1, steps)
    _, cells, _ = run(data, {"s": system}, reading)
    for measure, value in by_hand(data, system, reading).items():
        found = cell(cells, "s", measure)
        assert found["value"] == pytest.approx(value, abs=1e-12), measure
        assert found["low"] <= found["value"] <= found["high"]
        assert found["n"] == 40


def test_random_scores_get_the_closed_form():
    # One of four, one of four, and one of the 20 ways to part six: their mean is 0.183.
    _, cells, _ = run(inputs(2000), {"random": noise(2)}, resamples=100)
    assert cell(cells, "random", "summary_above_semantic")["value"] == pytest.approx(
        1 / 4, abs=0.03
    )
    assert cell(cells, "random", "superficial_above_semantic")["value"] == pytest.approx(
        1 / 20, abs=0.02
    )
    assert cell(cells, "random", "score")["value"] == pytest.approx(0.55 / 3, abs=0.03)


def test_equal_similarities_fulfil_nothing_and_are_counted():
    _, cells, _ = run(inputs(5), {"one": constant(1)})
    found = {name: cell(cells, "one", name) for name in (*CONDITIONS, "score")}
    assert all(row["value"] == 0 for row in found.values())
    assert [row["ties"] for row in found.values()] == [15, 15, 45, 75]


def test_ties_of_a_document_that_is_left_out_do_not_count():
    _, cells, _ = run(inputs(5), {"one": lacking(constant(1), "d0003 numerization")})
    assert cell(cells, "one", "score")["ties"] == 4 * 15


def test_ideal_system_gets_one():
    def ideal(_text: str, other: str) -> float:
        if "summary" in other:
            return 0.5
        return 0.9 if any(name in other for name in SUPERFICIAL) else 0.1

    _, cells, _ = run(inputs(5), {"ideal": Fake(ideal)}, "simultaneous")
    assert cell(cells, "ideal", "score")["value"] == 1


def test_one_batch_per_comparison_and_kinds_are_kept():
    data, system = inputs(6), noise()
    similarity = TASK.similarity(data, system, spec(section()))
    assert system.batches == [6] * 7
    kinds = dict(similarity.select("comparison", "kind").unique().iter_rows())
    assert kinds == {"summary": "summary"} | dict.fromkeys(SUPERFICIAL, "superficial") | (
        dict.fromkeys(SEMANTIC, "semantic")
    )


def test_document_without_a_similarity_is_left_out_for_that_system_only():
    data = inputs(10)
    lost = lacking(noise(), "d0003 numerization")
    units, cells, _ = run(data, {"whole": noise(), "lost": lost})
    found = cell(cells, "lost", "score")
    assert found["n"] == 9
    assert found["note"] == "1 of 10 documents left out: no similarity"
    assert unit_values(units, "lost", "score")["d0003"] is None
    kept = [value for value in unit_values(units, "lost", "score").values() if value is not None]
    assert found["value"] == pytest.approx(np.mean(kept))
    assert cell(cells, "whole", "score")["n"] == 10


def test_no_similarity_at_all_gives_null_with_a_note():
    _, cells, draws = run(inputs(4), {"none": constant(float("nan"))})
    found = cell(cells, "none", "score")
    assert found["value"] is found["low"] is found["high"] is None
    assert found["n"] == 0
    assert "4 of 4 documents left out" in found["note"]
    assert draws.filter(system="none")["value"].is_null().all()


def test_single_document_has_no_interval():
    _, cells, _ = run(inputs(1), {"s": noise()})
    found = cell(cells, "s", "score")
    assert found["value"] is not None
    assert found["low"] is None
    assert found["note"] == "no interval: n = 1"


def test_row_order_and_company_change_nothing():
    data = inputs(30)
    alone = run(data, {"s": noise(5)})
    moved = run(shuffled_inputs(data), {"s": noise(5), "a": noise(6)})
    for one, two in zip(alone, moved, strict=True):
        assert one.filter(system="s").equals(two.filter(system="s"))


def test_similarity_rows_may_come_in_any_order():
    data, settings = inputs(9), spec(section())
    similarity = TASK.similarity(data, noise(), settings)
    first = TASK.score(data, {"s": similarity}, settings)
    for one, two in zip(
        first, TASK.score(data, {"s": shuffled(similarity)}, settings), strict=True
    ):
        assert one.equals(two)


def test_draws_are_paired_over_systems_and_average_to_the_score():
    _, cells, draws = run(inputs(40), {"a": noise(1), "b": noise(1)}, resamples=500)
    assert (draws_of(draws, "a", "score") == draws_of(draws, "b", "score")).all()
    mean = draws_of(draws, "a", "score").mean()
    assert mean == pytest.approx(cell(cells, "a", "score")["value"], abs=0.02)


def test_texts_are_distinct_and_sorted():
    data = inputs(3)
    texts = TASK.texts(data)
    assert texts == sorted(set(texts))
    assert len(texts) == 3 * 8


def test_wrong_inputs_are_named():
    data = inputs(4)
    settings = spec(section())
    fewer = {name: frame for name, frame in data["perturbed"].items() if name != "numerization"}
    with pytest.raises(BenchError, match=r"'numerization'.*Valid: character_deletion"):
        TASK.similarity(data | {"perturbed": fewer}, noise(), settings)
    bare = data["sample"].with_columns(pl.lit(None, pl.String).alias("summary"))
    with pytest.raises(BenchError, match="no summary"):
        TASK.similarity(data | {"sample": bare}, noise(), settings)
    short = {name: frame.head(2) for name, frame in data["perturbed"].items()}
    with pytest.raises(BenchError, match="lacks 2 of 4 documents"):
        TASK.similarity(data | {"perturbed": short}, noise(), settings)
    similarity = TASK.similarity(data, noise(), settings)
    with pytest.raises(BenchError, match=r"'s'.*do not cover the sample's 4 units"):
        TASK.score(data, {"s": similarity.head(20)}, settings)
    with pytest.raises(BenchError, match=r"reading of robustness 'averag'.*average"):
        TASK.score(data, {"s": similarity}, spec(section("averag")))
    empty = data | {"sample": frames.DOCUMENTS.empty()}
    with pytest.raises(BenchError, match="has no documents"):
        TASK.score(empty, {}, settings)
