"""Shared fixtures: verified sources, the benchmark data beside the project, scratch projects."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


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
