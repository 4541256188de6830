"""Task 1 against scikit-learn, numpy and a plain reading of the protocol."""

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk
from tasks_support import (
    Fake,
    cell,
    choices,
    constant,
    draws_of,
    lacking,
    noise,
    ratings,
    shuffled_inputs,
    spec,
    unit_values,
)

from sagebench.errors import BenchError
from sagebench.tasks.human_preference import HumanPreference

TASK = HumanPreference()
MEASURES = ["accuracy", "precision", "recall", "f1"]


def run(data: dict, systems: dict, ties: str = "second", **options):
    settings = spec({"ties": ties}, **options)
    similarities = {name: TASK.similarity(data, s, settings) for name, s in systems.items()}
    return TASK.score(data, similarities, settings)


def by_hand(data: dict, system: Fake, ties: str) -> dict[str, float]:
    """The confusion table, pair by pair."""
    tp = fp = fn = tn = 0.0
    for row in data["sample"].iter_rows(named=True):
        first = system.function(row["text"], row["summary_1"])
        second = system.function(row["text"], row["summary_2"])
        one = 1.0 if first > second else 0.0
        if first == second and ties == "half":
            one = 0.5
        if row["choice"] == 1:
            tp, fn = tp + one, fn + 1 - one
        else:
            fp, tn = fp + one, tn + 1 - one
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    accuracy = (tp + tn) / (tp + tn + fp + fn)
    f1 = 2 * precision * recall / (precision + recall)
    found = dict(zip(MEASURES, [accuracy, precision, recall, f1], strict=True))
    return found | {"score": (accuracy + precision + recall + f1) / 4}


@pytest.mark.parametrize("ties", ["second", "half"])
@pytest.mark.parametrize("steps", [None, 3])
def test_choices_are_scored_as_the_protocol_says(ties, steps):
    data, system = choices(60), noise(1, steps)
    _, cells, _ = run(data, {"s": system}, ties)
    for measure, value in by_hand(data, system, ties).items():
        found = cell(cells, "s", measure)
        assert found["value"] == pytest.approx(value, abs=1e-12), measure
        assert found["low"] <= found["value"] <= found["high"]


def test_choices_without_ties_are_scikit_learns():
    data, system = choices(50, 4), noise(9)
    _, cells, _ = run(data, {"s": system})
    rows = list(data["sample"].iter_rows(named=True))
    predicted = [
        system.function(r["text"], r["summary_1"]) > system.function(r["text"], r["summary_2"])
        for r in rows
    ]
    actual = [row["choice"] == 1 for row in rows]
    assert cell(cells, "s", "accuracy")["value"] == pytest.approx(
        sk.accuracy_score(actual, predicted)
    )
    precision, recall, f1, _ = sk.precision_recall_fscore_support(
        actual, predicted, average="binary"
    )
    assert cell(cells, "s", "precision")["value"] == pytest.approx(precision)
    assert cell(cells, "s", "recall")["value"] == pytest.approx(recall)
    assert cell(cells, "s", "f1")["value"] == pytest.approx(f1)


def test_random_scores_say_nothing():
    _, pairs, _ = run(choices(3000), {"random": noise(1)}, resamples=100)
    _, items, _ = run(ratings(3000), {"random": noise(1)}, resamples=100)
    both = [cell(pairs, "random", "score")["value"], cell(items, "random", "score")["value"]]
    assert np.mean(both) == pytest.approx(0.5, abs=0.03)
    assert both == pytest.approx([0.5, 0.5], abs=0.03)


def test_constant_similarity_ties_every_pair():
    data = choices(40)
    units, second, _ = run(data, {"one": constant(1)})
    assert cell(second, "one", "accuracy")["ties"] == 40
    assert cell(second, "one", "precision")["value"] == 0
    assert "no pair with summary 1 predicted" in cell(second, "one", "precision")["note"]
    assert set(unit_values(units, "one", "accuracy").values()) == {0, 1}
    units, half, _ = run(data, {"one": constant(1)}, "half")
    assert cell(half, "one", "accuracy")["value"] == 0.5
    assert set(unit_values(units, "one", "accuracy").values()) == {0.5}


