"""The sections by name, and where their files lie."""

import importlib
from pathlib import Path

from sagebench.bench.measure import Place, Section
from sagebench.corpora.files import write_bytes

SECTIONS = {
    "run": "run:measure",
    "similarities": "kernels:measure",
    "embedding": "embedding:measure",
    "scifact": "scifact:measure",
    "clustering": "memory:measure_clustering",
    "retrieval": "memory:measure_retrieval",
    "stages": "stages:measure",
    "store": "stores:measure",
    "perturbations": "perturbations:measure",
}


def measure(name: str, place: Place, folder: Path) -> Section:
    """Measure one section and keep it as results/bench/<name>.json."""
    module, _, function = SECTIONS[name].partition(":")
    place.scratch.mkdir(parents=True, exist_ok=True)
    found = getattr(importlib.import_module(f"sagebench.bench.{module}"), function)(place)
    write_bytes(folder / f"{name}.json", found.to_json().encode())
    return found


def kept(folder: Path) -> dict[str, Section]:
    """The sections that were measured, in order."""
    files = {name: folder / f"{name}.json" for name in SECTIONS}
    return {
        name: Section.from_json(path.read_text(encoding="utf-8"))
        for name, path in files.items()
        if path.exists()
    }
