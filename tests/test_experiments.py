"""DVC's experiments, diffs and plots, really run on scratch repositories.

An experiment in a temp workspace must run that folder's own code, although another checkout's is
the installed package: nothing here puts the copy's code on Python's path.
"""

import csv
import json
import shutil
import time
from pathlib import Path

import pytest
from dvc_support import Repository

pytestmark = [pytest.mark.workflow, pytest.mark.slow, pytest.mark.timeout(900)]

STAGE = "score-human_preference"
HALF = "tasks.human_preference.ties=half"


class Study(Repository):
    """A repository in which experiments are run."""

    def environment(self, **extra: str) -> dict[str, str]:
        found = super().environment(**extra)
        del found["PYTHONPATH"]
        return found

    def commit(self, message: str) -> None:
        for name in ("name", "email"):  # DVC's own commits read the configuration alone
            self.run("git", "config", f"user.{name}", "test@example.org")
        super().commit(message)

    def dvc(self, *arguments: str, check: bool = True) -> str:
        return self.run("dvc", *arguments, check=check)

    def json(self, *arguments: str) -> dict:
        return json.loads(self.dvc(*arguments, "--json"))

    def lock(self, experiment: str) -> str:
        """The dvc.lock of an experiment: the digest of every file that it depends on or made."""
        refs = self.run("git", "for-each-ref", "--format=%(refname)", "refs/exps").split()
        (ref,) = [ref for ref in refs if ref.endswith(f"/{experiment}")]
        return self.run("git", "show", f"{ref}:dvc.lock")

    def restore(self) -> None:
        """The last commit's files again."""
        self.run("git", "reset", "-q", "--hard")
        self.dvc("checkout", "-q", "--force", "--with-deps", STAGE)

    def queued(self) -> dict[str, str]:
        """Queued experiment -> its state."""
        lines = self.dvc("queue", "status").splitlines()[1:]
        return {words[1]: words[-1] for words in map(str.split, lines) if len(words) > 3
                and words[0] != "Worker"}  # fmt: skip

    def work_off(self, seconds: int, workers: int = 1) -> dict[str, str]:
        """Start workers and wait until the queue is done; the state of each experiment."""
        self.dvc("queue", "start", "--jobs", str(workers))
        deadline = time.monotonic() + seconds
        try:
            while {"Queued", "Running"} & set(self.queued().values()):
                assert time.monotonic() < deadline, self.dvc("queue", "status")
                time.sleep(2)
        finally:
            self.dvc("queue", "stop", "--kill")
        return self.queued()

    def table(self, *arguments: str) -> dict[str, dict[str, str]]:
        """`dvc exp show` by the experiments' names."""
        rows = csv.DictReader(self.dvc("exp", "show", "--csv", *arguments).splitlines())
        return {row["Experiment"] or row["rev"]: row for row in rows}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """One task of a micro project up to its scores, committed."""
    made = Study.create(tmp_path_factory.mktemp("study") / "a project")
    made.dvc("repro", STAGE)
    made.commit("built")
    return made


def test_an_experiment_makes_the_same_in_the_workspace_and_elsewhere(study):
    study.dvc("exp", "run", "--name", "here", "-S", HALF, STAGE)
    assert study.json("params", "diff") == {
        "params.yaml": {"tasks.human_preference.ties": {"old": "second", "new": "half"}}
    }
    made_here = study.digests("data")
    study.restore()
    before = study.digests("data")
    study.dvc("exp", "run", "--temp", "--single-item", "--force", "--name", "elsewhere",
              "-S", HALF, STAGE)  # fmt: skip
    assert study.digests("data") == before != made_here
    assert not study.run("git", "status", "--porcelain")
    assert study.lock("elsewhere") == study.lock("here")
    assert str(study.folder) not in study.lock("elsewhere")


