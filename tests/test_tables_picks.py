"""The table of picks against a brute-force twin: every resample and pair written out."""

import shutil
from pathlib import Path
from statistics import fmean

import fake_scores
import numpy as np
import polars as pl
import pytest
from fake_scores import cells_of, draws_of

from sagebench import frames, layout
from sagebench import params as params_module
from sagebench.corpora import catalogue
from sagebench.errors import BenchError
from sagebench.params import Params
from sagebench.tables import picks
from sagebench.tables.context import Context
from sagebench.tables.estimate import Estimate
from sagebench.tables.picks import CLEAN, NEEDS, NOISY
from sagebench.tasks.ideal import CEILING

ROOT = Path(__file__).resolve().parents[1]
OVERLAY = {
    "models": ["minilm", "glove"],
    "references": ["random"],
    "metrics": {"jaccard": {}, "rouge": {}},
    "agreement": {"systems": ["jaccard"]},
    "bootstrap": {"resamples": 100},
}


@pytest.fixture(scope="module")
def params() -> Params:
    import yaml

    given = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    return params_module.load(params_module.merge(given | {"metrics": {}}, OVERLAY))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, params: Params) -> Path:
    folder = tmp_path_factory.mktemp("data")
    fake_scores.write_scores(folder, params)
    return folder


def context(params: Params, data: Path) -> Context:
    return Context(params, catalogue.load(), data)


def values(data: Path, params: Params, measure: str) -> dict[str, list[list[float]]]:
    """System -> per corpus of retrieval [point, draw 0, draw 1, …] of a measure."""
    found: dict[str, list[list[float]]] = {}
    for corpus in params.tasks.retrieval.corpora:
        hit = (pl.col("measure") == measure) & (pl.col("system") != CEILING)
        drawn = draws_of(data, "retrieval", corpus).filter(hit).sort("draw")
        for row in cells_of(data, "retrieval", corpus).filter(hit).iter_rows(named=True):
            own = drawn.filter(pl.col("system") == row["system"])["value"]
            found.setdefault(row["system"], []).append([row["value"], *own])
    return found


def twin(data: Path, params: Params, need: str) -> dict[str, list[float]]:
    """System -> [point, draws…] of a retrieval need."""
    clean = values(data, params, "ndcg")
    if need == CLEAN:
        return {s: [fmean(c) for c in zip(*parts, strict=True)] for s, parts in clean.items()}
    left = values(data, params, "arithmetic_mean")
    return {
        system: [
            fmean(a[i] * b[i] for a, b in zip(clean[system], left[system], strict=True))
            for i in range(len(clean[system][0]))
        ]
        for system in clean
    }


@pytest.mark.parametrize("need", [NOISY, CLEAN])
def test_scores_leads_and_differences_are_those_of_the_resamples(need, data, params):
    frame = picks.build(context(params, data)).tidy
    rows = {(row.system, row.measure): row for row in frame.itertuples()}
    found = twin(data, params, need)
    systems = [name for name in found if name != "random"]
    best = max(systems, key=lambda name: found[name][0])
    for name, column in found.items():
        assert rows[name, need].value == pytest.approx(column[0], abs=1e-6)
        gaps = [b - a for a, b in zip(column, found[best], strict=True)]
        behind = rows[name, f"behind:{need}"]
        low, high = np.quantile(gaps[1:], [0.025, 0.975])
        assert behind.value == pytest.approx(gaps[0], abs=1e-6)
        assert behind.low == pytest.approx(min(low, gaps[0]), abs=1e-6)
        assert behind.high == pytest.approx(max(high, gaps[0]), abs=1e-6)
    for name in systems:
        draws = range(1, len(found[name]))
        wins = fmean(found[name][i] == max(found[s][i] for s in systems) for i in draws)
        assert rows[name, f"first:{need}"].value == pytest.approx(wins, abs=1e-6)
    assert ("random", f"first:{need}") not in rows


def estimate(*draws: float, value: float | None = None) -> Estimate:
    array = np.array(draws, dtype=float)
    return Estimate(fmean(draws) if value is None else value, n=5, draws=array)


def test_equal_systems_share_their_leads_and_are_both_best(params, data):
    here = context(params, data)
    one, two, three, blind = here.pick(["minilm", "glove", "jaccard", "random"])
    scores = {
        one: estimate(0.5, 0.6, 0.7, 0.8),
        two: estimate(0.5, 0.6, 0.7, 0.8),
        three: estimate(0.9, 0.1, 0.1, 0.1, value=0.4),
        blind: estimate(0.2, 0.2, 0.2, 0.2),
    }
    found = picks.pick(here, "clustering", scores)
    assert found.best == [one, two]
    assert found.first == {one: 0.375, two: 0.375, three: 0.25}
    assert found.level == [three]  # its difference's interval holds 0
    assert found.reference == blind
    assert sum(found.first.values()) == 1


def test_a_system_without_a_score_is_neither_best_nor_dropped(params, data):
    here = context(params, data)
    one, two, blind = here.pick(["minilm", "glove", "random"])
    empty = Estimate(None, notes=("no queries",))
    found = picks.pick(here, "ndcg", {one: empty, two: estimate(0.4, 0.5), blind: empty})
    assert found.best == [two]
    rows = {(row["system"], row["measure"]): row for row in found.rows()}
    assert rows["minilm", "ndcg"]["note"] == "no queries"
    assert ("minilm", "first:ndcg") not in rows
    assert rows["minilm", "behind:ndcg"]["value"] is None


def test_every_need_has_a_line_and_an_empty_one_is_explained(data, params):
    table = picks.build(context(params, data))
    (panel,) = table.panels
    ((_, lines),) = panel.groups
    assert [line[0].text for line in lines] == [title for title, _ in NEEDS.values()]
    assert {len(line) for line in lines} == {len(panel.header)}


def test_missing_draws_are_refused(data, params, tmp_path):
    data = Path(shutil.copytree(data, tmp_path / "data"))
    corpus = params.tasks.retrieval.corpora[0]
    path = layout.scores(data, "retrieval", corpus, "draws")
    kept = draws_of(data, "retrieval", corpus).filter(pl.col("measure") != "arithmetic_mean")
    frames.write(kept, path, frames.DRAWS)
    with pytest.raises(BenchError, match="has no bootstrap draws"):
        picks.build(context(params, data))
