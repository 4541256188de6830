"""Faults on purpose: killed processes, full and read-only disks, damaged files, tight limits."""

import os
import random
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from dvc_support import Repository

# What a build writes, by kind; a file of any kind may be damaged, a disk full below any folder.
KINDS = (
    "data/raw",
    "data/corpora",
    "data/samples",
    "data/perturbed",
    "data/embeddings",
    "data/similarity",
    "data/scores",
    "results/tables",
    "results/figures",
)
SECONDS = 300  # no run of the micro project may take longer


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A small file system of its own over the folder, hiding what is in it; skips without root."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def kill_one(project: Repository, dice: random.Random, *command: str, **extra: str) -> str:
    """Run a command; after a random while send a random signal to one random process of it.

    The others are left to themselves, as after a real accident. Returns what was done, or
    "finished" if the command ended before, or "refused" if it ended with an error: an orphan of an
    earlier accident may still be at work.
    """
    process = subprocess.Popen(
        command, cwd=project.folder, env=project.environment(**extra), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    time.sleep(dice.uniform(0.2, 7))
    number = dice.choice([signal.SIGKILL, signal.SIGTERM])
    if process.poll() is not None:
        return "refused" if process.returncode else "finished"
    try:
        family = [psutil.Process(process.pid)]
        family += family[0].children(recursive=True)
        victim = dice.choice(family)
        name = " ".join(victim.cmdline()[:4])
        victim.send_signal(number)
    except psutil.NoSuchProcess:
        return kill_one(project, dice, *command, **extra)
    process.wait(SECONDS)
    return f"{number.name} {name}"


def settle(project: Repository) -> None:
    """Wait until no orphan works in the project any more."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        places = [process.info["cwd"] for process in psutil.process_iter(["cwd"])]
        if str(project.folder) not in places:
            return
        time.sleep(0.5)
    raise AssertionError(f"somebody still works in {project.folder}")


def damage(path: Path, way: str, dice: random.Random) -> None:
    """Spoil a file: one byte flipped, its end cut off, nothing left, another file in its place."""
    content = path.read_bytes()
    place = dice.randrange(len(content))
    if way == "flipped":
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    elif way == "truncated":
        path.write_bytes(content[:place])
    elif way == "empty":
        path.write_bytes(b"")
    else:
        siblings = [p for p in path.parent.rglob(f"*{path.suffix}") if p.is_file()]
        others = [p for p in siblings if p.read_bytes() != content]
        path.write_bytes(dice.choice(others).read_bytes() if others else content[::-1])


WAYS = ("flipped", "truncated", "empty", "swapped")


def shift_times(project: Repository, dice: random.Random) -> None:
    """Give random artifacts times of other days, as a clock that jumps would."""
    for path in sorted((project.folder / "data").rglob("*.parquet")):
        if dice.random() < 0.3:
            moment = time.time() + dice.choice([-1, 1]) * dice.uniform(60, 400 * 86400)
            os.utime(path, (moment, moment))


def attempt(
    project: Repository, *command: str, limit: tuple[int, int] | None = None, **extra: str
) -> subprocess.CompletedProcess[str]:
    """Run a command that may fail, under a limit (resource, value); output is combined."""
    before = None if limit is None else lambda: resource.setrlimit(limit[0], (limit[1], limit[1]))
    return subprocess.run(
        command, cwd=project.folder, env=project.environment(**extra), text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, preexec_fn=before,
    )  # fmt: skip
