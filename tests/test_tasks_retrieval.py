"""Task 5 against NDCG by hand and a plain reading of the protocol."""

import math

import numpy as np
import polars as pl
import pytest
from tasks_support import (
    POSITIONS,
    SEMANTIC,
    SUPERFICIAL,
    Fake,
    cell,
    constant,
    documents,
    needle_frames,
    noise,
    perturbed,
    shuffled_inputs,
    spec,
    unit_values,
)

from sagebench import frames
from sagebench.errors import BenchError
from sagebench.rng import seed_for
from sagebench.tasks import ranking
from sagebench.tasks.ranking import ORIGINAL, Ranker
from sagebench.tasks.retrieval import Retrieval
from sagebench.tasks.retrieval_score import perturbations, version_name

TASK = Retrieval()
NEEDLES = {
    "insertion": {"sizes": [0.15, 0.5], "positions": POSITIONS},
    "removal": {"sizes": [0.15, 0.5], "positions": POSITIONS},
}
SMALL = {
    "insertion": {"sizes": [0.5], "positions": [0.0]},
    "removal": {"sizes": [0.5], "positions": [1.0]},
}


def section(
    layout: str = "paired", cutoff: int = 10, needles: dict = SMALL, transforms: int = 2
) -> dict:
    names = (SUPERFICIAL + SEMANTIC)[:transforms]
    return {"transforms": names, "cutoff": cutoff, "layout": layout, **needles}


def inputs(n: int = 12, queries: int = 5, needles: dict = SMALL, transforms: int = 2) -> dict:
    sample = documents(n)
    rng = np.random.default_rng(n)
    ids = sample["doc_id"].sort()
    judged = {
        (f"q{q}", ids[int(d)]): int(rng.integers(1, 3))
        for q in range(queries)
        for d in rng.choice(n, size=1 + q % 3, replace=False)
    }
    rows = [(query, doc, relevance) for (query, doc), relevance in judged.items()]
    names = (SUPERFICIAL + SEMANTIC)[:transforms]
    return {
        "sample": sample,
        "queries": pl.DataFrame(
            {
                "query_id": [f"q{q}" for q in range(queries)],
                "text": [f"ask {q}" for q in range(queries)],
            }
        ),
        "qrels": pl.DataFrame(rows, schema=frames.QRELS.empty().schema, orient="row"),
        "perturbed": {name: perturbed(sample, name) for name in names}
        | needle_frames(sample, needles),
    }


def run(data: dict, systems: dict, parameters: dict | None = None, **options):
    settings = spec(parameters or section(), **options)
    similarities = {name: TASK.similarity(data, s, settings) for name, s in systems.items()}
    return TASK.score(data, similarities, settings)


def versions_of(data: dict) -> dict[str, dict[str, str]]:
    """version -> doc_id -> text."""
    sample = data["sample"]
    found = {ORIGINAL: dict(zip(sample["doc_id"], sample["text"], strict=True))}
    for name, frame in data["perturbed"].items():
        for row in frame.iter_rows(named=True):
            version = version_name(name, row["size"], row["position"])
            found.setdefault(version, {})[row["doc_id"]] = row["text"]
    return found


def ranked_by_hand(data: dict, system: Fake, query: str, corpus: list[str], seed: int) -> list:
    """(version, doc_id) of a whole corpus, best first, ties by the hash."""
    versions = versions_of(data)
    candidates = [
        (-system.function(query, text), seed_for(seed, "tie", doc, version) >> 64, version, doc)
        for version in corpus
        for doc, text in versions[version].items()
    ]
    return [(version, doc) for _, _, version, doc in sorted(candidates)]


def ndcg_by_hand(ranked: list, version: str, relevant: dict[str, int], cutoff: int) -> float:
    """Sum of relevance / log2(rank + 1), over that of the best order."""
    gains = [relevant.get(doc, 0) if v == version else 0 for v, doc in ranked[:cutoff]]
    dcg = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
    ideal = sorted(relevant.values(), reverse=True)[:cutoff]
    return dcg / sum(gain / math.log2(rank + 1) for rank, gain in enumerate(ideal, 1))


