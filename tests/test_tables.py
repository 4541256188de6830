"""The result tables against brute-force twins on made-up scores of all systems."""

import csv
import json
import shutil
from pathlib import Path
from statistics import fmean

import fake_scores
import numpy as np
import polars as pl
import pytest
from fake_scores import cells_of, draws_of

from sagebench import frames, layout, tables
from sagebench import params as params_module
from sagebench.corpora import catalogue
from sagebench.errors import BenchError
from sagebench.params import Params
from sagebench.tables import metrics
from sagebench.tables.context import ALL, TASKS, task_corpora

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def params(tmp_path_factory: pytest.TempPathFactory) -> Params:
    overlay = tmp_path_factory.mktemp("overlay") / "few.yaml"
    overlay.write_text("bootstrap: {resamples: 120}\n", encoding="utf-8")
    return params_module.read(ROOT / "params.yaml", overlay)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, params: Params) -> Path:
    folder = tmp_path_factory.mktemp("data")
    fake_scores.write_scores(folder, params)
    fake_scores.write_embeddings(folder, params)
    fake_scores.write_perturbed(folder, params)
    return folder


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, params: Params, data: Path) -> Path:
    out = tmp_path_factory.mktemp("tables")
    for name in tables.TABLES:
        assert tables.write(name, params, data, out) == tables.outputs(name, out)
    return out


@pytest.fixture
def copy(tmp_path: Path, data: Path) -> Path:
    """The data in a folder that a test may change."""
    return Path(shutil.copytree(data, tmp_path / "data"))


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def values_of(path: Path, corpus: str = ALL) -> dict[tuple[str, str], float]:
    return {
        (row["system"], row["measure"]): float(row["value"])
        for row in rows_of(path)
        if row["corpus"] == corpus and row["value"]
    }


def change_cells(
    data: Path, task: str, corpus: str, system: str, measure: str, **values: object
) -> None:
    """Overwrite columns of one cell."""
    cells = cells_of(data, task, corpus)
    hit = (pl.col("system") == system) & (pl.col("measure") == measure)
    replaced = [
        pl.when(hit).then(pl.lit(value, cells[name].dtype)).otherwise(pl.col(name)).alias(name)
        for name, value in values.items()
    ]
    fake_scores.put_cells(data, task, corpus, cells.with_columns(replaced))


# --- means and intervals -------------------------------------------------------------------


def cell_values(data: Path, params: Params, task: str) -> dict[tuple[str, str, str], float]:
    return {
        (corpus, row["system"], row["measure"]): row["value"]
        for corpus in task_corpora(params, task)
        for row in cells_of(data, task, corpus).iter_rows(named=True)
    }


def twin_of_human_preference(data: Path, params: Params, system: str) -> float:
    """The task's score written out from the protocol."""
    section, cells = params.tasks.human_preference, cell_values(data, params, "human_preference")
    numbers = ("accuracy", "precision", "recall", "f1")
    choices = fmean(fmean(cells[c, system, m] for m in numbers) for c in section.preferences)
    aspects: dict[str, list[float]] = {}
    for (_, found, measure), value in cells.items():
        if found == system and measure.startswith("rating:"):
            aspects.setdefault(measure, []).append(value)
    assert len(aspects) > 1
    return (choices + fmean(map(fmean, aspects.values()))) / 2


def test_task_scores_and_overall_are_unweighted_means(
    params: Params, data: Path, written: Path
) -> None:
    summary = values_of(written / "summary.csv")
    cells = {task: cell_values(data, params, task) for task in TASKS}
    for system in fake_scores.system_names(params):
        expected = {"human_preference": twin_of_human_preference(data, params, system)}
        for task in ("robustness", "clustering", "retrieval"):
            corpora = task_corpora(params, task)
            expected[task] = fmean(cells[task][corpus, system, "score"] for corpus in corpora)
        corpora = task_corpora(params, "sensitivity")
        expected["sensitivity"] = fmean(
            cells["sensitivity"][corpus, system, kind]
            for corpus in corpora
            for kind in ("insertion", "removal")
        )
        expected["overall"] = fmean(expected.values())
        for measure, value in expected.items():
            assert summary[system, measure] == pytest.approx(value, abs=1e-6), (system, measure)


