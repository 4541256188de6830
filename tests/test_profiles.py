"""Profiles for clusters, and what the rules ask of one."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from dvc_support import Repository
from workflow_support import ROOT, Project

from sagebench.demand import Demand
from sagebench.phases import PHASES
from sagebench.plan import Plan

CLUSTERS = {"slurm": "slurm", "kubernetes": "cluster_generic"}  # profile -> the plugin's module
# Stands in for kubectl: runs a Job's one container here, with nothing but its own environment.
KUBECTL = """\
#!{python}
import json, os, subprocess, sys
from pathlib import Path
jobs = Path({folder!r})
match sys.argv[1:]:
    case ["create", "-f", "-"]:
        job = json.load(sys.stdin)
        name = job["metadata"]["name"]
        (jobs / f"{{name}}.json").write_text(json.dumps(job))
        (pod,) = job["spec"]["template"]["spec"]["containers"]
        environment = {{"PATH": "/usr/bin:/bin", "HOME": str(jobs)}}
        environment |= {{item["name"]: item["value"] for item in pod["env"]}}
        command = 'timeout "$1" "$2" "$3"; echo $? > "$0"'
        seconds = str(job["spec"]["activeDeadlineSeconds"])
        subprocess.Popen(
            ["/bin/sh", "-c", command, str(jobs / f"{{name}}.exit"), seconds, *pod["command"]],
            cwd=pod["workingDir"], env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=open(jobs / f"{{name}}.log", "wb"),
            stderr=subprocess.STDOUT,
        )
    case ["get", "job", name, "--ignore-not-found", "-o", template]:
        assert template == "jsonpath={{.status.succeeded}},{{.status.failed}};"
        ended = jobs / f"{{name}}.exit"
        code = ended.read_text().strip() if ended.exists() else ""
        if (jobs / f"{{name}}.json").exists():
            print("1,;" if code == "0" else ",1;" if code else ",;", end="")
    case ["delete", "job", "--ignore-not-found", "--wait=false", *names]:
        for name in names:
            (jobs / f"{{name}}.json").unlink(missing_ok=True)
    case other:
        sys.exit(f"unknown to this kubectl: {{other}}")
