"""The documentation builds without a warning, links to what is there and loads nothing else."""

import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from conftest import ROOT

import sagebench


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocstrings", reason="pip install -r requirements-docs.lock")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def pages(site: Path) -> dict[Path, str]:
    found = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    return {path: text for path, text in found.items() if path.name != "404.html"}


def test_every_link_of_the_site_is_there(site: Path):
    texts = pages(site)
    checked = 0
    for path, text in texts.items():
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            parts = urlsplit(target)
            if parts.scheme or not parts.path:
                continue
            found = (path.parent / unquote(parts.path)).resolve()
            assert found.exists(), (path, target)
            checked += 1
    assert checked > 100


def test_nothing_is_loaded_from_elsewhere(site: Path):
    loads = r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:https?:)?//[^"]*"'
    for path, text in pages(site).items():
        found = [tag for tag in re.findall(loads, text) if "canonical" not in tag]
        assert not found, path


def test_every_module_and_public_page_is_in_the_reference(site: Path):
    reference = "".join(text for path, text in pages(site).items() if "reference" in path.parts)
    for module in pkgutil.walk_packages(sagebench.__path__, "sagebench."):
        if "__" not in module.name:
            assert f'id="{module.name}"' in reference, module.name
    assert 'id="sagebench.evaluate"' in reference
    for path in (ROOT / "docs").glob("*.md"):
        assert (site / path.with_suffix(".html").name).exists()
    index = (site / "index.html").read_text(encoding="utf-8")
    assert "Two commands" in index
    assert "(<code>tests/test_dvc_truth.py</code>)" not in index  # the name is the link's text
