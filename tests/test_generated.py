"""Generated files are up to date, project files say the same, a release is the same bytes."""

import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT

from sagebench import BenchError, __version__, params_docs, registry, release
from sagebench.__main__ import main
from sagebench.lineage import records
from sagebench.params import Params, Robustness
from sagebench.results import results_files


def test_the_generated_parameter_page_is_the_committed_one(tmp_path: Path):
    assert main(["parameters", "--output", str(tmp_path / "parameters.md")]) == 0
    made = (tmp_path / "parameters.md").read_text(encoding="utf-8")
    committed = (ROOT / "docs/parameters.md").read_text(encoding="utf-8")
    assert made == committed, "run `python -m sagebench parameters`"


def test_every_generated_parameter_key_is_on_the_page():
    page = (ROOT / "docs/parameters.md").read_text(encoding="utf-8")
    keys = set(re.findall(r"^(?:\| |#+ )`([a-z0-9_.]+)`", page, flags=re.MULTILINE))
    keys = {key.rpartition(".")[2] for key in keys}

    def names(schema: dict[str, Any]) -> set[str]:
        return set(schema.get("properties", {}))

    schema = Params.model_json_schema()
    wanted = names(schema).union(*(names(part) for part in schema["$defs"].values()))
    assert wanted <= keys
    for kind in ("metric", "perturbation"):
        for name in registry.entries(kind):
            assert set(registry.load(kind, name).Parameters.model_fields) <= keys, name


def test_meanings_are_the_comments():
    found = params_docs.comments(Robustness)
    assert found["semantic"] == "edits that change it"
    assert found["reading"].startswith("all_then_mean: a condition holds if it holds for all")
    assert found["reading"].count(";") == 3


def _yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_project_files_say_the_same():
    citation, zenodo = _yaml("CITATION.cff"), json.loads((ROOT / ".zenodo.json").read_text())
    assert citation["version"] == zenodo["version"] == __version__
    assert [author["name"] for author in citation["authors"]] == [
        creator["name"] for creator in zenodo["creators"]
    ]
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert citation["license"].lower() == zenodo["license"]


def test_ci_and_container_use_what_is_there():
    ci = _yaml(".github/workflows/ci.yml")
    steps = [step for job in ci["jobs"].values() for step in job["steps"]]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]
    container = (ROOT / "Containerfile").read_text(encoding="utf-8")
    (version,) = re.findall(r"^FROM python:3\.(\d+)", container, flags=re.MULTILINE)
    assert int(version) >= 11
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for step in ("-r requirements.lock", "--no-deps --no-build-isolation --editable ."):
        assert step in " ".join(container.split())
        assert step in " ".join(makefile.split())
    assert (ROOT / ".dockerignore").read_bytes() == (ROOT / ".containerignore").read_bytes()
    assert _yaml(".snakemake-workflow-catalog.yml")["usage"]["software-stack-deployment"]["conda"]


def test_the_map_names_every_room():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for init in sorted((ROOT / "workflow/sagebench").glob("*/__init__.py")):
        assert f"`{init.parent.name}/`" in text, init.parent.name
    for kind in registry.PACKAGES:
        assert kind in text
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with everything that a release packs."""
    root = tmp_path / "project"
    for name in (*release.BESIDE, *release.FOLDERS):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, root / name)
    for path in [*results_files(Path("results")), records.FOLDER / "results.json"]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"made up for {path}")
    return root


def test_a_release_has_every_file_with_its_sha256(project: Path, tmp_path: Path):
    path = release.pack(project, tmp_path / "dist")
    assert path.name == f"sagebench-results-{__version__}.tar"
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path / "out", filter="data")
        assert archive.getnames()[0].endswith("/SHA256SUMS")
    folder = tmp_path / "out" / release.name()
    subprocess.run(["sha256sum", "-c", "--quiet", "--strict", "SHA256SUMS"], cwd=folder, check=True)
    packed = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    listed = {line[66:] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert packed == listed | {"SHA256SUMS"}
    assert {"dvc.lock", "data/provenance/results.json", "results/metrics.json"} < packed
    subprocess.run(["sha256sum", "-c", f"{path.name}.sha256"], cwd=path.parent, check=True)


def test_equal_results_are_equal_bytes(project: Path, tmp_path: Path):
    first = release.pack(project, tmp_path / "one").read_bytes()
    for number, path in enumerate(sorted(project.rglob("*"), reverse=True)):
        if path.is_file():
            copy = path.with_name(f"{path.name}.new")
            copy.write_bytes(path.read_bytes())
            copy.chmod(0o600 + number % 2 * 0o77)
            copy.replace(path)
    assert release.pack(project, tmp_path / "two").read_bytes() == first
    (project / "results/metrics.json").write_text("other")
    changed = release.pack(project, tmp_path / "three").read_bytes()
    assert hashlib.sha256(changed).digest() != hashlib.sha256(first).digest()
    with tarfile.open(fileobj=io.BytesIO(first)) as archive:
        assert {(m.mtime, m.uid, m.gid, m.uname, m.mode) for m in archive} == {(0, 0, 0, "", 0o644)}


def test_a_release_lacks_nothing(project: Path, tmp_path: Path):
    (project / "dvc.lock").unlink()
    with pytest.raises(BenchError, match=r"dvc\.lock is missing"):
        release.pack(project, tmp_path)
    assert not list(tmp_path.glob("*.tar"))
