"""The paper's reported numbers: consistent among themselves, and beside ours where they belong."""

import csv
from pathlib import Path
from statistics import fmean

import fake_scores
import pytest

from sagebench import params as params_module
from sagebench import tables
from sagebench.corpora import catalogue
from sagebench.errors import BenchError
from sagebench.params import Params
from sagebench.tables import agreement, paper
from sagebench.tables.context import AGREEMENT, Context, System
from sagebench.tables.estimate import Estimate

ROOT = Path(__file__).resolve().parents[1]
REPORTED = paper.reported()
SYSTEMS = sorted({system for _, system, _ in REPORTED})


@pytest.fixture(scope="module")
def params(tmp_path_factory: pytest.TempPathFactory) -> Params:
    overlay = tmp_path_factory.mktemp("overlay") / "few.yaml"
    overlay.write_text("bootstrap: {resamples: 120}\n", encoding="utf-8")
    return params_module.read(ROOT / "params.yaml", overlay)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, params: Params) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for task in (*AGREEMENT, "robustness"):
        systems = params.agreement.systems
        if task not in AGREEMENT:
            systems = fake_scores.system_names(params)
        for corpus in tables.task_corpora(params, task):
            fake_scores.write_task(folder, params, task, corpus, systems)
    fake_scores.write_embeddings(folder, params)
    return folder


def claiming(corpus: str, **claims: object) -> catalogue.Catalogue:
    """The catalogue with another statement of what `corpus` stands for."""
    entries = catalogue.load()
    changed = entries.corpora[corpus].model_copy(
        update={"stands_for": catalogue.StandsFor.model_validate(claims)}
    )
    return entries.model_copy(update={"corpora": {**entries.corpora, corpus: changed}})


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


# --- the numbers themselves ----------------------------------------------------------------


def test_all_261_numbers_are_there() -> None:
    lines = paper.FILE.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 262
    assert len(REPORTED) == 261
    assert len(SYSTEMS) == 9
    assert all(0 <= value <= 1 for value in REPORTED.values())


@pytest.mark.parametrize("system", SYSTEMS)
def test_its_summary_follows_from_its_own_columns(system: str) -> None:
    def mean(table: str, *more: str) -> float:
        names = [table, *more]
        return fmean(v for (t, s, _), v in REPORTED.items() if t in names and s == system)

    summary = {c: v for (t, s, c), v in REPORTED.items() if t == paper.SUMMARY and s == system}
    overall = summary.pop("Overall")
    assert fmean(summary.values()) == pytest.approx(overall, abs=0.001)
    assert mean(paper.PREFERENCE) == pytest.approx(summary["Human Pref"], abs=0.001)
    assert mean(paper.ROBUSTNESS) == pytest.approx(summary["Robustness"], abs=0.001)
    sensitivity = mean(paper.INSERTION, paper.REMOVAL)
    assert sensitivity == pytest.approx(summary["Sensitivity"], abs=0.001)


# --- beside ours ---------------------------------------------------------------------------


def test_other_data_are_marked_as_such(params: Params, data: Path, tmp_path: Path) -> None:
    tables.write("robustness", params, data, tmp_path)
    rows = [row for row in rows_of(tmp_path / "robustness.csv") if row["measure"] == "paper"]
    assert {row["system"] for row in rows} == set(paper.SYSTEMS)
    assert all(row["note"].startswith("reported on other data") for row in rows)
    found = {(row["system"], row["corpus"]): float(row["value"]) for row in rows}
    assert found["rouge", "CNN/DM"] == 0.145
    assert found["jaccard", "Sci. Papers"] == 0.128
    assert found["levenshtein", "mean of all"] == pytest.approx(0.333, abs=1e-6)


def test_the_papers_own_corpus_is_marked_too(params: Params, data: Path, tmp_path: Path) -> None:
    entries = claiming("cnn_dailymail", dataset="CNN/DM", same=True)
    tables.write("robustness", params, data, tmp_path, entries)
    rows = rows_of(tmp_path / "robustness.csv")
    notes = {row["corpus"]: row["note"] for row in rows if row["measure"] == "paper"}
    assert notes["CNN/DM"] == "reported on the same corpus"
    assert notes["Sci. Papers"] == "reported on other data"
    assert "reported on the same corpus" in (tmp_path / "robustness.md").read_text("utf-8")


def test_a_system_with_other_parameters_is_not_the_papers(params: Params, data: Path) -> None:
    def name_of(label: str, **options: object) -> str | None:
        changed = params.model_copy(update={"metrics": {label: options}})
        return paper.name_of(Context(changed, catalogue.load(), data), label)

    assert name_of("bm25", k1=1.5, b=0.75, normalise="batch") == "BM25"
    assert name_of("bm25") == "BM25"
    assert name_of("bm25", normalise="self") is None
    assert name_of("bm25", k1=1.2) is None
    assert name_of("bm25_self", metric="bm25", normalise="self") is None
    assert name_of("rouge", metric="jaccard") is None


# --- agreement -----------------------------------------------------------------------------


def compared(value: float | None, reported: float, tolerance: float | None) -> agreement.Comparison:
    system = System("rouge", "ROUGE", "classical")
    low, high = (None, None) if value is None else (value - 0.01, value + 0.02)
    notes = () if value is not None else ("none",)
    ours = Estimate(value, low, high, 60, notes)
    return agreement.Comparison(system, "x", "insertion", ours, reported, tolerance, paper.OTHER)


