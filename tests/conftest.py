"""Shared fixtures: verified sources, the benchmark data beside the project, a finished build."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import huggingface_hub.constants  # noqa: F401 - reads the environment once: now, before any command
import pytest
from dvc_support import Repository
from workflow_support import Project
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[1]


_USES_BUILD = re.compile(r"^def \w+\([^)]*\b(built|micro)\b", flags=re.MULTILINE)


@cache
def _group(path: str) -> str:
    """What runs in one worker: a file, or all files whose tests share a finished build."""
    found = _USES_BUILD.search((ROOT / path).read_text(encoding="utf-8"))
    return found[1] if found else path


class _ByBuild(LoadScopeScheduling):
    """pytest-xdist's own groups are lost on this version of pytest."""

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> _ByBuild:
    """Used whatever --dist says."""
    return _ByBuild(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The groups that build something take longest, so they come first."""
    items.sort(key=lambda item: "/" in _group(item.nodeid.partition("::")[0]))


@pytest.fixture(autouse=True)
def _asked_as_before() -> Iterator[None]:
    """A command that a test runs in this process forbids to ask the Hub, and leaves it so."""
    before = os.environ.get("HF_HUB_OFFLINE")
    yield
    if before is None:
        os.environ.pop("HF_HUB_OFFLINE", None)


@pytest.fixture(scope="session")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`raw("cl100k", "minilm")` -> a data/raw folder that holds these sources, hash-checked.

    Archives come from the per-user cache, so only the first run on a machine downloads.
    """
    from sagebench.corpora.fetch import fetch

    folder = tmp_path_factory.mktemp("raw")

    def provide(*sources: str) -> Path:
        for source in sources:
            if not (folder / source).exists():
                fetch(source, folder / source, progress=False)
        return folder

    return provide


@pytest.fixture(scope="session")
def shared() -> Path:
    """Published benchmark data and scores to check against; the product never needs it."""
    folder = Path(os.environ.get("SAGE_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no benchmark data at {folder} (set SAGE_SHARED)")
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """An undisturbed smoke build on two cores, by the README's command, in a path with a space."""
    project = Project(tmp_path_factory.mktemp("build") / "a folder")
    tools = Path(sys.executable).parent  # the environment that runs the tests stands in for .venv
    project.run(
        "make", "-o", ".venv/.installed", "results", "SIZE=smoke", f"BIN={tools}",
        PYTHONHASHSEED="1",
    )  # fmt: skip
    return project


# In the processes of the micro build's jobs: what was imported, told at the end.
_SPY = """
import atexit, json, os, sys

def tell():
    modules = [name for name in sys.modules if name.partition(".")[0] == "sagebench"]
    with open(os.path.join(os.environ["SPY"], f"{os.getpid()}.json"), "w") as stream:
        json.dump({"command": sys.argv[1:], "modules": modules}, stream)

atexit.register(tell)
"""


@pytest.fixture(scope="session")
def spy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that fills with one file per process of the build of `micro`."""
    folder = tmp_path_factory.mktemp("spy")
    (folder / "sitecustomize.py").write_text(_SPY, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def micro(tmp_path_factory: pytest.TempPathFactory, spy: Path) -> Repository:
    """A micro build by Snakemake alone, committed and pushed to a folder; never changed."""
    made = Repository.create(tmp_path_factory.mktemp("micro") / "a project")
    made.snakemake(PYTHONPATH=f"{made.folder}/workflow{os.pathsep}{spy}", SPY=str(spy))
    made.commit("built")
    made.run("dvc", "push", "-q")
    return made