def test_four_aspects_give_the_papers_mean_of_eight(tmp_path: Path, params: Params) -> None:
    section = params.tasks.human_preference.model_copy(
        update={"preferences": ["daily_news_choices"], "ratings": ["daily_news_ratings"]}
    )
    one = params.model_copy(
        update={"tasks": params.tasks.model_copy(update={"human_preference": section})}
    )
    aspects = {"daily_news_ratings": ["overall", "accuracy", "coverage", "coherence"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fake_scores, "ASPECTS", aspects)
        fake_scores.write_scores(tmp_path, one)
    fake_scores.write_embeddings(tmp_path, one)
    tables.write("human_preference", one, tmp_path, tmp_path)
    cells = cell_values(tmp_path, one, "human_preference")
    for system in fake_scores.system_names(one):
        eight = [
            value
            for (_, found, measure), value in cells.items()
            if found == system
            and (measure in ("accuracy", "precision", "recall", "f1") or "rating:" in measure)
        ]
        assert len(eight) == 8
        score = values_of(tmp_path / "human_preference.csv")[system, "score"]
        assert score == pytest.approx(fmean(eight), abs=1e-6)


def test_intervals_come_from_the_mean_of_the_draws(
    params: Params, data: Path, written: Path
) -> None:
    system = "rouge"
    drawn = []
    for corpus in task_corpora(params, "clustering"):
        frame = draws_of(data, "clustering", corpus)
        part = frame.filter((pl.col("system") == system) & (pl.col("measure") == "score"))
        drawn.append(part.sort("draw")["value"].to_numpy())
    low, high = np.quantile(np.mean(drawn, axis=0), [0.025, 0.975])
    row = next(
        row
        for row in rows_of(written / "summary.csv")
        if (row["system"], row["measure"]) == (system, "clustering")
    )
    assert float(row["low"]) == pytest.approx(low, abs=1e-6)
    assert float(row["high"]) == pytest.approx(high, abs=1e-6)
    # The mean of independent corpora is surer than one of them.
    singles = [np.ptp(np.quantile(draws, [0.025, 0.975])) for draws in drawn]
    assert high - low < min(singles)


def test_every_interval_holds_its_point_and_overall_is_narrowest(written: Path) -> None:
    found = 0
    for name in tables.TABLES:
        for row in rows_of(written / f"{name}.csv"):
            if row.get("low"):
                assert float(row["low"]) <= float(row["value"]) <= float(row["high"]), (name, row)
                found += 1
    assert found > 1000
    widths: dict[str, list[float]] = {}
    for row in rows_of(written / "summary.csv"):
        if row["low"]:
            width = float(row["high"]) - float(row["low"])
            widths.setdefault(row["measure"], []).append(width)
    assert all(fmean(widths["overall"]) < fmean(widths[task]) for task in TASKS)


def test_every_scored_cell_has_an_interval(written: Path) -> None:
    derived = (
        "paper", "ties", "truncated", "max_tokens", "tolerance", "within", "mean_absolute_gap",
        "p:", "first:",
    )  # fmt: skip
    for name in tables.TABLES:
        for row in rows_of(written / f"{name}.csv"):
            measure = row.get("measure", "")
            if measure and not measure.startswith(derived) and row["system"] != "expected":
                assert row["low"], (name, row)
                assert row["high"], (name, row)


# --- which files are read and written ------------------------------------------------------


@pytest.mark.parametrize("name", tables.TABLES)
def test_a_table_needs_its_inputs_and_nothing_else(
    name: str, tmp_path: Path, params: Params, data: Path
) -> None:
    read = tables.inputs(name, params, data)
    assert len(read) == len(set(read))
    for path in read:
        target = tmp_path / path.relative_to(data)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    tables.write(name, params, tmp_path, tmp_path / "out")
    for path in (read[0], read[-1]):
        target = tmp_path / path.relative_to(data)
        aside = target.rename(target.with_suffix(".aside"))
        with pytest.raises(BenchError, match=path.name):
            tables.write(name, params, tmp_path, tmp_path / "out")
        aside.rename(target)


def test_equal_scores_give_equal_bytes(
    tmp_path: Path, params: Params, data: Path, written: Path
) -> None:
    for name in ("summary", "agreement", "perturbations"):
        for path in tables.write(name, params, data, tmp_path):
            assert path.read_bytes() == (written / path.name).read_bytes()


def test_unknown_tables_are_refused_with_the_nearest_name(params: Params, tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="did you mean 'robustness'"):
        tables.write("robustnes", params, tmp_path, tmp_path)


def test_numbers_are_rounded_to_six_digits(written: Path) -> None:
    for row in rows_of(written / "summary.csv"):
        for name in ("value", "low", "high"):
            assert len(row[name].partition(".")[2]) <= 6


def test_every_table_and_figure_has_a_report_caption() -> None:
    from types import SimpleNamespace

    from jinja2 import Template

    from sagebench import figures

    seen = set()
    for kind, names in (("table", tables.TABLES), ("figure", figures.FIGURES)):
        template = Template((ROOT / f"workflow/report/{kind}.rst").read_text(encoding="utf-8"))
        for name in names:
            job = SimpleNamespace(wildcards=SimpleNamespace(**{kind: name}))
            caption = template.render(snakemake=job).strip()
            assert caption, name
            seen.add(caption)
    assert len(seen) == len(tables.TABLES) + len(figures.FIGURES)


# --- missing cells -------------------------------------------------------------------------


def test_a_cell_that_is_not_there_is_refused(copy: Path, params: Params, tmp_path: Path) -> None:
    cells = cells_of(copy, "clustering", "bbc")
    gone = (pl.col("system") == "jaccard") & (pl.col("measure") == "score")
    fake_scores.put_cells(copy, "clustering", "bbc", cells.filter(~gone))
    for name in ("clustering", "summary"):
        with pytest.raises(BenchError, match=r"'clustering'.*'bbc'.*'score'.*'jaccard'.*missing"):
            tables.write(name, params, copy, tmp_path / "out")
    assert not list((tmp_path / "out").glob("*"))


def test_an_empty_cell_without_a_reason_is_refused(
    copy: Path, params: Params, tmp_path: Path
) -> None:
    change_cells(copy, "clustering", "bbc", "jaccard", "score", value=None, low=None, high=None)
    with pytest.raises(BenchError, match="'jaccard' is empty and no note says why"):
        tables.write("clustering", params, copy, tmp_path)


def test_an_explained_empty_cell_is_a_dash_with_a_footnote(
    copy: Path, params: Params, tmp_path: Path
) -> None:
    nothing = {"value": None, "low": None, "high": None, "note": "too long for it"}
    change_cells(copy, "clustering", "bbc", "jaccard", "score", **nothing)
    for name in ("clustering", "summary"):
        tables.write(name, params, copy, tmp_path)
    text = (tmp_path / "clustering.md").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("| Jaccard"))
    assert line.count("–<sup>") == 2  # the corpus and the mean over corpora
    assert "too long for it" in text
    rows = rows_of(tmp_path / "summary.csv")
    empty = {row["measure"]: row for row in rows if row["system"] == "jaccard" and not row["value"]}
    assert set(empty) == {"clustering", "overall"}
    assert empty["overall"]["note"].endswith("BBC News: too long for it")