def test_ratings_are_pearsons_r_rescaled():
    data, system = ratings(30), noise(2)
    _, cells, _ = run(data, {"s": system})
    rescaled = []
    for aspect in ("fluent", "overall"):
        rows = data["sample"].filter(aspect=aspect)
        x = [system.function(a, b) for a, b in zip(rows["text_a"], rows["text_b"], strict=True)]
        r = np.corrcoef(x, rows["rating"])[0, 1]
        assert cell(cells, "s", f"pearson:{aspect}")["value"] == pytest.approx(r)
        rescaled.append(0.5 * (r + 1))
        assert cell(cells, "s", f"rating:{aspect}")["value"] == pytest.approx(rescaled[-1])
    assert cell(cells, "s", "score")["value"] == pytest.approx(np.mean(rescaled))


def test_aspect_that_rates_some_items_only_uses_those():
    data, system = ratings(20), noise(2)
    data["sample"] = data["sample"].filter(
        (pl.col("aspect") != "fluent") | pl.col("item_id").is_in(["i1", "i2", "i3", "i4"])
    )
    _, cells, _ = run(data, {"s": system})
    assert cell(cells, "s", "rating:fluent")["n"] == 4
    assert cell(cells, "s", "rating:overall")["n"] == 20


def test_constant_similarity_correlates_with_nothing_and_says_so():
    _, cells, _ = run(ratings(10), {"one": constant(2 / 3)})
    for measure, value in {"pearson:overall": 0, "rating:overall": 0.5, "score": 0.5}.items():
        found = cell(cells, "one", measure)
        assert found["value"] == found["low"] == found["high"] == value
        assert "constant similarity" in found["note"]


def test_constant_ratings_are_noted():
    data = ratings(10, ("overall",))
    data["sample"] = data["sample"].with_columns(pl.lit(3.0).alias("rating"))
    _, cells, _ = run(data, {"s": noise()})
    assert cell(cells, "s", "rating:overall")["value"] == 0.5
    assert "constant ratings" in cell(cells, "s", "rating:overall")["note"]


def test_batches_hold_both_summaries_and_each_item_once():
    system = noise()
    TASK.similarity(choices(7), system, spec({"ties": "second"}))
    TASK.similarity(ratings(6), system, spec({"ties": "second"}))
    assert system.batches == [14, 6]


def test_pairs_and_items_without_similarity_are_left_out():
    units, cells, _ = run(choices(10), {"s": lacking(noise(), "second 4")})
    found = cell(cells, "s", "accuracy")
    assert found["n"] == 9
    assert found["note"] == "1 of 10 pairs left out: no similarity"
    assert unit_values(units, "s", "accuracy")["p4"] is None
    _, cells, _ = run(ratings(10), {"s": lacking(noise(), "b 4")})
    assert cell(cells, "s", "score")["n"] == cell(cells, "s", "rating:overall")["n"] == 9


@pytest.mark.parametrize("make", [choices, ratings])
def test_no_similarity_at_all_gives_null_with_a_note(make):
    _, cells, _ = run(make(5), {"none": constant(float("nan"))})
    cells = cells.filter(system="none")
    assert cells["value"].null_count() == cells.height
    assert all("left out" in note for note in cells["note"])


@pytest.mark.parametrize("make", [choices, ratings])
def test_row_order_changes_nothing(make):
    data = make(25)
    for one, two in zip(
        run(data, {"s": noise(5)}), run(shuffled_inputs(data), {"s": noise(5)}), strict=True
    ):
        assert one.equals(two)


def test_draws_are_reproducible_and_change_with_the_seed():
    data = choices(25)
    _, _, first = run(data, {"s": noise()})
    _, _, again = run(data, {"s": noise()})
    _, _, other = run(data, {"s": noise()}, seed=8)
    assert first.equals(again)
    assert (draws_of(first, "s", "score") != draws_of(other, "s", "score")).any()


def test_texts_are_distinct_and_sorted():
    assert TASK.texts(choices(2)) == ["first 0", "first 1", "second 0", "second 1", "text 0"]
    assert TASK.texts(ratings(2)) == ["a 0", "a 1", "b 0", "b 1"]


def test_wrong_inputs_are_named():
    data = choices(3)
    similarity = TASK.similarity(data, noise(), spec({"ties": "second"}))
    with pytest.raises(BenchError, match=r"tie rule of human preference 'first'.*half, second"):
        TASK.score(data, {"s": similarity}, spec({"ties": "first"}))
    torn = ratings(3)["sample"].with_columns(pl.col("text_a") + pl.col("aspect"))
    with pytest.raises(BenchError, match="'i0' has different texts"):
        TASK.similarity({"sample": torn}, noise(), spec({"ties": "second"}))
