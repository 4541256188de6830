"""The packages that are installed, beside the ones that the lock names."""

import ast
import platform
import re
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from sagebench import provenance, registry
from sagebench.audit.history import ORDER, Job

COLUMNS = ("package", "installed", "locked", "state")


def rows(lock: Path) -> list[dict[str, str]]:
    """One row per package of the lock or of this environment, sorted by name; Python first.

    `state` is "as locked", "differs", "not installed" or "not locked". A local version
    ("2.13.0+cpu") is the same release as the one without it.
    """
    locked, installed = pins(lock), _installed()
    python = dict(
        zip(COLUMNS, ("python", platform.python_version(), "", "not locked"), strict=True)
    )
    names = sorted(locked.keys() | installed.keys())
    return [python, *(_row(name, installed.get(name, ""), locked.get(name, "")) for name in names)]


def of(job: Job) -> str:
    """The packages that the job's modules import, with the versions installed here: "a 1; b 2"."""
    if job.name not in ORDER:
        return ""  # a command of the user's own
    modules = provenance.imported_modules(
        f"sagebench.commands.{job.name}",
        *(registry.entries(kind)[name].module for kind, name in _loaded(job)
          if name in registry.entries(kind)),
    )  # fmt: skip
    imported = {name for module in modules for name in _imports(module)}
    distributions, installed = _distributions(), _installed()
    packages = {
        _normal(package) for name in imported for package in distributions.get(name, [])
    } - {"sagebench"}
    return "; ".join(f"{name} {installed[name]}" for name in sorted(packages & installed.keys()))


def _loaded(job: Job) -> list[tuple[str, str]]:
    """What a command loads by name, from its parameters."""
    spec: dict[str, Any] = job.spec
    if job.name in ("embed", "similarity", "score"):
        found = [("task", spec["kind"])]
        if job.name == "embed":
            entry = spec.get("entry") or {"backend": "sentence_transformer"}
            found.append(("encoder", entry["backend"]))
        elif metric := spec.get("system", {}).get("metric"):
            found.append(("metric", metric))
        return found
    if job.name == "perturb":
        return [("perturbation", spec["name"])]
    return [("parser", spec["parser"])] if job.name == "corpus" else []


@cache
def _imports(module: str) -> frozenset[str]:
    """Top-level names that a module of this package imports, also inside functions."""
    package = Path(provenance.__file__).parent
    tree = ast.parse((package / provenance.module_file(module)).read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names)


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())


@cache
def _installed() -> dict[str, str]:
    found = {_normal(each.metadata["Name"]): each.version for each in metadata.distributions()}
    found.pop("sagebench", None)  # this project itself: its code has digests of its own
    return found


def _row(name: str, installed: str, locked: str) -> dict[str, str]:
    if not locked:
        state = "not locked"
    elif not installed:
        state = "not installed"
    else:
        same = installed == locked or installed.partition("+")[0] == locked
        state = "as locked" if same else "differs"
    return {"package": name, "installed": installed, "locked": locked, "state": state}


def pins(path: Path) -> dict[str, str]:
    """Name -> version of a list of pins."""
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    pins = [line.partition("#")[0].strip().partition("==") for line in lines]
    return {_normal(name): version for name, mark, version in pins if mark}


def _normal(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