def test_a_score_without_draws_is_refused(copy: Path, params: Params, tmp_path: Path) -> None:
    draws = draws_of(copy, "retrieval", "news_subtitles").filter(pl.col("system") != "bm25")
    path = layout.scores(copy, "retrieval", "news_subtitles", "draws")
    frames.write(draws, path, frames.DRAWS)
    with pytest.raises(BenchError, match=r"'news_subtitles'.*'bm25' has no bootstrap draws"):
        tables.write("retrieval", params, copy, tmp_path)


# --- what is shown -------------------------------------------------------------------------


def test_the_best_of_a_column_is_bold_and_never_a_reference_row(
    copy: Path, params: Params, tmp_path: Path
) -> None:
    for system, value in (("random", 0.99), ("glove", 0.95), ("rouge", 0.96)):
        change_cells(copy, "clustering", "bbc", system, "score", value=value)
    tables.write("clustering", params, copy, tmp_path)
    lines = (tmp_path / "clustering.md").read_text(encoding="utf-8").splitlines()
    bbc = {line.split("|")[1].strip(): line.split("|")[2] for line in lines if line[:1] == "|"}
    assert [name for name, cell in bbc.items() if "**" in cell] == ["ROUGE"]
    assert bbc["Random"].strip().startswith("0.990")


def test_equal_printed_values_are_all_bold(copy: Path, params: Params, tmp_path: Path) -> None:
    for system, value in (("glove", 0.95), ("rouge", 0.95039)):
        change_cells(copy, "clustering", "bbc", system, "score", value=value)
    tables.write("clustering", params, copy, tmp_path)
    assert (tmp_path / "clustering.tex").read_text(encoding="utf-8").count(r"\textbf{0.950}") == 2


def test_rows_are_grouped_and_reference_rows_come_last(params: Params, written: Path) -> None:
    names = fake_scores.system_names(params)
    for name in ("summary", "robustness", "retrieval"):
        rows = rows_of(written / f"{name}.csv")
        assert list(dict.fromkeys(row["system"] for row in rows)) == names
        text = (written / f"{name}.tex").read_text(encoding="utf-8")
        before, _, after = text.partition("\\midrule\n\\multicolumn")[2].partition("Reference rows")
        assert "Levenshtein" in before
        assert after.index("Constant 2/3") < after.index("\\bottomrule")


