"""The paper's own CNN/DailyMail cells, recomputed on the packaged CNN/DailyMail texts.

The proof that the protocol here is the paper's: same transforms, same tokens, same formulas give
the same numbers on 200 texts of the same source (paper, Tables 4 to 6).
"""

import re

import polars as pl
import pytest
import yaml
from conftest import ROOT

from sagebench import frames, registry
from sagebench.corpora.build import build
from sagebench.perturbations.apply import perturb

PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
SECTIONS = PARAMS["tasks"]
TEXTS = ("text", "summary")
PAPER = {  # robustness, insertion, removal; and how far from the paper's cell we may be
    "levenshtein": {"robustness": (0.333, 0.04), "insertion": (0.842, 0.01),
                    "removal": (0.864, 0.01)},
    "rouge": {"robustness": (0.145, 0.04), "insertion": (0.881, 0.01), "removal": (0.868, 0.01)},
    "jaccard": {"robustness": (0.174, 0.04), "insertion": (0.964, 0.02), "removal": (0.849, 0.02)},
}  # fmt: skip


@pytest.fixture(scope="module")
def inputs(raw, tmp_path_factory) -> dict[str, object]:
    path = tmp_path_factory.mktemp("agreement") / "cnn_dailymail.parquet"
    build("cnn_dailymail", raw("blanc"), path)
    sample = frames.read(path, frames.DOCUMENTS)
    assert sample.height == 200
    robustness, sensitivity = SECTIONS["robustness"], SECTIONS["sensitivity"]
    needles = dict.fromkeys(robustness["superficial"] + robustness["semantic"])
    needles |= {
        "lorem_insertion": sensitivity["insertion"],
        "span_removal": sensitivity["removal"],
    }
    return _perturbed(sample, needles, raw("cl100k"))


def _perturbed(sample, needles, raw) -> dict[str, object]:
    parameters, seed = PARAMS["perturbations"], PARAMS["seed"]
    perturbed = {
        name: perturb(sample, name, parameters[name], seed, raw=raw, needles=grid)
        for name, grid in needles.items()
    }
    return {"sample": sample, "perturbed": perturbed}


def _score(name, metric, inputs, raw) -> dict[str, float]:
    task, system = registry.load("task", name)(), registry.load("metric", metric)(raw=raw)
    spec = {"task": SECTIONS[name], "corpus": "cnn_dailymail", "seed": PARAMS["seed"]}
    similarity = task.similarity(inputs, system, spec)
    spec["bootstrap"] = {"resamples": 100, "level": 0.95}
    _, cells, _ = task.score(inputs, {metric: similarity}, spec)
    return dict(cells.filter(pl.col("system") == metric).select("measure", "value").iter_rows())


@pytest.mark.parametrize("metric", sorted(PAPER))
def test_the_papers_cells_come_out(metric, inputs, raw):
    robustness, sensitivity = (
        _score(name, metric, inputs, raw("cl100k")) for name in ("robustness", "sensitivity")
    )
    ours = {
        "robustness": robustness["score"],
        "insertion": sensitivity["insertion"],
        "removal": sensitivity["removal"],
    }
    for cell, (paper, tolerance) in PAPER[metric].items():
        assert ours[cell] == pytest.approx(paper, abs=tolerance), cell


def test_robustness_depends_on_the_form_of_the_texts(raw, inputs):
    """The numbers of docs/validity.md: the same articles as REALSumm has them."""

    def plain(text):
        apart = re.sub(r"([.,!?;:()\"'])", r" \1 ", text.lower())
        return re.sub(r"\s+", " ", apart).strip()

    changed = [pl.col(name).map_elements(plain, return_dtype=pl.String) for name in TEXTS]
    sample = inputs["sample"].with_columns(changed)
    robustness = SECTIONS["robustness"]
    needles = dict.fromkeys(robustness["superficial"] + robustness["semantic"])
    other = _perturbed(sample, needles, raw("cl100k"))
    said = (ROOT / "docs/validity.md").read_text(encoding="utf-8")
    for metric in ("jaccard", "rouge", "levenshtein"):
        before, after = (
            _score("robustness", metric, each, raw("cl100k"))["score"] for each in (inputs, other)
        )
        assert re.search(rf"{before:.3f} → {after:.3f}", said), (metric, before, after)


def test_the_paper_numbers_used_here_are_the_catalogues():
    reported = pl.read_csv(ROOT / "workflow/catalogue/reported_scores.csv")
    tables = {
        "robustness": "table4_robustness",
        "insertion": "table5_sensitivity_insertion",
        "removal": "table6_sensitivity_removal",
    }
    for metric, cells in PAPER.items():
        for cell, (value, _) in cells.items():
            row = reported.filter(
                (pl.col("table") == tables[cell])
                & (pl.col("system").str.to_lowercase() == metric)
                & (pl.col("column") == "CNN/DM")
            )
            assert row["value"].to_list() == [value]
