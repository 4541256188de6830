"""What a run may meet on a shared machine: nothing is lost, nothing ends silently wrong.

Sized for every day; `make soak` runs more of each (SAGEBENCH_SOAK multiplies the numbers, and
SAGEBENCH_SOAK_SEED draws other moments).
"""

import os
import random
import resource
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dvc_support import Repository
from faults_support import (
    KINDS,
    SECONDS,
    WAYS,
    attempt,
    damage,
    kill_one,
    mounted,
    settle,
    shift_times,
)

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(3600)]

SOAK = int(os.environ.get("SAGEBENCH_SOAK", "1"))
FULL_DISKS = [
    ("size=16k", "No space left on device"),
    pytest.param("ro", "Read-only file system", marks=pytest.mark.slow),
]
SEED = int(os.environ.get("SAGEBENCH_SOAK_SEED", "2509"))
NOTHING = "Nothing to be done"


def test_killed_at_random_moments_a_build_ends_in_the_same_bytes(micro, record_property):
    """Any process of it, by either signal, under changing core counts, locales and clocks."""
    dice = random.Random(SEED)
    project = micro.clone("a füll höuse, 'quoted'")
    done: Counter[str] = Counter()
    while sum(done.values()) < 12 * SOAK:
        tool = dice.choice([("snakemake", "--cores", "1"), ("snakemake",), ("dvc", "repro")])
        result = kill_one(
            project, dice, *tool, PYTHONHASHSEED=str(dice.randrange(1000)),
            LC_ALL=dice.choice(["C", "POSIX", "C.UTF-8"]), TZ=dice.choice(["UTC", "Asia/Tokyo"]),
        )  # fmt: skip
        if result == "finished":
            folder = dice.choice(["samples", "perturbed", "scores"])
            shutil.rmtree(project.folder / "data" / folder, ignore_errors=True)
        elif result != "refused":
            done[result.split(" ")[0]] += 1
        if dice.random() < 0.3:
            shift_times(project, dice)
    settle(project)
    project.snakemake()
    assert project.artifacts() == micro.artifacts()
    assert project.dvc_is_clean()
    assert not [path for path in (project.folder / "data").rglob("*") if "tmp" in path.suffix]
    record_property("kills", dict(done))


def test_files_from_the_future_stand_in_no_ones_way(micro):
    """As after a clock was set back; else no job that reads them could end before that time."""
    project = micro.copy("future")
    for path in (project.folder / "data").rglob("*.parquet"):
        os.utime(path, (time.time() + 86_400,) * 2)
    assert NOTHING in project.snakemake("-n")
    shutil.rmtree(project.folder / "data/scores/clustering")
    assert "dated in the future" in project.snakemake()
    assert "dated in the future" not in project.snakemake()
    assert project.artifacts() == micro.artifacts()
    assert project.dvc_is_clean()


@pytest.mark.parametrize("left", [0.5, 0.97])
def test_half_a_lock_of_a_killed_dvc_is_written_anew(micro, left):
    project = micro.copy(f"half a lock {left}")
    lock = project.folder / "dvc.lock"
    whole = lock.read_text(encoding="utf-8")
    at = whole.index("path: ", int(left * len(whole))) + len("path:")
    lock.write_text(whole[:at] + "\n", encoding="utf-8")
    assert attempt(project, "dvc", "status").returncode != 0
    assert "written anew" in project.run("python", "-m", "sagebench", "commit")
    assert lock.read_text(encoding="utf-8") == whole
    assert project.dvc_is_clean()


@pytest.mark.parametrize(("options", "reason"), FULL_DISKS)
def test_a_full_or_read_only_disk_is_named_and_leaves_no_half_file(micro, options, reason):
    """Below each folder that jobs write to, one after the other."""
    project = micro.copy(f"disk {options}")
    for folder in KINDS:
        with _replaced(project.folder / folder, options) as saved:
            done = attempt(project, "snakemake", "--cores", "2")
            assert done.returncode != 0, folder
            assert reason in done.stdout, (folder, done.stdout[-3000:])
            for path in (project.folder / folder).rglob("*.parquet"):
                made = saved / path.relative_to(project.folder / folder)
                assert path.read_bytes() == made.read_bytes(), path
    project.snakemake()
    assert project.artifacts() == micro.artifacts()


@pytest.mark.slow
@pytest.mark.parametrize(("options", "reason"), FULL_DISKS)
def test_a_full_or_read_only_store_of_vectors_is_named(micro, options, reason):
    project = micro.copy(f"store {options}")
    with _replaced(project.folder / ".cache", options):
        shutil.rmtree(project.folder / "data/embeddings/clustering")
        done = attempt(project, "snakemake", "--cores", "2")
        assert done.returncode != 0
        assert "SAGEBENCH_STORE" in done.stdout, done.stdout[-3000:]
    project.snakemake()
    assert project.artifacts() == micro.artifacts()