def test_captions_say_what_was_really_run(params: Params, written: Path) -> None:
    entries = catalogue.load()
    for name in tables.TABLES:
        title, caption = (written / f"{name}.md").read_text(encoding="utf-8").split("\n\n")[:2]
        assert title.startswith("# ")
        assert f"seed {params.seed}" in caption
        assert f"Size {params.size}" in caption
    for task in ("robustness", "clustering", "retrieval", "human_preference"):
        caption = (written / f"{task}.md").read_text(encoding="utf-8").split("\n\n")[1]
        for corpus in task_corpora(params, task):
            assert f"{entries.corpus(corpus).title} (60 " in caption
    retrieval = (written / "retrieval.md").read_text(encoding="utf-8")
    assert f"layout {params.tasks.retrieval.layout}" in retrieval


def test_a_note_that_all_rows_share_moves_to_the_header(
    copy: Path, params: Params, tmp_path: Path
) -> None:
    corpus = "semanlink_arxiv"
    cells = cells_of(copy, "retrieval", corpus)
    shared = "3 of 63 queries left out"
    notes = (
        pl.when((pl.col("system") == "glove") & (pl.col("measure") == "score"))
        .then(pl.lit(f"{shared}; zero retention"))
        .otherwise(pl.lit(shared))
    )
    fake_scores.put_cells(copy, "retrieval", corpus, cells.with_columns(notes.alias("note")))
    tables.write("retrieval", params, copy, tmp_path)
    lines = (tmp_path / "retrieval.md").read_text(encoding="utf-8").splitlines()
    mark = next(line for line in lines if line.rstrip().endswith(shared)).partition(" ")[0]
    assert next(line for line in lines if line.startswith("| System")).count(mark) == 1
    assert not any(mark in line for line in lines if line.startswith("| all-MiniLM"))
    own = next(line for line in lines if line.rstrip().endswith("zero retention")).partition(" ")[0]
    assert sum(own in line for line in lines if line.startswith("| ")) == 1


def test_batch_normalised_scores_are_marked(written: Path) -> None:
    text = (written / "robustness.md").read_text(encoding="utf-8")
    assert "| BM25Plus<sup>" in text
    assert "| BM25Plus (normalise: self) |" in text
    assert "normalised over its batch" in text


def test_truncated_shares_count_distinct_inputs(params: Params, written: Path) -> None:
    rows = rows_of(written / "truncation.csv")
    models = fake_scores.system_names(params)[: len(params.models)]
    for place, model in enumerate(models):
        shares = [
            (float(row["value"]), int(row["n"]))
            for row in rows
            if row["system"] == model and row["measure"].startswith("truncated:")
        ]
        assert shares == [(3 * place / 40, 40)] * len(TASKS)
    summary = [r for r in rows_of(written / "summary.csv") if r["measure"] == "truncated"]
    assert [row["system"] for row in summary] == models
    assert {row["n"] for row in summary} == {str(40 * len(TASKS))}


def test_unchanged_texts_are_counted(params: Params, written: Path) -> None:
    rows = rows_of(written / "perturbations.csv")
    assert {(r["documents"], r["changed"], r["share"]) for r in rows} == {("4", "3", "0.75")}
    found = {(r["task"], r["perturbation"]) for r in rows}
    assert ("sensitivity", "span_removal") in found
    assert ("retrieval", "lorem_insertion") in found
    assert len(rows) == len({(r["task"], r["corpus"], r["perturbation"]) for r in rows})


def test_the_expected_similarity_stands_beside_the_measured(written: Path) -> None:
    grid = values_of(written / "sensitivity_grid.csv")
    for (system, measure), value in grid.items():
        if system == "expected":
            size = float(measure.split(":")[2])
            assert value == pytest.approx(1 / (1 + size), abs=1e-6)
    assert sum(system == "expected" for system, _ in grid) == 18


def test_ties_are_added_up_over_corpora(params: Params, written: Path) -> None:
    retrieval = values_of(written / "retrieval.csv")
    assert retrieval["jaccard", "ties"] == 3 * len(params.tasks.retrieval.corpora)
    preference = values_of(written / "human_preference.csv")
    assert preference["jaccard", "ties"] == 3 * len(params.tasks.human_preference.preferences)


def test_metrics_are_the_tables_numbers(written: Path, tmp_path: Path) -> None:
    metrics.write(written, tmp_path / "metrics.json")
    found = json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8"))
    summary = values_of(written / "summary.csv")
    for system, scores in found["summary"].items():
        assert scores.keys() >= {*TASKS, "overall"}
        for measure, value in scores.items():
            assert value == summary[system, measure]
    agreement = values_of(written / "agreement.csv", "cnn_dailymail")
    for system, scores in found["agreement"]["cnn_dailymail"].items():
        assert scores == {
            name: agreement[system, name] for name in ("robustness", "insertion", "removal")
        }
