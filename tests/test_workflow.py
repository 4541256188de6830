"""The workflow itself, really run at smoke size on scratch copies of the project."""

import fcntl
import re
import time
from pathlib import Path

import polars as pl
import pytest
from workflow_support import Project, kill

from sagebench import tables
from sagebench.results import results_files

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(900)]

DETERMINISTIC = ("data/corpora", "data/samples", "data/perturbed", "data/similarity", "data/scores")


def test_every_table_and_figure_is_there_and_no_cell_is_empty(built):
    for path in results_files(built.folder / "results"):
        assert path.stat().st_size > 0, path
    summary = built.summary()
    assert summary["value"].null_count() == 0
    assert {"robustness", "retrieval", "overall"} <= set(summary["measure"])
    for name in tables.TABLES:
        text = (built.folder / "results/tables" / f"{name}.md").read_text(encoding="utf-8")
        assert "nan" not in text.lower().split(), name


def test_a_second_run_has_nothing_to_do(built):
    assert "Nothing to be done" in built.snakemake("-n")


@pytest.mark.slow
def test_a_killed_run_started_again_with_other_cores_and_hash_seed_has_the_same_bytes(
    built, tmp_path
):
    """One build carries both promises: what it survives, and that nothing of it shows."""
    other = Project(tmp_path / "other")
    for seconds in (15, 20):
        process = other.start("snakemake", "--cores", "2")
        time.sleep(seconds)
        assert process.poll() is None, "the build ended before it could be killed"
        kill(process)
    other.snakemake("--cores", "1", PYTHONHASHSEED="2", LC_ALL="C", TZ="Asia/Tokyo")
    assert other.digests(*DETERMINISTIC) == built.digests(*DETERMINISTIC)
    assert other.digests("results") == built.digests("results")
    ours, theirs = (
        sorted((p.folder / "data/embeddings").rglob("*.parquet")) for p in (other, built)
    )
    assert len(ours) == len(theirs) > 0
    for a, b in zip(ours, theirs, strict=True):
        left, right = (pl.read_parquet(path) for path in (a, b))
        assert left["text_sha256"].equals(right["text_sha256"])
        gap = (left["vector"].explode() - right["vector"].explode()).abs().max()
        assert gap <= 1e-5


def _wait_until_held(lock: Path) -> None:
    for _ in range(300):
        with open(lock, "w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
        time.sleep(0.1)
    raise AssertionError(f"nobody holds {lock}")


def test_a_second_run_in_the_same_folder_is_refused_while_the_first_is_alive(built):
    touched = built.folder / "results/metrics.json"
    before = touched.read_bytes()
    lock = "import fcntl, time; f = open('.snakemake/sagebench.lock', 'w'); " \
           "fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); time.sleep(60)"  # fmt: skip
    holder = built.start("python", "-c", lock)
    try:
        _wait_until_held(built.folder / ".snakemake/sagebench.lock")
        output = built.snakemake("--cores", "1", "--forcerun", "metrics", check=False)
        assert "another run is at work" in output
    finally:
        kill(holder)
    assert touched.read_bytes() == before
    built.snakemake("--cores", "1")


def test_a_parameter_reruns_only_what_hangs_on_it(built):
    saved = (built.folder / "params.yaml").read_text()
    try:
        built.change({"perturbations": {"random_capitalization": {"rate": 0.5}}})
        planned = built.planned()
        assert "perturb robustness/cnn_dailymail: random_capitalization" in planned
        assert "perturb retrieval/semanlink_arxiv: random_capitalization" in planned
        assert not any("numerization" in job for job in planned)
        assert not any(job.startswith(("fetch", "corpus", "sample")) for job in planned)
        for phase in ("perturb", "embed", "similarity", "score"):
            assert not any(job.startswith(f"{phase} sensitivity") for job in planned)
        (built.folder / "params.yaml").write_text(saved)
        built.change({"metrics": {"bm25": {"k1": 1.2}}})
        changed = [job for job in built.planned() if job.startswith("similarity")]
        assert changed
        assert all(job.endswith(": bm25") for job in changed)
    finally:
        (built.folder / "params.yaml").write_text(saved)
    assert built.planned() == []


def test_changed_code_of_one_perturbation_or_metric_reruns_it(built):
    for module, mark, jobs in (
        ("metrics/jaccard.py", "similarity", r"similarity .*: jaccard"),
        ("perturbations/negation.py", "perturb", r"perturb .*: negation_toggling"),
    ):
        path = built.folder / "workflow/sagebench" / module
        saved = path.read_text(encoding="utf-8")
        try:
            path.write_text(saved + "\nCHANGED = 1\n", encoding="utf-8")
            planned = [job for job in built.planned() if job.startswith(mark)]
            assert planned
            assert all(re.fullmatch(jobs, job) for job in planned)
            path.write_text(saved + "\n# a comment\n", encoding="utf-8")
            assert built.planned() == []
        finally:
            path.write_text(saved, encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": ["minilmm"]}, "unknown model 'minilmm': did you mean 'minilm'"),
        ({"tasks": {"clustering": {"corpora": ["bcc"]}}}, "corpus 'bcc': did you mean 'bbc'"),
        ({"tasks": {"clustering": {"corpora": ["lee50"]}}}, "has role 'ratings' where 'labelled'"),
        ({"tasks": {"retrieval": {"layout": "pared"}}}, "tasks.retrieval.layout"),
        ({"perturbations": {"numerisation": {}}}, "did you mean 'numerization'"),
        ({"metrics": {"rogue": {}}}, "unknown metric 'rogue': did you mean 'rouge'"),
    ],
)  # fmt: skip
def test_a_wrong_name_stops_the_workflow_with_the_nearest_valid_one(tmp_path, change, message):
    project = Project(tmp_path / "wrong")
    project.change(change)
    output = project.snakemake("-n", check=False)
    assert message in output
    assert "Traceback" not in output


def test_dag_rulegraph_report_and_lint_work(built):
    assert "digraph" in built.snakemake("--dag")
    assert "digraph" in built.snakemake("--rulegraph")
    built.snakemake("--report", "report.html")
    report = (built.folder / "report.html").read_text(encoding="utf-8")
    assert "summary" in report
    assert "Congratulations" in built.snakemake("--lint")
