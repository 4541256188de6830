"""What lies in the folder of stores, whether it is sound, and away with what nothing asks for."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sagebench import registry
from sagebench.embeddings.base import build
from sagebench.embeddings.keys import vector_key
from sagebench.embeddings.store import FOLDER, FOLDER_VARIABLE, Stat, Store
from sagebench.errors import BenchError
from sagebench.layout import read_inputs
from sagebench.plan import Plan


def folder_of_stores() -> Path:
    """$SAGEBENCH_STORE, or .cache/embeddings."""
    return Path(os.environ.get(FOLDER_VARIABLE) or FOLDER)


def stats(folder: Path) -> list[Stat]:
    """What each store of the folder holds, by name."""
    return [store.stat() for store in _stores(folder)]


def verify(folder: Path) -> list[tuple[Path, int]]:
    """Each store and its number of vectors, after every byte of them was checked.

    BenchError that names the damaged store; nothing is moved or changed.
    """
    return [(store.path, store.verify()) for store in _stores(folder)]


def collect(plan: Plan, data: Path, folder: Path, dry_run: bool = False) -> Iterator[str]:
    """Delete vectors that no text of the plan has under a model of the plan; a line on each store.

    Stores of other models or older versions of them go as a whole, and so do damaged files that
    were set aside. Reads every text once per model, as `embed` does: minutes for a large plan.
    BenchError if a text of the plan is not there yet: its vectors would seem unused.
    """
    texts = {name: _texts(plan, name, data) for name, task in plan.tasks.items() if task.models}
    current = set()
    for model in plan.models.values():
        encoder = build(model if isinstance(model, str) else model.model_dump(), data / "raw")
        shown = set().union(*texts.values())
        wanted = {vector_key(encoder.fingerprint, encoder.read(text).visible) for text in shown}
        with Store.of(encoder, folder) as store:
            current.add(store.path)
            before = store.stat()
            unused = store.unused(wanted) if dry_run else store.keep_only(wanted)
            yield f"{before.path.name}: {unused} of {before.vectors} vectors unused"
    for path in sorted(folder.glob("*.sqlite")):
        if path not in current:
            yield f"{path.name}: no model of the plan, {path.stat().st_size / 1e6:.0f} MB"
            _delete(path, dry_run)
    for path in sorted(folder.glob("*.damaged-*")):
        yield f"{path.name}: set aside, {path.stat().st_size / 1e6:.0f} MB"
        _delete(path, dry_run)


def _texts(plan: Plan, name: str, data: Path) -> set[str]:
    task = plan.tasks[name]
    missing = [
        data.joinpath(*path.parts[1:])
        for corpus in task.corpora
        for path in plan.task_inputs(name, corpus)
        if not data.joinpath(*path.parts[1:]).exists()
    ]
    if missing:
        raise BenchError(
            f"{missing[0]} is missing ({len(missing)} files in all): only with every text of the "
            "plan can unused vectors be told; run `snakemake --cores all` first"
        )
    found: set[str] = set()
    for corpus in task.corpora:
        inputs = read_inputs(data, name, corpus, plan.role(corpus), list(task.perturbations))
        found.update(registry.load("task", task.kind)().texts(inputs))
    return found


def _stores(folder: Path) -> Iterator[Store]:
    """The folder's stores, one open at a time; BenchError for a file that is none."""
    for path in sorted(folder.glob("*.sqlite")):
        with Store(path, _width(path)) as store:
            yield store


def _width(path: Path) -> int:
    """Numbers in a vector of the store; 0 if it has none. Opening it as a store would repair it."""
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            row = connection.execute("SELECT length(vector) FROM vectors LIMIT 1").fetchone()
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        raise BenchError(f"{path} is damaged ({error}); delete it to rebuild it") from error
    return row[0] // 4 if row else 0


def _delete(path: Path, dry_run: bool) -> None:
    if not dry_run:
        for beside in (path, Path(f"{path}-wal"), Path(f"{path}-shm"), path.with_suffix(".locks")):
            beside.unlink(missing_ok=True)
