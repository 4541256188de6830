"""Task 3 against a plain reading of the protocol, and its closed forms."""

import numpy as np
import pytest
from tasks_support import (
    NEEDLES,
    Fake,
    cell,
    constant,
    documents,
    lacking,
    needle_frames,
    noise,
    shuffled_inputs,
    spec,
    unit_values,
)

from sagebench.tasks.sensitivity import Sensitivity

TASK = Sensitivity()
NAMES = {"insertion": "lorem_insertion", "removal": "span_removal"}


def inputs(n: int) -> dict:
    sample = documents(n)
    return {"sample": sample, "perturbed": needle_frames(sample, NEEDLES)}


def run(data: dict, systems: dict, **options):
    settings = spec(NEEDLES, **options)
    similarities = {name: TASK.similarity(data, s, settings) for name, s in systems.items()}
    return TASK.score(data, similarities, settings)


def errors_by_hand(data: dict, system: Fake, kind: str) -> dict[tuple, list[float]]:
    """(size, position) -> |similarity - 1 / (1 + size)| of each document."""
    originals = dict(data["sample"].select("doc_id", "text").iter_rows())
    found: dict[tuple, list[float]] = {}
    for row in data["perturbed"][NAMES[kind]].iter_rows(named=True):
        similarity = system.function(originals[row["doc_id"]], row["text"])
        error = abs(similarity - 1 / (1 + row["size"]))
        found.setdefault((row["size"], row["position"]), []).append(error)
    return found


def test_scores_are_the_protocols():
    data, system = inputs(12), noise(1)
    _, cells, _ = run(data, {"s": system})
    halves = []
    for kind in NAMES:
        errors = errors_by_hand(data, system, kind)
        for (size, position), single in errors.items():
            found = cell(cells, "s", f"score:{kind}:{size}:{position}")
            assert found["value"] == pytest.approx(1 - np.mean(single), abs=1e-12)
        flat = [error for single in errors.values() for error in single]
        halves.append(1 - sum(flat) / len(flat))
        assert cell(cells, "s", kind)["value"] == pytest.approx(halves[-1], abs=1e-12)
    found = cell(cells, "s", "score")
    assert found["value"] == pytest.approx(sum(halves) / 2, abs=1e-12)
    assert found["low"] < found["value"] < found["high"]


def test_mean_similarity_by_size_and_position():
    def by_size(_text: str, other: str) -> float:
        size, position = map(float, other.split()[-2:])
        return size / 2 + position / 4

    _, cells, _ = run(inputs(3), {"s": Fake(by_size)})
    assert cell(cells, "s", "similarity:insertion:0.15:0.5")["value"] == pytest.approx(0.2)
    assert cell(cells, "s", "similarity:removal:0.9:1.0")["value"] == pytest.approx(0.7)
    grid = [
        m for m in cells.filter(system="s")["measure"] if m.startswith(("similarity:", "score:"))
    ]
    assert len(grid) == 2 * 2 * 9


@pytest.mark.parametrize(("value", "score"), [(2 / 3, 0.881), (1.0, 0.683)])
def test_constants_get_the_closed_form(value, score):
    _, cells, _ = run(inputs(2), {"constant": constant(value)})
    assert cell(cells, "constant", "score")["value"] == pytest.approx(score, abs=0.001)


def test_uniform_noise_gets_the_closed_form():
    _, cells, _ = run(inputs(300), {"random": noise(3)}, resamples=100)
    assert cell(cells, "random", "score")["value"] == pytest.approx(0.695, abs=0.01)


def test_expected_similarity_gets_one():
    ideal = Fake(lambda _a, b: 1 / (1 + float(b.split()[-2])))
    _, cells, _ = run(inputs(3), {"ideal": ideal})
    assert cell(cells, "ideal", "score")["value"] == pytest.approx(1)


def test_one_batch_per_size_and_position():
    system = noise()
    TASK.similarity(inputs(5), system, spec(NEEDLES))
    assert system.batches == [5] * 18


def test_document_is_left_out_where_a_similarity_is_missing():
    data = inputs(8)
    lost = lacking(noise(), "d0002 span_removal 0.9 1.0")
    units, cells, _ = run(data, {"s": lost, "whole": noise()})
    assert cell(cells, "s", "removal")["n"] == 7
    assert "1 of 8 documents left out" in cell(cells, "s", "removal")["note"]
    assert cell(cells, "s", "similarity:removal:0.9:1.0")["n"] == 7
    assert cell(cells, "s", "similarity:removal:0.9:0.5")["n"] == 8
    assert cell(cells, "s", "insertion")["value"] == cell(cells, "whole", "insertion")["value"]
    assert unit_values(units, "s", "removal")["d0002"] is None


def test_no_similarity_at_all_gives_null_with_a_note():
    _, cells, _ = run(inputs(3), {"none": constant(float("nan"))})
    cells = cells.filter(system="none")
    assert cells["value"].null_count() == cells.height
    assert all("3 of 3 documents left out" in note for note in cells["note"])


def test_row_order_changes_nothing():
    data = inputs(9)
    for one, two in zip(
        run(data, {"s": noise(5)}), run(shuffled_inputs(data), {"s": noise(5)}), strict=True
    ):
        assert one.equals(two)


def test_texts_are_distinct_and_sorted():
    texts = TASK.texts(inputs(2))
    assert texts == sorted(set(texts))
    assert len(texts) == 2 * 19