@pytest.mark.parametrize("module", ["phase", "score"])
def test_an_experiment_elsewhere_runs_the_code_of_its_own_folder(study, module):
    """`phase` is what DVC starts, `score` what Snakemake starts."""
    path = study.folder / f"workflow/sagebench/commands/{module}.py"
    path.write_text(
        path.read_text(encoding="utf-8").replace(
            "-> None:\n    \"\"\"", "-> None:\n    raise SystemExit('own code')\n    \"\"\""
        ),
        encoding="utf-8",
    )  # fmt: skip
    try:
        output = study.dvc("exp", "run", "--temp", "--force", "--single-item", STAGE, check=False)
        assert "own code" in output
        assert "failed to reproduce" in output
    finally:
        study.restore()


def test_the_queue_runs_a_series_and_says_what_failed(study):
    study.dvc("exp", "run", "--queue", "--name", "level", "-S", "bootstrap.level=0.9,2", STAGE)
    assert study.work_off(120) == {"level-1": "Success", "level-2": "Failed"}
    assert "bootstrap.level: Input should be less than 1" in study.dvc("queue", "logs", "level-2")
    assert study.table()["level-1"]["bootstrap.level"] == "0.9"
    assert study.lock("level-1") != study.run("git", "show", "HEAD:dvc.lock")
    assert not study.run("git", "status", "--porcelain")


def test_metrics_and_plots_are_shown_and_compared(built, tmp_path):
    """Only results/ is read: in a repository of its own, with one number changed."""
    study = Study.at(tmp_path / "results only")
    study.folder.mkdir()
    for name in ("results", ".dvc"):
        leave = shutil.ignore_patterns("cache", "tmp")
        shutil.copytree(built.folder / name, study.folder / name, ignore=leave)
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(built.folder / name, study.folder / name)
    study.run("git", "init", "-q")
    study.commit("results")
    metrics = study.json("metrics", "show")[""]["data"]["results/metrics.json"]["data"]
    assert metrics == built.metrics()
    for name in ("metrics.json", "tables/summary.csv"):
        path = study.folder / "results" / name
        value = str(metrics["summary"]["jaccard"]["clustering"])
        text = path.read_text(encoding="utf-8")
        assert value in text
        path.write_text(text.replace(value, "0.125"), encoding="utf-8")

    changes = study.json("metrics", "diff")["results/metrics.json"]
    assert changes["summary.jaccard.clustering"]["new"] == 0.125
    study.dvc("plots", "show")
    assert _drawn(study.folder) == {"workspace"}
    study.dvc("plots", "diff", "HEAD")
    assert _drawn(study.folder) == {"HEAD", "workspace"}


def _drawn(folder: Path) -> set[str]:
    """The revisions on the page; all three plots are on it, with rows and without placeholders."""
    page = (folder / "dvc_plots/index.html").read_text(encoding="utf-8")
    specs = [json.loads(part.partition(";\n")[0]) for part in page.split("var spec = ")[1:]]
    assert len(specs) == 3
    assert "DVC_METRIC" not in page
    assert all(spec["data"]["values"] for spec in specs)
    return {row["rev"] for spec in specs for row in spec["data"]["values"]}


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_a_study_over_seeds_by_the_queue(tmp_path):
    """A whole build, then three more at other seeds, compared and one of them taken over."""
    study = Study.create(tmp_path / "project")
    study.dvc("repro")
    study.commit("built")
    study.dvc("exp", "run", "--queue", "--name", "seed", "-S", "seed=1,2,3")
    assert study.work_off(1800, workers=2) == {f"seed-{n}": "Success" for n in (1, 2, 3)}
    shown = study.table()
    overall = {shown[f"seed-{n}"]["summary.glove.overall"] for n in (1, 2, 3)}
    assert len(overall) > 1
    assert study.json("metrics", "diff", "seed-1", "seed-2")["results/metrics.json"]
    assert study.json("params", "diff", "seed-1", "seed-2") == {
        "params.yaml": {"seed": {"old": 1, "new": 2}}
    }
    study.dvc("exp", "apply", "seed-2")
    assert study.dvc_is_clean()
    assert study.planned() == []
    assert f"{study.metrics()['summary']['glove']['overall']}" in overall
