"""The bench: its arithmetic by hand, its jobs at toy sizes, its page from what was measured."""

import importlib
import json
import re

import polars as pl
import pytest
from workflow_support import ROOT

from sagebench import registry
from sagebench.__main__ import main
from sagebench.bench import (
    kernels,
    measure,
    memory,
    plot,
    report,
    run,
    sections,
    stages,
    stores,
    texts,
)
from sagebench.bench.measure import Row, Section, Target
from sagebench.errors import BenchError

LOG = """Building DAG of jobs...
Provided cores: 2
[Mon Nov 30 19:05:32 2026]
Job 5: fetch a
[Mon Nov 30 19:05:33 2026]
Finished jobid: 5 (Rule: fetch_a)
Finished jobid: 6 (Rule: embed)
Finished jobid: 7 (Rule: embed)
Finished jobid: 0 (Rule: all)
Elapsed time: {elapsed}
"""


def test_exponent_is_the_slope_of_a_power_law():
    points = [(n, 3.0 * n**1.7) for n in (10, 20, 40, 80)]
    assert measure.exponent(points) == pytest.approx(1.7)


def test_ratio_and_targets():
    row = Row("a", "10 texts", 2.0, reference_seconds=5.0, curve=[(1, 1.0), (10, 100.0)])
    assert (row.ratio, row.exponent) == (2.5, pytest.approx(2))
    assert Row("a", "", 1.0).ratio is Row("a", "", 1.0).exponent is None
    assert Target("x", "times", 2.0, at_least=2).met
    assert not Target("x", "times", 1.9, at_least=2).met
    assert not Target("x", "GB", 4.1, at_most=4).met


def test_a_section_survives_its_file():
    section = Section(
        "S", [Row("a", "1", 0.5, curve=[(1, 0.5)])], [Target("t", "s", 1.0, at_most=2)],
        {"T": [{"x": 1}]}, ["n"],
    )  # fmt: skip
    again = Section.from_json(section.to_json())
    assert json.loads(again.to_json()) == json.loads(section.to_json())
    assert again.targets == section.targets


def answer(value):
    """Runs in a fresh process."""
    return {"value": value, "peak": measure.peak_mb()}


