"""Scratch repositories of Git and DVC around the project, at a size that builds in a minute."""

import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import yaml
from workflow_support import ROOT, Project, jobs

# Every task, rule and kind of system once.
_NEEDLES = {"sizes": [0.5], "positions": [0.5]}
MICRO = {
    "size": "micro",
    "tasks": {
        "human_preference": {
            "preferences": ["cnn_dailymail_choices"],
            "ratings": ["cnn_dailymail_ratings"],
            "pairs": 4,
            "items": 4,
        },
        "robustness": {
            "corpora": ["cnn_dailymail"],
            "documents": 2,
            "superficial": ["random_capitalization"],
            "semantic": ["word_shuffling"],
        },
        "sensitivity": {
            "corpora": ["cnn_dailymail"],
            "documents": 2,
            "insertion": _NEEDLES,
            "removal": _NEEDLES,
        },
        "clustering": {"corpora": ["bbc"], "texts": 12},
        "retrieval": {
            "corpora": ["semanlink_arxiv"],
            "documents": 4,
            "transforms": ["random_capitalization"],
            "insertion": _NEEDLES,
            "removal": _NEEDLES,
        },
    },
    "agreement": {"documents": 2, "systems": ["jaccard"]},
    "references": ["constant_1"],
    "models": ["glove"],
    "bootstrap": {"resamples": 100},
}
METRICS = {"bm25": {"k1": 1.5, "b": 0.75, "normalise": "batch"}, "jaccard": {}}


class Repository(Project):
    """A scratch project under Git and DVC; clones of it share one folder as remote."""

    @classmethod
    def create(cls, folder: Path) -> "Repository":
        """A micro project with one commit and nothing built."""
        made = cls(folder)
        made.change(MICRO)
        made.replace(metrics=METRICS)
        for name in (".gitignore", "requirements.lock", "LICENSE", "README.md"):
            shutil.copy(ROOT / name, folder)
        made.run("python", "-m", "sagebench", "dvc")
        made.run("git", "init", "-q", "-b", "main")
        made.run("dvc", "remote", "add", "-f", "-d", "shelf", str(folder.parent / "shelf"))
        made.commit("start")
        return made

    def clone(self, name: str) -> "Repository":
        """A fresh clone beside this one: no data, no cache, no .snakemake."""
        folder = self.folder.parent / name
        self.run("git", "clone", "-q", str(self.folder), str(folder))
        return self.at(folder)

    def pulled(self, name: str) -> "Repository":
        """A fresh clone after `dvc pull`."""
        other = self.clone(name)
        other.run("dvc", "pull", "-q")
        return other

    def copy(self, name: str) -> "Repository":
        """Everything as it is, file times included."""
        folder = self.folder.parent / name
        shutil.copytree(self.folder, folder, symlinks=True)
        return self.at(folder)

    @classmethod
    def at(cls, folder: Path) -> "Repository":
        """A repository that is already there."""
        other = cls.__new__(cls)
        other.folder = folder
        return other

    def environment(self, **extra: str) -> dict[str, str]:
        who = {f"GIT_{role}_{what}": "test@example.org"
               for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}  # fmt: skip
        return super().environment(DVC_NO_ANALYTICS="1", **who) | extra

    def replace(self, **sections: object) -> None:
        """Edit params.yaml: whole top-level sections."""
        path = self.folder / "params.yaml"
        loaded = yaml.safe_load(path.read_text(encoding="utf-8")) | sections
        path.write_text(yaml.safe_dump(loaded, sort_keys=False), encoding="utf-8")

    def commit(self, message: str) -> None:
        """Commit everything to Git."""
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "--allow-empty", "-m", message)

    def dvc_is_clean(self) -> bool:
        """Whether `dvc status` finds nothing changed."""
        return "up to date" in self.run("dvc", "status")

    @contextlib.contextmanager
    def changed(self, overlay: dict) -> Iterator[None]:
        """Edit params.yaml for a while."""
        path = self.folder / "params.yaml"
        saved = path.read_text(encoding="utf-8")
        self.change(overlay)
        try:
            yield
        finally:
            path.write_text(saved, encoding="utf-8")

    def ran(self) -> list[str]:
        """Run Snakemake; the jobs that it started, as `planned` names them."""
        return jobs(self.snakemake("--quiet", "host"))

    def reproduced(self) -> list[str]:
        """Run `dvc repro`; the stages that it ran."""
        return re.findall(r"Running stage '(.*)'", self.run("dvc", "repro"))

    def changed_stages(self) -> set[str]:
        """The stages that `dvc status` lists."""
        return set(re.findall(r"^([a-z_-]+):$", self.run("dvc", "status"), flags=re.MULTILINE))

    def tasks(self) -> list[str]:
        """The tasks, by their folders."""
        return sorted(path.name for path in (self.folder / "data/scores").iterdir())

    def artifacts(self) -> dict[str, str]:
        """sha256 of every artifact, records included."""
        return self.digests("data", "results")

    def times(self) -> dict[str, int]:
        """Modification time of every artifact: a file that was written again has another."""
        paths = [p for top in ("data", "results") for p in (self.folder / top).rglob("*")]
        return {str(p.relative_to(self.folder)): p.stat().st_mtime_ns for p in paths if p.is_file()}