@pytest.mark.parametrize(
    ("value", "reported", "tolerance", "within"),
    [
        (0.891, 0.881, 0.01, True),  # exactly the tolerance, whatever the last bit says
        (0.871, 0.881, 0.01, True),
        (0.8911, 0.881, 0.01, False),
        (0.8709, 0.881, 0.01, False),
        (0.881, 0.881, 0.01, True),
        (0.5, 0.881, None, None),
        (None, 0.881, 0.01, None),
    ],
)
def test_within_the_tolerance(
    value: float | None, reported: float, tolerance: float | None, within: bool | None
) -> None:
    assert compared(value, reported, tolerance).within is within


def test_the_gaps_interval_is_ours_moved() -> None:
    gap = compared(0.891, 0.881, 0.01).gap
    assert (gap.value, gap.low, gap.high) == (0.01, 0.0, 0.03)


def test_agreement_compares_every_score_of_every_system(
    params: Params, data: Path, tmp_path: Path
) -> None:
    tables.write("agreement", params, data, tmp_path)
    rows = {(r["system"], r["measure"]): r for r in rows_of(tmp_path / "agreement.csv")}
    for system in params.agreement.systems:
        for score, (_, task, measure, table) in agreement.SCORES.items():
            cells = fake_scores.cells_of(data, task, "cnn_dailymail").rows(named=True)
            ours = next(c for c in cells if (c["system"], c["measure"]) == (system, measure))
            reported = REPORTED[table, paper.SYSTEMS[system][0], "CNN/DM"]
            assert float(rows[system, score]["value"]) == pytest.approx(ours["value"], abs=1e-6)
            assert float(rows[system, f"paper:{score}"]["value"]) == reported
            gap = float(rows[system, f"gap:{score}"]["value"])
            assert gap == pytest.approx(ours["value"] - reported, abs=2e-6)
            tolerance = agreement.TOLERANCES[score].get(system)
            assert ((system, f"within:{score}") in rows) == (tolerance is not None)
            if tolerance is not None:
                within = float(rows[system, f"within:{score}"]["value"])
                assert within == (abs(gap) <= tolerance)


def test_agreement_states_the_mean_absolute_gap(params: Params, data: Path, tmp_path: Path) -> None:
    tables.write("agreement", params, data, tmp_path)
    rows = rows_of(tmp_path / "agreement.csv")
    gaps = [(r["system"], abs(float(r["value"]))) for r in rows if r["measure"].startswith("gap:")]
    means = {r["system"]: r for r in rows if r["measure"] == "mean_absolute_gap"}
    assert set(means) == {*params.agreement.systems, "all systems"}
    for system, row in means.items():
        own = [gap for name, gap in gaps if system in (name, "all systems")]
        assert float(row["value"]) == pytest.approx(fmean(own), abs=2e-6)
        assert int(row["n"]) == len(own)


def test_another_collection_stands_apart_and_is_not_judged(
    params: Params, data: Path, tmp_path: Path
) -> None:
    """Also listed last, however the parameters order the corpora."""
    entries = claiming("news_articles", dataset="CNN/DM", same=False)
    both = params.agreement.model_copy(update={"corpora": ["news_articles", "cnn_dailymail"]})
    changed = params.model_copy(update={"agreement": both})
    for task in AGREEMENT:
        fake_scores.write_task(tmp_path, changed, task, "news_articles", both.systems)
        fake_scores.write_task(tmp_path, changed, task, "cnn_dailymail", both.systems)
    tables.write("agreement", changed, tmp_path, tmp_path, entries)
    rows = rows_of(tmp_path / "agreement.csv")
    judged = {row["corpus"] for row in rows if row["measure"].startswith("within")}
    assert judged == {"cnn_dailymail"}
    assert [row["corpus"] for row in rows][:: len(rows) - 1] == ["cnn_dailymail", "news_articles"]
    text = (tmp_path / "agreement.md").read_text("utf-8")
    assert "News articles 2016-17: nearest to the paper's CNN/DM, another collection" in text
    assert "CNN/DailyMail (BLANC): nearest" not in text


def test_agreement_tolerances_are_the_declared_ones() -> None:
    assert agreement.TOLERANCES["robustness"].keys() == {"levenshtein", "rouge", "jaccard"}
    assert set(agreement.TOLERANCES["robustness"].values()) == {0.04}
    for score in ("insertion", "removal"):
        assert agreement.TOLERANCES[score] == {"levenshtein": 0.01, "rouge": 0.01, "jaccard": 0.02}


def test_agreement_needs_the_papers_data_and_systems(
    params: Params, data: Path, tmp_path: Path
) -> None:
    entries = claiming("cnn_dailymail", dataset="WikiHow", same=False)
    with pytest.raises(BenchError, match="'cnn_dailymail' stands for none of the paper's data"):
        tables.write("agreement", params, data, tmp_path, entries)
    changed = params.model_copy(
        update={"metrics": {**params.metrics, "bm25": {"normalise": "self"}}}
    )
    with pytest.raises(BenchError, match="no system like 'bm25' with these parameters"):
        tables.write("agreement", changed, data, tmp_path)