def test_a_child_is_a_process_of_its_own(tmp_path):
    (tmp_path / "benchchild.py").write_text("def f(x): print('noise'); return {'twice': 2 * x}\n")
    spec = importlib.util.spec_from_file_location("benchchild", tmp_path / "benchchild.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert measure.child(module.f, path=tmp_path, x=4) == {"twice": 8}
    with pytest.raises(BenchError, match="benchchild:f failed"):
        measure.child(module.f, path=tmp_path, y=4)


def test_memory_of_a_large_array_shows():
    before = measure.peak_mb()
    block = bytearray(int(before + 60) * 10**6)
    assert measure.peak_mb() >= len(block) / 1e6
    assert measure.peak_mb() > before + 50


@pytest.fixture
def project(tmp_path):
    """A project after a run of four jobs."""
    for path, text in {
        ".snakemake/log/2026-11-30T190530.285693.snakemake.log": LOG.format(elapsed="0:00:10.5"),
        ".snakemake/log/2026-11-30T200000.000000.snakemake.log": "a lint\n",
        "benchmarks/embed/t/m.tsv": "s\th:m:s\n4.5\t0:00:04\n",
        "benchmarks/embed/t/n.tsv": "s\th:m:s\n6.0\t0:00:06\n",
        "logs/fetch/a.log": "fetch: done in 9.0 s\nagain\nfetch: done in 0.5 s\n",
        "logs/card.log": "card: done in 1.0 s\n",
        "logs/metrics.log": "a job that wrote no time\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "data").mkdir()
    return tmp_path


def test_the_split_of_a_run_adds_up(project):
    place = measure.Place(project / "data", None, project)
    found = run.split(project, run._largest(project / ".snakemake" / "log"))
    parts = found["parts"]
    assert (found["cores"], found["wall"], found["jobs"]) == (2, 10.5, 3)
    assert sum(parts.values()) == pytest.approx(21)
    assert parts["set-up"] == 4  # two cores waited two seconds
    assert (parts["fetch"], parts["embed"], parts["report"]) == (0.5, 10.5, 1.0)
    assert parts["orchestration"] == pytest.approx(5)
    (target,) = run.measure(place).targets
    assert target.measured == pytest.approx(9 / 21)
    assert not target.met


def test_times_of_another_run_are_refused(project):
    (project / "benchmarks/embed/t/n.tsv").write_text("s\th:m:s\n600\t0:10:00\n")
    with pytest.raises(BenchError, match="of another run"):
        run.split(project, run._largest(project / ".snakemake" / "log"))
    with pytest.raises(BenchError, match="not the log of a run that ended"):
        run.split(project, project / ".snakemake/log/2026-11-30T200000.000000.snakemake.log")


@pytest.mark.parametrize(("text", "seconds"), [("0:23:07.5", 1387.5), ("1 day, 1:00:00", 90_000)])
def test_elapsed_times(text, seconds):
    assert run._seconds(text) == seconds


def test_every_phase_of_the_workflow_is_in_the_split():
    folder = report.__file__ and (run.__file__.rsplit("/", 3)[0] + "/rules")
    rules = set()
    for name in ("acquire", "perturb", "embed", "similarity", "score", "results", "report"):
        with open(f"{folder}/{name}.smk", encoding="utf-8") as stream:
            rules |= set(re.findall(r"logs/(\w+)[/.]", stream.read()))
    known = {rule for phase in run.PHASES.values() for rule in phase}
    assert rules <= known


def test_sections_exist_and_kernels_are_registered():
    for place in sections.SECTIONS.values():
        module, _, function = place.partition(":")
        assert callable(getattr(importlib.import_module(f"sagebench.bench.{module}"), function))
    assert {metric for metric, *_ in kernels.KERNELS.values()} <= set(registry.entries("metric"))
    assert set(kernels.TARGETS) <= set(kernels.KERNELS)


@pytest.fixture
def data(tmp_path, raw):
    """Corpora of invented words, and the tokenizer."""
    folder = tmp_path / "corpora" / "documents"
    folder.mkdir(parents=True)
    words = [" ".join(f"w{i * j % 97}" for i in range(400)) for j in range(1, 9)]
    pl.DataFrame({"text": words}).write_parquet(folder / "a.parquet")
    needed = {
        source for entry in registry.entries("perturbation").values() for source in entry.needs
    }
    (tmp_path / "raw").symlink_to(raw("cl100k", "minilm", *needed))
    return tmp_path


def test_pieces_have_their_length_and_are_always_the_same(data):
    found = texts.pieces(data, 5, 30)
    assert [len(text.split()) for text in found] == [30] * 5
    assert found == texts.pieces(data, 5, 30)
    with pytest.raises(BenchError, match="snakemake --cores all"):
        texts.pieces(data / "raw", 5, 30)


@pytest.mark.slow
@pytest.mark.parametrize("what", kernels.KERNELS)
def test_kernels_equal_their_references(data, monkeypatch, what):
    metric, params, words, _ = kernels.KERNELS[what]
    monkeypatch.setitem(kernels.KERNELS, what, (metric, params, min(words, 60), [4, 8, 16, 24]))
    found = kernels.kernel(what, str(data))
    assert [size for size, _ in found["curve"]] == [4, 8, 16, 24]
    other = kernels.reference(what, str(data))
    assert other["seconds"] > 0
    assert other["difference"] <= (1e-5 if metric == "bertscore" else 1e-9)


@pytest.mark.parametrize("job", [memory.clustering, memory.retrieval])
def test_the_tasks_run_on_drawn_vectors(tmp_path, job):
    n = 120
    job("prepare", n, str(tmp_path))
    for step in ("similarity", "score"):
        found = job(step, n, str(tmp_path))
        assert found["seconds"] > 0
        assert found["peak_mb"] > 10
    rows = pl.read_parquet(tmp_path / "similarity.parquet")
    assert rows.height == (n * (n - 1) // 2 if job is memory.clustering else 3 * 100 * 19 * 20)


@pytest.mark.parametrize("task", ["human_preference", "robustness", "sensitivity"])
def test_the_other_stages_run_on_pieces(data, monkeypatch, task):
    monkeypatch.setattr(stages, "WORDS", 40)
    monkeypatch.chdir(ROOT)
    for step in ("perturb", "similarity", "score"):
        found = stages.stage(task, step, str(data), [3, 6])
        if task == "human_preference" and step == "perturb":
            assert found == {}
        else:
            assert [size for size, _ in found["curve"]] == [3, 6]


def test_the_store_is_filled_and_asked(tmp_path):
    path = str(tmp_path / "x.sqlite")
    stores.fill(path, 60_000)
    assert stores.ask(path, 60_000)["asked"] > 0


def test_the_page_and_the_figure_show_what_was_measured(tmp_path):
    curve = [(10, 0.1), (100, 2.0), (1000, 30.0)]
    found = {
        "similarities": Section(
            "Similarities",
            [
                Row("a | b", "1,000 texts", 30.0, curve=curve, reference_seconds=90.0),
                Row(plot.LIMIT, "1", 1.0, curve=curve),
            ],
            [Target("fast", "times", 3.0, at_least=200, cause="because")],
        ),
        "run": Section("Run", [], [Target("share", "", 0.032, at_most=0.1)]),
    }
    page = report.render(found, "a machine")
    assert "| fast | ≥ 200 times | 3.00 times | not met | because |" in page
    assert "| share | ≤ 10% | 3.2% | met |  |" in page
    assert "a \\| b" in page
    plot.draw(found, tmp_path)
    assert (tmp_path / "growth.png").stat().st_size > 10_000
    assert "exponent" not in page.split("## Targets")[1].split("##")[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0.000294, "0.0003"),
        (0.01234, "0.012"),
        (1.234, "1.23"),
        (12.34, "12.3"),
        (1234.5, "1,234"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert report.number(value) == text


def test_an_unknown_section_is_named_with_the_nearest(tmp_path, capsys):
    options = ["--data", str(tmp_path), "--scratch", str(tmp_path), "--only", "stroe"]
    assert main(["bench", str(tmp_path / "out"), *options]) == 2
    assert "did you mean 'store'" in capsys.readouterr().err
