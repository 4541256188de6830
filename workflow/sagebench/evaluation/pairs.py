"""`score`: similarities of the user's own pairs of texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench.corpora import catalogue
from sagebench.errors import BenchError
from sagebench.evaluation import sizes, subjects
from sagebench.evaluation.workspace import Workspace
from sagebench.metrics.cosine import Cosine
from sagebench.plan import Plan


def score(
    a: Sequence[str], b: Sequence[str], metric: Any = "rouge", *, size: str | Path = "default"
) -> npt.NDArray[np.float64]:
    """(n,) similarity of a[i] and b[i], NaN where none is defined (as of an empty text).

    `metric` is whatever `evaluate` takes: the name of a metric, row or model, or a function.
    `a` are the originals where a metric is not symmetric. All pairs are one batch, on which the
    values of bm25 depend. `size` says which parameters a metric has. Values lie in [0, 1], those
    of embeddings and own functions in [-1, 1].

    Raises BenchError if the lists differ in length, hold anything but texts, or the metric is
    unknown.
    """
    if len(a) != len(b):
        raise BenchError(f"{len(a)} texts on one side, {len(b)} on the other: pairs are aligned")
    for side, texts in (("a", a), ("b", b)):
        for at, text in enumerate(texts):
            if not isinstance(text, str):
                raise BenchError(f"{side}[{at}] is {text!r}, not a text")
    names = sizes.packaged(size)
    known = isinstance(metric, str) and metric in names
    params = sizes.read(size, [metric] if known else [])
    workspace = Workspace(Plan(params, catalogue.load()))
    if known:
        (row,) = sizes.rows(size, [metric])
        subject = subjects.packaged(row, workspace)
    else:
        subject = subjects.own(metric, "mine", 128, names)
    system = subject.metric() if subject.metric else Cosine(subject.embed([*a, *b]))  # type: ignore[misc]
    return np.asarray(system.pairs(list(a), list(b)), dtype=np.float64)
