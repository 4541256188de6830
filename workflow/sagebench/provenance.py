"""Digests of code and files: what a job's result depends on besides its inputs."""

import ast
import hashlib
import io
import tokenize
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parent
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING}


def file_sha256(path: Path | str) -> str:
    """Hex sha256 of a file's bytes, read in blocks."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def code_digest(*entry_modules: str) -> str:
    """Hex digest (16 digits) of the modules and of every module of this package they import.

    Snakemake looks only at a rule's own command, so each rule carries this digest as a
    parameter. Comments and blank lines do not count; imports inside functions do.
    """
    digest = hashlib.sha256()
    for module in imported_modules(*entry_modules):
        digest.update(f"{module}\0{_source_digest(module)}\0".encode())
    return digest.hexdigest()[:16]


def imported_modules(*entry_modules: str) -> list[str]:
    """The transitive closure of imports within this package, sorted by dotted name."""
    todo, seen = list(entry_modules), set()
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo.extend(_direct_imports(module))
    return sorted(seen)


def module_file(module: str) -> Path:
    """A module's file, relative to this package."""
    path = _path(module)
    if path is None:
        raise ModuleNotFoundError(module)
    return path.relative_to(_ROOT)


def _path(module: str) -> Path | None:
    parts = module.split(".")
    if parts[0] != _ROOT.name:
        return None
    base = _ROOT.joinpath(*parts[1:])
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _direct_imports(module: str) -> tuple[str, ...]:
    names: list[str] = []
    source = (_ROOT / module_file(module)).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(sorted({name for name in names if _path(name) is not None}))


@cache
def _source_digest(module: str) -> str:
    source = (_ROOT / module_file(module)).read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    kept = "\0".join(token.string for token in tokens if token.type not in _SKIPPED)
    return hashlib.sha256(kept.encode()).hexdigest()
