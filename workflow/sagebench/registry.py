"""What exists, by name: perturbations, metrics, encoders, corpus parsers, tasks.

A class or function becomes known by the decorator `@register(kind, name)` in a module of the
kind's package; nothing else has to be edited. Names are found by reading the source, without
importing it, so that checking a parameter file never loads a model library. `needs` names the
sources of the catalogue whose files the thing reads (`@register("metric", "rouge",
needs=("cl100k",))`): the workflow makes them inputs.
"""

import ast
import difflib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sagebench.errors import BenchError

PACKAGES = {
    "perturbation": "perturbations",
    "metric": "metrics",
    "encoder": "embeddings",
    "parser": "corpora/parsers",
    "task": "tasks",
}
_ROOT = Path(__file__).parent
_registered: dict[tuple[str, str], Any] = {}
T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """Where a name is registered, and the catalogue sources it reads."""

    module: str
    needs: tuple[str, ...] = ()


def register(kind: str, name: str, needs: tuple[str, ...] = ()) -> Callable[[T], T]:
    """Make the decorated class or function available as `load(kind, name)`.

    The arguments must be literals: they are read from the source.
    """
    del needs  # read from the source by `entries`
    if kind not in PACKAGES:
        raise KeyError(kind)

    def decorate(thing: T) -> T:
        _registered[kind, name] = thing
        return thing

    return decorate


@cache
def entries(kind: str) -> dict[str, Entry]:
    """name -> Entry, sorted by name; read from the source, nothing is imported."""
    found: dict[str, Entry] = {}
    for path in sorted((_ROOT / PACKAGES[kind]).glob("*.py")):
        module = ".".join(["sagebench", *PACKAGES[kind].split("/"), path.stem])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for decorator in getattr(node, "decorator_list", []):
                registration = _registration(decorator)
                if registration is None or registration[0] != kind:
                    continue
                _, name, needs = registration
                if name in found:
                    raise BenchError(
                        f"{kind} {name!r} is registered by {found[name].module} and {module}"
                    )
                found[name] = Entry(module, needs)
    return dict(sorted(found.items()))


def _registration(decorator: ast.expr) -> tuple[str, str, tuple[str, ...]] | None:
    match decorator:
        case ast.Call(
            func=ast.Name(id="register"),
            args=[ast.Constant(value=str(kind)), ast.Constant(value=str(name))],
            keywords=keywords,
        ):
            needs = {word.arg: ast.literal_eval(word.value) for word in keywords}.get("needs", ())
            return kind, name, tuple(needs)
    return None


def check(kind: str, name: str) -> str:
    """`name` itself if it is registered; otherwise a BenchError with the nearest names."""
    if name not in entries(kind):
        raise unknown(kind, name, entries(kind))
    return name


def unknown(what: str, name: str, valid: Any) -> BenchError:
    """The error for a name that does not exist, with the nearest valid names."""
    valid = sorted(valid)
    near = difflib.get_close_matches(str(name), valid, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "no name is close."
    return BenchError(f"unknown {what} {name!r}: {hint} Valid: {', '.join(valid)}")


def load(kind: str, name: str) -> Any:
    """The registered class or function; imports only the module that defines it."""
    importlib.import_module(entries(kind)[check(kind, name)].module)
    return _registered[kind, name]