"""


def _profile(name: str) -> dict:
    return yaml.safe_load((ROOT / "profiles" / name / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def kubectl(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """The folder in which the stand-in keeps its Jobs, and the environment that finds it."""
    folder, tools = tmp_path / "jobs", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    script = tools / "kubectl"
    script.write_text(KUBECTL.format(python=sys.executable, folder=str(folder)), encoding="utf-8")
    script.chmod(0o755)
    path = [str(tools), str(Path(sys.executable).parent), os.environ["PATH"]]
    return folder, {
        "PATH": os.pathsep.join(path), "SAGEBENCH_IMAGE": "python:3.11",
        "SAGEBENCH_CLAIM": "shelf", "SAGEBENCH_MOUNT": str(tmp_path),
    }  # fmt: skip


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_profile_says_all_that_the_default_one_does(name):
    default, cluster = _profile("default"), _profile(name)
    assert set(default) <= set(cluster)
    assert {key for key in default if default[key] != cluster[key]} == {"cores", "resources"}


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("name", "option"),
    [("slurm", "--workflow-profile"), ("slurm", "--profile"), ("kubernetes", "--workflow-profile")],
)
def test_snakemake_takes_the_profile_and_plans_the_same_jobs(tmp_path, name, option):
    pytest.importorskip(
        f"snakemake_executor_plugin_{CLUSTERS[name]}", reason="the extra `cluster` is not installed"
    )
    project = Project(tmp_path / "project")
    planned = project.planned(option, f"profiles/{name}")
    assert len(planned) > 100
    assert planned == project.planned()


@pytest.mark.workflow
def test_every_job_asks_for_memory_and_time(tmp_path):
    project = Project(tmp_path / "project")
    for path in (project.folder / "workflow/rules").glob("*.smk"):
        text = path.read_text(encoding="utf-8")  # a message would stand for the resources
        path.write_text(re.sub(r"^ *message:\n.*\n", "", text, flags=re.M), encoding="utf-8")
    output = project.snakemake("-n", "--quiet", "host")
    listed = re.findall(r"^(?:local)?rule (\w+):\n((?: .*\n)*)", output, flags=re.M)
    assert len(listed) > 100
    silent = {
        name
        for name, text in listed
        if not {"mem_mb", "runtime"} <= set(re.findall(r"(\w+)=", text))
    }
    assert silent == {"all"}


def test_every_phase_has_a_demand_that_doubles_with_each_attempt():
    demand = Demand(Plan.read(ROOT / "params.yaml"))
    for phase in (command for commands in PHASES.values() for command in commands):
        for ask in (demand.mem_mb(phase), demand.runtime(phase)):
            first = ask(SimpleNamespace(), 1)
            assert first > 0
            assert [ask(SimpleNamespace(), attempt) for attempt in (2, 3)] == [2 * first, 4 * first]


def test_a_similarity_asks_for_what_its_metric_needs_whatever_its_label():
    demand = Demand(Plan.read(ROOT / "params.yaml"))
    ask = demand.mem_mb("similarity")
    of = {system: ask(SimpleNamespace(system=system), 1) for system in demand.plan.systems}
    assert of["bertscore"] > of["rouge"] > of["jaccard"]
    assert of["bm25"] == of["bm25_self"] == of["minilm"] == of["jaccard"]


def test_a_gpu_is_asked_for_where_a_model_is_to_run_on_one():
    plan = SimpleNamespace(
        models={
            "minilm": "minilm",
            "here": SimpleNamespace(device="cpu"),
            "there": SimpleNamespace(device="cuda"),
        }
    )
    asked = {model: Demand(plan).gpu(SimpleNamespace(model=model)) for model in plan.models}
    assert asked == {"minilm": 0, "here": 0, "there": 1}


def test_a_kubernetes_job_has_the_size_image_and_volume_that_were_asked_for(kubectl, tmp_path):
    folder, environment = kubectl
    script = tmp_path / "job.sh"
    script.write_text("pwd > here\n", encoding="utf-8")
    submit = [
        sys.executable, str(ROOT / "profiles/kubernetes/submit.py"), "--cpus", "2",
        "--mem-mb", "1844", "--minutes", "36", "--gpus", "1", str(script),
    ]  # fmt: skip
    name = _output(submit, environment, tmp_path)
    job = json.loads((folder / f"{name}.json").read_text())
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["resources"] == {
        "requests": {"cpu": "2", "memory": "1844M", "nvidia.com/gpu": "1"},
        "limits": {"memory": "1844M", "nvidia.com/gpu": "1"},
    }
    assert container["image"] == "python:3.11"
    assert container["volumeMounts"] == [{"name": "shared", "mountPath": str(tmp_path)}]
    assert pod["volumes"] == [{"name": "shared", "persistentVolumeClaim": {"claimName": "shelf"}}]
    assert job["spec"]["activeDeadlineSeconds"] == 36 * 60
    assert job["spec"]["backoffLimit"] == 0
    missing = {key: value for key, value in environment.items() if key != "SAGEBENCH_CLAIM"}
    done = subprocess.run(submit, env=missing, text=True, capture_output=True, check=False)
    assert done.returncode == 1
    assert "set SAGEBENCH_CLAIM" in done.stderr


@pytest.mark.parametrize(
    ("counts", "state"),
    [(",;", "running"), ("0,0;", "running"), ("1,;", "success"), ("1,0;", "success"),
     (",1;", "failed"), ("0,1;", "failed"), ("", "failed")],
)  # fmt: skip
def test_the_state_of_a_kubernetes_job_is_one_word(tmp_path, counts, state):
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f"#!/bin/sh\nprintf '%s' '{counts}'\n", encoding="utf-8")
    kubectl.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    status = ROOT / "profiles/kubernetes/status"
    assert _output([str(status), "a-job"], environment, tmp_path) == state
    for script in (status, status.with_name("cancel")):
        assert script.stat().st_mode & stat.S_IXUSR


def _output(command: list[str], environment: dict[str, str], folder: Path) -> str:
    return subprocess.run(
        command, env=environment, cwd=folder, text=True, check=True, stdout=subprocess.PIPE
    ).stdout.strip()


@pytest.mark.slow
@pytest.mark.workflow
def test_a_build_through_kubernetes_jobs_has_the_bytes_of_a_local_one(kubectl, tmp_path):
    pytest.importorskip(
        "snakemake_executor_plugin_cluster_generic", reason="the extra `cluster` is not installed"
    )
    folder, environment = kubectl
    target = "data/scores/clustering/bbc.units.parquet"
    local = Repository.create(tmp_path / "local" / "project")
    local.snakemake("--cores", "2", "--", target)
    remote = Repository.create(tmp_path / "remote" / "project")
    remote.snakemake(
        "--workflow-profile", "profiles/kubernetes", "--cores", "2",
        "--seconds-between-status-checks", "1", "--", target, **environment,
    )  # fmt: skip
    assert remote.digests("data") == local.digests("data")
    assert [path.read_text().strip() for path in folder.glob("*.exit")] == ["0"] * 3
    assert remote.planned("--", target) == []