def scores_by_hand(data: dict, system: Fake, parameters: dict, seed: int) -> dict[str, float]:
    versions = list(versions_of(data))
    layout, cutoff = parameters["layout"], parameters["cutoff"]
    means = {}
    for version in versions:
        corpus = [ORIGINAL] if version == ORIGINAL else {
            "paired": [ORIGINAL, version], "replace": [version], "mixed": versions
        }[layout]  # fmt: skip
        values = []
        for query, text in data["queries"].iter_rows():
            relevant = dict(
                data["qrels"].filter(query_id=query).select("doc_id", "relevance").rows()
            )
            ranked = ranked_by_hand(data, system, text, corpus, seed)
            values.append(ndcg_by_hand(ranked, version, relevant, cutoff))
        means[version] = sum(values) / len(values)
    clean = means.pop(ORIGINAL)
    retention = {name: value / clean for name, value in means.items()}
    values = sorted(retention.values())

    def harmonic(x: list[float]) -> float:
        return 0.0 if 0 in x else len(x) / sum(1 / value for value in x)

    return {f"retention:{name}": value for name, value in retention.items()} | {
        "ndcg": clean,
        "score": harmonic(values),
        "arithmetic_mean": sum(values) / len(values),
        "without_worst": harmonic(values[1:]),
    }


@pytest.mark.parametrize("layout", ["paired", "replace", "mixed"])
@pytest.mark.parametrize("steps", [None, 5])
@pytest.mark.parametrize("whole", [False, True])
def test_scores_are_the_protocols(layout, steps, whole):
    data, system = inputs(), noise(1, steps)
    system.corpus_dependent = whole
    parameters = section(layout)
    _, cells, _ = run(data, {"s": system}, parameters)
    expected = scores_by_hand(data, system, parameters, seed=7)
    for other in ranking.LAYOUTS:
        by_hand = scores_by_hand(data, system, section(other), seed=7)
        means = ("score", "arithmetic_mean", "without_worst")
        expected |= {f"{measure}:{other}": by_hand[measure] for measure in means}
    assert set(expected) == set(cells["measure"])
    for measure, value in expected.items():
        assert cell(cells, "s", measure)["value"] == pytest.approx(value, abs=1e-9), measure


@pytest.mark.parametrize("cutoff", [1, 3, 50])
def test_cutoffs_up_to_beyond_the_corpus(cutoff):
    data, system, parameters = inputs(), noise(4), section(cutoff=cutoff)
    _, cells, _ = run(data, {"s": system}, parameters)
    for measure, value in scores_by_hand(data, system, parameters, seed=7).items():
        assert cell(cells, "s", measure)["value"] == pytest.approx(value, abs=1e-9), measure


def test_the_papers_eighteen_perturbations():
    parameters = section(needles=NEEDLES, transforms=6)
    assert len(perturbations(parameters)) == 18
    data = inputs(needles=NEEDLES, transforms=6)
    similarity = TASK.similarity(data, noise(), spec(parameters))
    assert set(similarity["perturbation"]) == {ORIGINAL, *perturbations(parameters)}
    assert "lorem_insertion@0.15@0.5" in set(similarity["perturbation"])


def test_ndcg_and_retention_of_a_small_case():
    # The query's two documents are ranks 1 and 3 of the clean corpus; after deletion 2 and 3.
    order = {"": "abcd", "character_deletion": "bac"}
    scores = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
    sample = pl.DataFrame(
        {"doc_id": list("abcd"), "text": list("abcd"), "summary": [None] * 4},
        schema_overrides={"summary": pl.String},
    )
    data = {
        "sample": sample,
        "queries": pl.DataFrame({"query_id": ["q"], "text": ["q"]}),
        "qrels": pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "c"], "relevance": [1, 1]}),
        "perturbed": {"character_deletion": perturbed(sample, "character_deletion")}
        | needle_frames(sample, SMALL),
    }

    def value(_query: str, text: str) -> float:
        doc, *name = text.split()[:2]
        if name == ["character_deletion"]:
            return 10.0 - order["character_deletion"].find(doc) if doc != "d" else 0.0
        return scores[doc]

    parameters = section("replace", transforms=0) | {"transforms": ["character_deletion"]}
    _, cells, _ = run(data, {"s": Fake(value)}, parameters)
    ideal = 1 + 1 / math.log2(3)
    assert cell(cells, "s", "ndcg")["value"] == pytest.approx((1 + 1 / 2) / ideal)
    deleted = (1 / math.log2(3) + 1 / 2) / ideal
    assert cell(cells, "s", "retention:character_deletion")["value"] == pytest.approx(
        deleted / ((1 + 1 / 2) / ideal)
    )


