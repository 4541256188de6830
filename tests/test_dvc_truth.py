"""DVC and Snakemake tell one truth: both really run, on scratch clones of a micro project.

`base` is a build by Snakemake alone, committed and pushed to a folder. `other` is one from
scratch with a changed subsample size: whatever way that change takes must end in its bytes.
"""

import ast
import json
import shutil
import time
from pathlib import Path

import pytest
import yaml
from dvc_support import Repository
from workflow_support import ROOT, Project, kill

from sagebench import provenance
from sagebench.phases import PHASES

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(900)]

CHANGE = {"tasks": {"clustering": {"texts": 14}}}
STAGES = [f"{phase}-clustering" for phase in ("perturb", "embed", "similarity", "score")]
# One of each kind that a reviewer would turn: a perturbation's parameter, a metric's, the seed,
# a subsample size, the model list.
CHANGES = {
    "perturbation": {"perturbations": {"random_capitalization": {"rate": 0.5}}},
    "metric": {"metrics": {"bm25": {"k1": 1.2}}},
    "seed": {"seed": 7},
    "size": CHANGE,
    "models": {"models": ["wordllama", "glove"]},
}
NOTHING = "Nothing to be done"


@pytest.fixture(scope="module")
def base(micro) -> Repository:
    """A build by Snakemake alone, committed and pushed."""
    return micro


@pytest.fixture(scope="module")
def other(base) -> dict[str, str]:
    """The artifacts of a build from scratch with the change."""
    made = base.clone("other")
    made.change(CHANGE)
    made.snakemake(SAGEBENCH_DVC="0")
    assert not made.dvc_is_clean()
    made.run("python", "-m", "sagebench", "commit")
    assert made.dvc_is_clean()
    return made.artifacts()


def test_after_snakemake_alone_dvc_is_clean_and_has_nothing_to_run(base):
    assert base.dvc_is_clean()
    assert "Running stage" not in base.run("dvc", "repro")
    assert base.run("git", "status", "--porcelain") == ""


def test_a_pulled_clone_is_clean_in_both_tools_and_a_dry_run_writes_nothing(base):
    clone = base.pulled("pulled")
    assert clone.artifacts() == base.artifacts()
    assert clone.dvc_is_clean()
    assert NOTHING in clone.snakemake("-n")
    assert not any((clone.folder / ".snakemake/metadata").iterdir())
    clone.run("python", "-m", "sagebench", "sync")
    assert any((clone.folder / ".snakemake/metadata").iterdir())
    assert NOTHING in clone.snakemake("-n")
    assert clone.dvc_is_clean()


def test_a_clone_that_was_not_pulled_is_built_whole(base):
    assert len(base.clone("bare").planned()) == len(base.planned("--forceall"))


def test_snakemake_in_a_pulled_clone_does_what_the_change_asks_and_no_more(base, other):
    clone = base.pulled("snakemake")
    clone.change(CHANGE)
    before = clone.times()
    planned = clone.planned()
    assert clone.ran() == planned
    assert clone.artifacts() == other
    _only_clustering_was_written(before, clone)
    assert clone.dvc_is_clean()
    assert "Running stage" not in clone.run("dvc", "repro")


@pytest.mark.slow
def test_dvc_in_a_pulled_clone_does_what_the_change_asks_and_no_more(base, other):
    clone = base.pulled("dvc")
    clone.change(CHANGE)
    before = clone.times()
    assert clone.reproduced() == [*STAGES, "results"]
    assert clone.artifacts() == other
    _only_clustering_was_written(before, clone)
    assert clone.dvc_is_clean()
    assert NOTHING in clone.snakemake("-n")
    lock = (clone.folder / "dvc.lock").read_bytes()
    clone.run("git", "checkout", "-q", ".")
    clone.run("dvc", "checkout", "-q")
    assert clone.artifacts() == base.artifacts()
    clone.change(CHANGE)
    # Out of DVC's run-cache, which does not hold results/: they are in Git, not in its cache.
    assert set(clone.reproduced()) <= {"results"}
    assert clone.artifacts() == other
    assert (clone.folder / "dvc.lock").read_bytes() == lock
    assert NOTHING in clone.snakemake("-n")


def _only_clustering_was_written(before: dict[str, int], clone: Repository) -> None:
    after = clone.times()
    written = {path for path in after if after[path] != before.get(path)}
    strangers = {path for path in written if "clustering" not in path and "results" not in path}
    assert written
    assert not strangers


