"""Shared fixtures: verified sources, the benchmark data beside the project, a finished build."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from workflow_support import Project

ROOT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A file's tests stay in one worker, and so do all tests that use the one finished build."""
    for item in items:
        shares_build = "built" in getattr(item, "fixturenames", ())
        item.add_marker(pytest.mark.xdist_group("build" if shares_build else item.path.stem))


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
