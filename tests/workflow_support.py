"""Scratch copies of the project in which the workflow is really run."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import yaml

from sagebench import provenance

ROOT = Path(__file__).resolve().parents[1]
_COPIED = (
    "Snakefile",
    "Makefile",
    "params.yaml",
    "requirements.lock",
    "requirements-bench.lock",
    "dvc.yaml",
    "config",
    "profiles",
    "workflow",
    ".dvc",
    ".dvcignore",
)


class Project:
    """A copy of the project's sources in a folder of its own; its code is what runs there."""

    def __init__(self, folder: Path, overlay: str = "smoke") -> None:
        """The overlay becomes part of the copy's params.yaml, as if a user had edited it."""
        self.folder = folder
        folder.mkdir(parents=True)
        for name in _COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(
                    "__pycache__", "cache", "tmp", "*.egg-info"))  # fmt: skip
            elif source.is_file():
                shutil.copy(source, folder / name)
        self.change(yaml.safe_load((ROOT / "config" / f"{overlay}.yaml").read_text()))

    def change(self, overlay: dict) -> None:
        """Edit params.yaml: mappings merge, other values replace."""
        from sagebench.params import merge

        path = self.folder / "params.yaml"
        merged = merge(yaml.safe_load(path.read_text(encoding="utf-8")), overlay)
        path.write_text(yaml.safe_dump(merged, sort_keys=False), encoding="utf-8")

    def environment(self, **extra: str) -> dict[str, str]:
        """The tests' environment with the copy's code first on the path."""
        workflow = str(self.folder / "workflow")
        path = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
        # Commands that a test runs in its own process set it, and leave it set.
        given = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
        return given | {"PYTHONPATH": workflow, "PYTHONUTF8": "1", "PATH": path} | extra

    def run(self, *command: str, check: bool = True, **environment: str) -> str:
        """Run a command in the copy; its combined output."""
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment(**environment), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        if check and done.returncode:
            raise AssertionError(f"{command} exited with {done.returncode}:\n{done.stdout[-6000:]}")
        return done.stdout

    def snakemake(self, *arguments: str, check: bool = True, **environment: str) -> str:
        """Run Snakemake in the copy."""
        return self.run("snakemake", *arguments, check=check, **environment)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command in a process group of its own."""
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment(), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def planned(self, *arguments: str) -> list[str]:
        """The jobs that a dry run lists, as their messages, sorted."""
        return jobs(self.snakemake("-n", "--quiet", "host", *arguments))

    def digests(self, *folders: str) -> dict[str, str]:
        """sha256 of every file below the folders, by relative path."""
        paths = [p for folder in folders for p in (self.folder / folder).rglob("*") if p.is_file()]
        return {
            str(path.relative_to(self.folder)): provenance.file_sha256(path)
            for path in sorted(paths)
        }

    def summary(self) -> pl.DataFrame:
        """results/tables/summary.csv."""
        return pl.read_csv(self.folder / "results/tables/summary.csv")

    def metrics(self) -> dict:
        """results/metrics.json."""
        return json.loads((self.folder / "results/metrics.json").read_text())


def jobs(output: str) -> list[str]:
    """The messages of the jobs that Snakemake lists, sorted."""
    return sorted(re.findall(r"^Job \d+: (.*)$", output, flags=re.MULTILINE))


def kill(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to the whole process group, as when a machine is switched off."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