@pytest.mark.slow
def test_two_branches_to_and_fro_and_then_a_change(base, other):
    clone = base.pulled("branches")
    clone.run("git", "checkout", "-q", "-b", "side")
    clone.change(CHANGE)
    clone.snakemake()
    clone.commit("changed")
    for branch, artifacts in (("main", base.artifacts()), ("side", other), ("main", None)):
        clone.run("git", "checkout", "-q", branch)
        if artifacts is None:  # code and parameters of one branch, data of the other
            break
        clone.run("dvc", "checkout", "-q")
        assert clone.artifacts() == artifacts
        assert clone.dvc_is_clean()
        assert NOTHING in clone.snakemake("-n")
    assert any("clustering" in job for job in clone.planned())
    clone.run("dvc", "checkout", "-q")
    clone.change(CHANGE)
    planned = clone.planned()
    assert clone.ran() == planned != []
    assert clone.artifacts() == other


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "phase", "name", "tasks"),
    [
        (
            "perturbations/order.py",
            "perturb",
            "word_shuffling",
            ["agreement_robustness", "robustness"],
        ),
        ("metrics/bm25.py", "similarity", "bm25", ["clustering", "human_preference", "retrieval",
                                                   "robustness", "sensitivity"]),
    ],
)  # fmt: skip
def test_changed_code_is_seen_by_both_tools_and_only_where_it_is_used(
    base, module, phase, name, tasks
):
    path = base.folder / "workflow/sagebench" / module
    saved = path.read_text(encoding="utf-8")
    try:
        path.write_text(saved + "\nCHANGED = 1\n", encoding="utf-8")
        planned = [job for job in base.planned() if job.startswith(phase)]
        stages = base.changed_stages() - {"results"}  # the tables' titles and notes
    finally:
        path.write_text(saved, encoding="utf-8")
    assert {job.rpartition(" ")[2] for job in planned if job.rpartition(" ")[2] == name}
    direct = {job for job in planned if job.endswith(f": {name}")}
    assert direct == {job for job in planned if phase == "perturb" or job in direct}
    assert stages == {f"{phase}-{task}" for task in tasks}


# Run on the way to a job's command, which is named itself.
ON_THE_WAY = {
    "workflow/sagebench/commands/__init__.py",
    "workflow/sagebench/subcommands.py",
}