@pytest.mark.parametrize(("options", "reason"), FULL_DISKS)
@pytest.mark.parametrize(
    "folder", [".dvc/cache", pytest.param("data/provenance", marks=pytest.mark.slow)]
)
def test_what_dvc_could_not_be_given_is_said_and_given_later(micro, folder, options, reason):
    """The results are there and good, so the run itself has not failed."""
    project = micro.copy(f"handover {folder.replace('/', ' ')} {options}")
    project.change({"bootstrap": {"resamples": 150}})
    with _replaced(project.folder / folder, options):
        done = attempt(project, "snakemake", "--cores", "2")
        assert done.returncode == 0
        assert "Not given to DVC" in done.stdout
        assert reason in done.stdout, done.stdout[-3000:]
        assert "Traceback" not in done.stdout
    assert not project.dvc_is_clean()
    project.run("python", "-m", "sagebench", "commit")
    assert project.dvc_is_clean()


@contextmanager
def _replaced(folder: Path, options: str) -> Iterator[Path]:
    """A small file system instead of the folder for a while; where its files are meanwhile."""
    saved = folder.with_name("saved")
    folder.rename(saved)
    with mounted(folder, options):
        yield saved
    folder.rmdir()
    saved.rename(folder)


@pytest.mark.parametrize("number", range(SOAK))
def test_a_damaged_file_of_every_kind_is_named_and_made_again(micro, number):
    dice = random.Random(SEED + number)
    project = micro.copy(f"damaged {number}")
    ways = dice.sample(WAYS * 3, len(KINDS))
    spoiled = {}
    for kind, way in zip(KINDS, ways, strict=True):
        files = sorted(p for p in (project.folder / kind).rglob("*") if p.is_file())
        path = dice.choice(files)
        before = path.read_bytes()
        damage(path, way, dice)
        assert path.read_bytes() != before
        spoiled[str(path.relative_to(project.folder))] = way
    told = project.run("python", "-m", "sagebench", "verify", "--sample", "0", check=False)
    for name, way in spoiled.items():
        assert name in told, (name, way, told)
    assert not project.dvc_is_clean()
    project.snakemake()
    assert project.artifacts() == micro.artifacts()
    assert project.dvc_is_clean()


def test_times_from_another_clock_change_nothing(micro):
    project = micro.copy("clock")
    shift_times(project, random.Random(SEED))
    assert NOTHING in project.snakemake("-n")


def test_other_line_endings_change_nothing(micro):
    project = micro.copy("endings")
    path = project.folder / "params.yaml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert NOTHING in project.snakemake("-n")


def test_of_two_runs_started_at_once_one_is_refused_and_the_other_finishes(micro):
    project = micro.copy("two at once")
    shutil.rmtree(project.folder / "data/scores")
    runs = [
        subprocess.Popen(
            ["snakemake"],
            cwd=project.folder,
            env=project.environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for _ in range(2)
    ]
    outputs = [run.communicate(timeout=SECONDS)[0] for run in runs]
    codes = sorted(run.returncode for run in runs)
    assert codes == [0, 1], outputs
    assert sum("another run is at work" in output for output in outputs) == 1
    assert project.artifacts() == micro.artifacts()


@pytest.mark.parametrize(
    ("limit", "values"),
    [
        (resource.RLIMIT_AS, [2**28, 2**29, 2**30, 3 * 2**29, 2**31]),
        (resource.RLIMIT_NOFILE, [8, 16, 32, 64]),
        (resource.RLIMIT_FSIZE, [2**10, 2**14]),
    ],
    ids=["memory", "open files", "file size"],
)
def test_under_a_tight_limit_a_job_gives_the_same_bytes_or_says_why_not(micro, limit, values):
    project = micro.copy(f"limit {limit}")
    target = project.folder / "data/similarity/clustering/bbc/jaccard.parquet"
    wanted = target.read_bytes()
    for value in values:
        target.unlink(missing_ok=True)
        done = attempt(
            project, "python", "-m", "sagebench", *_similarity_job(project),
            limit=(limit, value),
        )  # fmt: skip
        if done.returncode == 0:
            assert target.read_bytes() == wanted
        else:
            assert not target.exists(), value
            assert done.stdout.strip(), value
    target.unlink(missing_ok=True)
    project.snakemake()
    assert project.artifacts() == micro.artifacts()


def _similarity_job(project: Repository) -> list[str]:
    """The command of the job that makes the file, as Snakemake would run it."""
    from sagebench.corpora import catalogue
    from sagebench.jobs import Jobs
    from sagebench.params import read
    from sagebench.plan import Plan

    plan = Plan(read(project.folder / "params.yaml"), catalogue.load())
    spec = Jobs(plan).similarity_spec("clustering", "bbc", "jaccard")
    output = "data/similarity/clustering/bbc/jaccard.parquet"
    return ["similarity", output, "--data", "data", "--spec", spec]