def test_paired_copies_that_equal_their_originals_share_ranks_fairly():
    # Unchanged copies tie with their originals: neither side may always win.
    sample = documents(400)
    same = perturbed(sample, "numerization").with_columns(pl.Series("text", sample["text"]))
    texts = dict(sample.select("doc_id", "text").sort("doc_id").iter_rows())
    ids = list(texts)
    copies = dict(zip(same["doc_id"], same["text"], strict=True))
    versions = {ORIGINAL: list(texts.values()), "numerization": [copies[name] for name in ids]}
    ranked = Ranker(ids, versions, 800, 1).rank(noise(2), ["q"], ["paired"])
    found = {version: best for _, version, best in ranked}
    numbers = found["numerization"].number[0]
    first = {}
    for number in numbers:
        first.setdefault(number % 400, number // 400)
    assert found["numerization"].tied().all()
    assert 150 < sum(first.values()) < 250


def test_ties_are_ordered_the_same_in_every_block_and_layout(monkeypatch):
    data, system = inputs(40, queries=9), constant(0.5)
    settings = spec(section("mixed"))
    whole = TASK.similarity(data, system, settings)
    monkeypatch.setattr(ranking, "_CELLS", 100)
    assert TASK.similarity(data, system, settings).equals(whole)
    assert whole["tied"].all()
    clean = whole.filter(perturbation=ORIGINAL).group_by("layout", "query_id")
    orders = clean.agg("doc_id")["doc_id"]
    assert len({tuple(order) for order in orders.to_list()}) == 1
    assert orders[0].to_list() != sorted(orders[0])


@pytest.mark.parametrize("steps", [None, 1, 2, 6])
@pytest.mark.parametrize("layout", ["paired", "replace", "mixed"])
def test_best_documents_are_those_of_a_full_sort(layout, steps):
    data, system = inputs(60), noise(1, steps)
    texts = versions_of(data)
    ids = sorted(texts[ORIGINAL])
    versions = {name: [texts[name][doc] for doc in ids] for name in texts}
    places = [(version, doc) for version in versions for doc in ids]
    for _, version, best in Ranker(ids, versions, 8, 5).rank(system, ["q", "r"], [layout]):
        corpus = ranking.pool(version, list(versions), layout)
        for query, numbers in zip(["q", "r"], best.number, strict=True):
            expected = ranked_by_hand(data, system, query, corpus, 5)[:9]
            assert [places[number] for number in numbers] == expected


def test_ties_count_up_to_the_cutoff():
    data, parameters = inputs(30, queries=4), section(cutoff=3)
    _, cells, _ = run(data, {"one": constant(1), "s": noise()}, parameters)
    assert cell(cells, "one", "ndcg")["ties"] == 4 * 3
    assert cell(cells, "one", "score")["ties"] == 4 * 3 * 5
    assert cell(cells, "s", "score")["ties"] == 0


def test_a_tie_with_the_first_document_beyond_the_depth_shows():
    texts = [f"t{i}" for i in range(30)]
    system = Fake(lambda _q, d: 1.0 if d in ("t4", "t5") else 1 / (2 + int(d[1:])))
    (_, _, best), *_ = Ranker(texts, {ORIGINAL: texts}, 1, 1).rank(system, ["q"], ["replace"])
    assert best.number.shape == (1, 2)
    assert best.tied()[0, 0]


def test_every_version_is_scored_once_unless_scores_depend_on_the_corpus():
    class Counting(Fake):
        sizes: list[int]

        def matrix(self, queries, documents):
            self.sizes.append(len(documents))
            return super().matrix(queries, documents)

    def sizes(whole: bool) -> list[int]:
        system = Counting(noise().function)
        system.sizes, system.corpus_dependent = [], whole
        TASK.similarity(inputs(12), system, spec(section()))
        return system.sizes

    assert sizes(whole=False) == [12] * 5
    # The originals; with each version's copies; the copies alone; all five versions.
    assert sizes(whole=True) == [12] + [24] * 4 + [12] * 4 + [60]


def test_rankings_name_versions_and_relevance_follows_the_layout():
    data = inputs(4, queries=1)
    similarity = TASK.similarity(data, noise(), spec(section()))
    searched = similarity.filter(layout="paired", perturbation="random_capitalization")
    assert set(searched["doc_id"].str.split("#").list.last()) == {
        ORIGINAL,
        "random_capitalization",
    }
    assert searched.height == 8
    relevant = searched.filter(pl.col("relevance") > 0)["doc_id"].to_list()
    expected = [f"{doc}#random_capitalization" for doc in data["qrels"]["doc_id"]]
    assert relevant == expected


def test_zero_retention_makes_the_harmonic_mean_zero_and_is_named():
    def value(query: str, text: str) -> float:
        return -1.0 if "numerization" in text else noise(1).function(query, text)

    data = inputs(15, transforms=3)
    _, cells, _ = run(data, {"s": Fake(value)}, section(transforms=3))
    assert cell(cells, "s", "retention:numerization")["value"] == 0
    found = cell(cells, "s", "score")
    assert found["value"] == 0
    assert found["note"] == "zero retention: numerization"
    assert cell(cells, "s", "without_worst")["value"] > 0
    assert cell(cells, "s", "arithmetic_mean")["value"] > 0


def test_retention_above_one_is_kept_and_noted():
    data = inputs(15)
    relevant = set(data["qrels"]["doc_id"])

    def value(query: str, text: str) -> float:
        boosted = "random_capitalization" in text and text.split()[2] in relevant
        return boosted + noise(3).function(query, text)

    _, cells, _ = run(data, {"s": Fake(value)})
    found = cell(cells, "s", "retention:random_capitalization")
    assert found["value"] > 1
    assert "above 1" in found["note"]


def test_nothing_found_on_the_clean_corpus_is_explained():
    data = inputs(15, queries=1)
    (relevant,) = data["qrels"]["doc_id"].to_list()
    system = Fake(lambda q, d: -1.0 if relevant in d else noise().function(q, d))
    _, cells, _ = run(data, {"s": system})
    assert cell(cells, "s", "ndcg")["value"] == 0
    assert cell(cells, "s", "score")["value"] is None
    assert "NDCG on the clean corpus is 0" in cell(cells, "s", "score")["note"]


def test_queries_without_a_judged_document_are_left_out_and_counted():
    data = inputs(12, queries=4)
    extra = pl.DataFrame({"query_id": ["q8", "q9"], "text": ["none", "elsewhere"]})
    data["queries"] = pl.concat([extra, data["queries"]])
    judged = pl.DataFrame({"query_id": ["q9"], "doc_id": ["not sampled"], "relevance": [1]})
    data["qrels"] = pl.concat([judged, data["qrels"]])
    units, cells, _ = run(data, {"s": noise()})
    assert cell(cells, "s", "score")["n"] == 4
    assert cell(cells, "s", "ndcg")["note"] == "2 of 6 queries left out: none judged"
    assert set(unit_values(units, "s", "ndcg")) == {"q0", "q1", "q2", "q3"}
    assert "elsewhere" not in TASK.texts(data)


def test_ids_may_look_like_copies_or_paths():
    data, system = inputs(6), noise(8, steps=4)
    strange = ["", "#", "a", "a#numerization", "../é 日本", "a#original"]
    names = dict(zip(sorted(data["sample"]["doc_id"]), strange, strict=True))
    renamed = pl.col("doc_id").replace_strict(names)
    for key in ("sample", "qrels"):
        data[key] = data[key].with_columns(renamed)
    data["perturbed"] = {k: f.with_columns(renamed) for k, f in data["perturbed"].items()}
    _, cells, _ = run(data, {"s": system})
    for measure, value in scores_by_hand(data, system, section(), seed=7).items():
        assert cell(cells, "s", measure)["value"] == pytest.approx(value, abs=1e-9), measure


def test_row_order_changes_nothing():
    data, system = inputs(20), noise(2, steps=4)
    for one, two in zip(
        run(data, {"s": system}), run(shuffled_inputs(data), {"s": system}), strict=True
    ):
        assert one.equals(two)


def test_intervals_hold_the_scores():
    _, cells, _ = run(inputs(30, queries=20), {"s": noise(2)})
    assert (cells["low"] <= cells["value"]).all()
    assert (cells["value"] <= cells["high"]).all()


def test_wrong_inputs_are_named():
    data = inputs()
    settings = spec(section())
    with pytest.raises(BenchError, match=r"none of 5 queries .* tasks\.retrieval\.documents"):
        TASK.similarity(data | {"qrels": data["qrels"].clear()}, noise(), settings)
    with pytest.raises(BenchError, match="60 query-document similarities are NaN"):
        TASK.similarity(data, constant(float("nan")), settings)
    similarity = TASK.similarity(data, noise(), settings)
    with pytest.raises(BenchError, match=r"layout of retrieval 'pair'.*'paired'"):
        TASK.score(data, {"s": similarity}, spec(section("pair")))
    with pytest.raises(BenchError, match="'s' for 'original' do not cover"):
        TASK.score(data, {"s": similarity.filter(pl.col("query_id") != "q0")}, settings)
