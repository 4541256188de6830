"""The README is true: its numbers, its links, its commands and its examples."""

import re

import numpy as np
import polars as pl
import pytest
import yaml
from conftest import ROOT
from workflow_support import Project

from sagebench.bench import sections as bench

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(900)]

README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLES = ROOT / "results" / "tables"


def _rows(name: str) -> dict[str, list[str]]:
    """The Markdown table between two marks: first cell -> the other cells."""
    block = README.split(f"<!-- {name}:")[1].split(f"<!-- /{name} -->")[0]
    lines = [line for line in block.splitlines() if line.startswith("|")]
    cells = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: row[1:] for row in cells}


def test_the_summary_is_the_tables():
    summary = pl.read_csv(TABLES / "summary.csv").filter(pl.col("corpus") == "all corpora")
    tasks = ["human_preference", "robustness", "sensitivity", "clustering", "retrieval", "overall"]
    titles = summary.unique("title", maintain_order=True)["title"].to_list()
    rows = _rows("summary")
    assert list(rows) == titles
    for title, shown in rows.items():
        values = [
            summary.filter((pl.col("title") == title) & (pl.col("measure") == task))["value"][0]
            for task in tasks
        ]
        assert shown == [f"{value:.3f}" for value in values], title


def test_the_agreement_is_the_tables():
    agreement = pl.read_csv(TABLES / "agreement.csv")
    rows = _rows("agreement")
    assert set(rows) == {"Levenshtein", "ROUGE", "Jaccard"}
    for title, shown in rows.items():
        for measure, cell in zip(("robustness", "insertion", "removal"), shown, strict=True):
            ours, paper = (
                agreement.filter((pl.col("title") == title) & (pl.col("measure") == name))["value"][
                    0
                ]
                for name in (measure, f"paper:{measure}")
            )
            assert cell == f"{ours:.3f} / {paper:.3f}"


def test_the_speeds_are_those_of_the_bench():
    sections = bench.kept(ROOT / "results" / "bench")
    targets = [target for section in sections.values() for target in section.targets]
    assert set(sections) == set(bench.SECTIONS)
    said = " ".join(README.split())
    for beginning, pattern, digits in (
        ("ROUGE-1+2", r"ROUGE ([\d,]+) times", ",.0f"),
        ("BM25", r"BM25 ([\d,]+) times", ",.0f"),
        ("embedding of", r"embedded ([\d.]+) times", ".1f"),
        ("retrieval on SciFact", r"SciFact scored ([\d.]+) times", ".1f"),
        ("orchestration", r"takes ([\d.]+%) of a run", ".1%"),
    ):
        (target,) = (target for target in targets if target.what.startswith(beginning))
        assert re.search(pattern, said)[1] == format(target.measured, digits)
    assert [target.what for target in targets if not (target.met or target.cause)] == []


def test_every_link_and_picture_is_there():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


def test_every_command_is_run_by_a_test_or_is_a_make_target(built):
    commands = {
        line.split("#")[0].strip()
        for block in re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
        for line in block.splitlines()
        if line.strip()
    }
    for command in sorted(commands):
        program, *arguments = command.split()
        if program == "make":  # the session's build is `make results`, this suite is `make test`
            assert built.run("make", "-n", "-o", ".venv/.installed", *arguments)
        elif command == "dvc repro":  # tests/test_dvc_*.py
            continue
        else:
            assert program == "snakemake", command
            built.snakemake(*arguments)


@pytest.mark.parametrize("size", ["full", "extended"])
def test_the_other_sizes_plan(size, tmp_path):
    project = Project(tmp_path / size, overlay=size)
    assert "This was a dry-run" in project.snakemake("-n")


def test_the_example_metric_works(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    project = Project(tmp_path / "metric")
    head = "import numpy as np\n\nfrom sagebench.metrics.base import Metric\n" \
           "from sagebench.registry import register\n\n\n"  # fmt: skip
    path = project.folder / "workflow/sagebench/metrics/word_overlap.py"
    path.write_text(head + code, encoding="utf-8")
    project.change({"metrics": {"word_overlap": {}}})
    assert "similarity clustering/bbc: word_overlap" in project.planned()
    script = (
        "from sagebench import registry; m = registry.load('metric', 'word_overlap')(raw='.'); "
        "print(m.pairs(['a b', 'a'], ['b c', 'a']).tolist(), m.condensed(['a b', 'b c', 'a']))"
    )
    assert project.run("python", "-c", script).startswith("[0.333")


def test_the_example_model_works(built, tmp_path):
    (example,) = re.findall(r"```yaml\n(models:.*?)```", README, flags=re.DOTALL)
    entry = yaml.safe_load(example)["models"][1]
    assert entry["path"] == "./my-model"
    saved = (built.folder / "params.yaml").read_text()
    try:
        (built.folder / "my-model").symlink_to(built.folder / "data/raw/minilm/model")
        built.change({"models": [*yaml.safe_load(saved)["models"], entry]})
        built.snakemake("--cores", "1", "data/embeddings/clustering/mine.parquet")
        mine, minilm = (
            pl.read_parquet(built.folder / f"data/embeddings/clustering/{name}.parquet")
            for name in ("mine", "minilm")
        )
        # 512 tokens against 256: equal for the texts that neither cuts
        short = minilm["tokens"].to_numpy() <= 256
        assert np.allclose(
            np.stack(mine["vector"])[short], np.stack(minilm["vector"])[short], atol=1e-5
        )
    finally:
        (built.folder / "params.yaml").write_text(saved)
        (built.folder / "my-model").unlink(missing_ok=True)
        (built.folder / "data/embeddings/clustering/mine.parquet").unlink(missing_ok=True)
