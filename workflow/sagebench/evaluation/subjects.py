"""What is evaluated: a function, an object, a model or metric by name, each as a `Subject`."""

import importlib
import inspect
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from sagebench import registry
from sagebench.embeddings.base import Encoder, build
from sagebench.embeddings.embed import embed
from sagebench.embeddings.store import Store
from sagebench.errors import BenchError
from sagebench.evaluation.functions import OwnSimilarity, encode_all
from sagebench.evaluation.workspace import Workspace, folder
from sagebench.metrics.base import Metric
from sagebench.params import Model
from sagebench.tables.context import System as Row
from sagebench.tasks.base import System

Embed = Callable[[Iterable[str]], pl.DataFrame]


@dataclass(frozen=True)
class Subject:
    """A system and its row: either `embed`, from texts to frames.EMBEDDINGS, or `metric`.

    `packaged`: its similarities depend on parameters and code alone, so they may be kept.
    `knows_tokens`: whether its embeddings say what was truncated.
    """

    row: Row
    embed: Embed | None = None
    metric: Callable[[], System] | None = None
    packaged: bool = False
    knows_tokens: bool = True


def packaged(row: Row, workspace: Workspace) -> Subject:
    """A system of the workspace's plan."""
    plan, raw = workspace.plan, workspace.raw
    if row.name in plan.models:

        def embed_all(texts: Iterable[str]) -> pl.DataFrame:
            workspace.fetch(plan.model_files(row.name))
            return _embed(build(plan.models[row.name], raw), texts)

        return Subject(row, embed=embed_all)
    metric, options = plan.metrics[row.name]

    def load() -> System:
        workspace.fetch(plan.needs("metric", metric))
        found: System = registry.load("metric", metric)(raw=raw, **options)
        return found

    return Subject(row, metric=load, packaged=True)


def own(given: object, name: str, batch: int, names: Collection[str]) -> Subject:
    """The user's own system, called `name`.

    `given` is a function of one list of texts (encode) or of two (similarity), an object with
    such a method `encode`, an Encoder or Metric of sagebench, the text "module:function", or a
    folder or Hub id (with its owner) of a sentence-transformers model. BenchError if it is none
    of these; `names` are the packaged ones that may have been meant.
    """
    if isinstance(given, str) and ":" in given and not Path(given).exists():
        given = imported(given)
    if isinstance(given, str) and "/" not in given and not Path(given).exists():
        raise registry.unknown("model or metric", given, names)
    if isinstance(given, str | Path):
        return Subject(Row(name, name, "embedding"), embed=partial(_embed_own, name, str(given)))
    if isinstance(given, Encoder):
        return Subject(Row(name, name, "embedding"), embed=partial(_embed, given))
    if isinstance(given, Metric):
        return Subject(Row(name, name, "classical"), metric=lambda: given)
    function = getattr(given, "encode", given)
    if not callable(function):
        raise BenchError(f"{given!r} is neither a function nor the name of a model")
    if _lists_taken(function) == 2:
        metric = OwnSimilarity(name, function)
        return Subject(Row(name, name, "classical"), metric=lambda: metric)
    encode = partial(encode_all, name, function, batch=batch)
    return Subject(Row(name, name, "embedding"), embed=encode, knows_tokens=False)


def imported(path: str) -> Any:
    """The object of "module:name", also from the working folder; BenchError if there is none."""
    module, _, attribute = path.partition(":")
    try:
        sys.path.insert(0, "")
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise BenchError(
            f"{path!r} cannot be imported ({type(error).__name__}: {error}); give module:function "
            "of an installed module or of one in this folder"
        ) from error
    finally:
        sys.path.remove("")
    return found


def _embed_own(name: str, path: str, texts: Iterable[str]) -> pl.DataFrame:
    return _embed(build(Model(name=name, path=path), Path()), texts)


def _embed(encoder: Encoder, texts: Iterable[str]) -> pl.DataFrame:
    with Store.of(encoder, folder() / "embeddings") as store:
        return embed(texts, encoder, store)


def _lists_taken(function: Callable[..., Any]) -> int:
    """How many lists of texts a function wants: 1 to encode, 2 to compare."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not say
        return 1
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in places and p.default is p.empty]
    if len(needed) > 2:
        names = ", ".join(p.name for p in needed)
        raise BenchError(
            f"{function!r} needs {len(needed)} arguments ({names}); an encode function takes one "
            "list of texts, a similarity function two"
        )
    return max(len(needed), 1)