def test_jobs_import_only_modules_that_their_stage_names(base, spy):
    named = yaml.safe_load((base.folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    seen = set()
    for path in spy.glob("*.json"):
        told = json.loads(path.read_text(encoding="utf-8"))
        stage = _stage_of(told["command"])
        if stage is None:
            continue
        seen.add(stage)
        files = {f"workflow/sagebench/{provenance.module_file(name)}" for name in told["modules"]}
        strangers = {file for file in files - set(named[stage]["deps"]) if not _is_bare(file)}
        assert strangers <= ON_THE_WAY, stage
    assert seen == set(named)


def _is_bare(module: str) -> bool:
    """Whether a package's own module holds a docstring at most."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    return all(isinstance(node, ast.Expr) for node in tree.body)


def _stage_of(command: list[str]) -> str | None:
    """The stage of a job, by the command it runs and the path that it writes."""
    name = command[0] if command else ""
    phase = next((phase for phase, names in PHASES.items() if name in names), None)
    if phase in (None, "fetch", "results"):
        return phase
    if phase == "score":
        return f"score-{json.loads(command[command.index('--spec') + 1])['task']}"
    output = command[2] if name in ("corpus", "sample", "perturb") else command[1]
    return f"{phase}-{Path(output).parts[2]}"


def test_two_parameters_that_swap_values_are_noticed(base):
    with base.changed({"metrics": {"bm25": {"k1": 0.75, "b": 1.5}}}):
        assert {job.rpartition(" ")[2] for job in base.planned() if "similarity" in job} == {"bm25"}
        assert any(stage.startswith("similarity") for stage in base.changed_stages())
    with base.changed({"tasks": {"robustness": {
        "superficial": ["word_shuffling"], "semantic": ["random_capitalization"],
    }}}):  # fmt: skip
        assert any(job.startswith("similarity robustness") for job in base.planned())
        assert "similarity-robustness" in base.changed_stages()
    assert base.planned() == []


def test_without_snakemakes_folder_nothing_changes(base):
    copy = base.copy("bald")
    shutil.rmtree(copy.folder / ".snakemake")
    assert NOTHING in copy.snakemake("-n")
    copy.change({"bootstrap": {"resamples": 120}})
    planned = copy.planned()
    assert {job.split(" ")[0] for job in planned} == {
        "score",
        "table",
        "figure",
        "metrics",
        "report",
    }
    assert sum(job.startswith("score") for job in planned) == 8


def test_an_edited_or_truncated_or_missing_artifact_is_noticed(base):
    copy = base.copy("edited")
    perturbed = copy.folder / "data/perturbed/robustness/cnn_dailymail/word_shuffling.parquet"
    table = copy.folder / "results/tables/clustering.csv"
    perturbed.write_bytes(perturbed.read_bytes()[:-1])
    table.write_text(table.read_text(encoding="utf-8") + "edited\n", encoding="utf-8")
    assert copy.changed_stages() >= {"perturb-robustness", "results"}
    output = copy.snakemake("-n")
    assert "no recorded job wrote these bytes" in output
    planned = copy.planned()
    assert "perturb robustness/cnn_dailymail: word_shuffling" in planned
    assert "table clustering" in planned
    assert not any(job.startswith(("fetch", "corpus", "sample")) for job in planned)
    # Snakemake by itself would not look for a missing file that nothing asks for anew.
    perturbed.unlink()
    copy.change({"perturbations": {"word_shuffling": {}}})
    assert "perturb robustness/cnn_dailymail: word_shuffling" in copy.planned()


@pytest.mark.slow
def test_a_killed_snakemake_is_finished_by_dvc(base, other):
    clone = base.pulled("killed-snakemake")
    clone.run("python", "-m", "sagebench", "sync")
    clone.change(CHANGE)
    _kill_once_there_is(clone, "data/similarity/clustering", "snakemake", "--cores", "2")
    assert not clone.dvc_is_clean()
    clone.run("dvc", "repro")
    assert clone.artifacts() == other
    assert NOTHING in clone.snakemake("-n")


@pytest.mark.slow
def test_a_killed_dvc_is_finished_by_snakemake(base, other):
    clone = base.pulled("killed-dvc")
    clone.change(CHANGE)
    _kill_once_there_is(clone, "data/similarity/clustering", "dvc", "repro")
    clone.snakemake()
    assert clone.artifacts() == other
    assert clone.dvc_is_clean()


def _kill_once_there_is(clone: Repository, folder: str, *command: str) -> None:
    """Run a command; SIGKILL as soon as it has written a file of the folder anew."""
    before = clone.times()
    process = clone.start(*command)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        now = clone.times()
        if any(time != before.get(path) for path, time in now.items() if path.startswith(folder)):
            break
        time.sleep(0.05)
    assert process.poll() is None, f"{command} ended before it could be killed"
    kill(process)


def test_dvc_gets_nothing_of_a_run_for_a_part(base):
    copy = base.copy("part")
    copy.change({"bootstrap": {"resamples": 120}})
    lock = (copy.folder / "dvc.lock").read_bytes()
    copy.snakemake("data/scores/clustering/bbc.cells.parquet")
    assert "score-clustering" in copy.changed_stages()
    output = copy.run("python", "-m", "sagebench", "commit", check=False)
    assert "the files are not all up to date with params.yaml and the code" in output
    assert (copy.folder / "dvc.lock").read_bytes() == lock


def test_a_stage_says_when_dvc_yaml_was_made_for_other_names(base):
    copy = base.copy("names")
    copy.change({"tasks": {"robustness": {"superficial": ["numerization"]}}})
    output = copy.run("dvc", "repro", "perturb-robustness", check=False)
    assert "dvc.yaml does not name" in output
    assert "run `python -m sagebench dvc`" in output


@pytest.mark.slow
def test_asking_both_tools_about_a_finished_project_is_quick(base, tmp_path):
    for command in (("dvc", "status"), ("snakemake", "-n")):
        started = time.perf_counter()
        base.run(*command)
        assert time.perf_counter() - started < 6, command
    whole = Project(tmp_path / "default")
    shutil.copy(ROOT / "params.yaml", whole.folder)
    started = time.perf_counter()
    assert len(whole.planned()) > 400
    assert time.perf_counter() - started < 12  # it prints every job; a finished project none


@pytest.mark.slow
def test_a_score_parameter_takes_dvc_a_fraction_of_its_task(base):
    clone = base.pulled("cost")
    clone.change({"tasks": {"human_preference": {"ties": "half"}}})
    assert clone.reproduced() == ["score-human_preference", "results"]


@pytest.mark.slow
def test_dvc_alone_builds_what_snakemake_alone_builds(base):
    clone = base.clone("dvc-alone")
    assert len(clone.reproduced()) == len(list((base.folder / "data/provenance").iterdir()))
    assert clone.artifacts() == base.artifacts()
    assert clone.run("git", "status", "--porcelain") == ""
    assert NOTHING in clone.snakemake("-n")


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHANGES)
def test_every_kind_of_change_by_both_ways_ends_as_from_scratch(base, kind):
    scratch, snakemake, dvc = (
        base.clone(f"s-{kind}"), base.pulled(f"m-{kind}"), base.pulled(f"d-{kind}")
    )  # fmt: skip
    for clone in (scratch, snakemake, dvc):
        clone.change(CHANGES[kind])
    scratch.snakemake()
    planned = snakemake.planned()
    assert snakemake.ran() == planned
    assert snakemake.artifacts() == scratch.artifacts()
    assert snakemake.dvc_is_clean()
    dvc.run("dvc", "repro")
    assert dvc.artifacts() == scratch.artifacts()
    assert (dvc.folder / "dvc.lock").read_bytes() == (scratch.folder / "dvc.lock").read_bytes()
    assert NOTHING in dvc.snakemake("-n")


@pytest.mark.slow
def test_the_built_default_project_answers_within_six_seconds():
    if not (ROOT / "results/metrics.json").exists() or not (ROOT / "data/scores").exists():
        pytest.skip("the project is not built here")
    project = Repository.at(ROOT)
    for command in (("dvc", "status"), ("snakemake", "-n")):
        started = time.perf_counter()
        project.run(*command)
        assert time.perf_counter() - started < 6, command
