"""SAGE rebuilt: a reproducible benchmark of semantic similarity (arXiv 2509.21310).

    from sagebench import evaluate

    table = evaluate(encode, tasks=["clustering"], size="smoke")

The stub beside this file tells type checkers what there is.
"""

import importlib
from typing import Any

__version__ = "0.1.0"
__all__ = ["BenchError", "evaluate", "score"]

_HOMES = {"BenchError": "errors", "evaluate": "evaluation", "score": "evaluation"}


def __getattr__(name: str) -> Any:
    """The library's functions, loaded at first use: a job of the workflow needs none of them.

    Loaded by name, so that the digest of a job's code does not take them for imports of its own.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"sagebench.{_HOMES[name]}"), name)
