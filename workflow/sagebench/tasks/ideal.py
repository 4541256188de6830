"""The similarities of an ideal system: they show how high a task's score can go on its sample.

Scored beside the real systems as `CEILING`. Ideal is what a system could be that knows the right
answer of the task and gives equal texts equal similarities: a text that a perturbation left as it
was cannot be told from its document.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sagebench import frames
from sagebench.errors import BenchError
from sagebench.stats import Floats
from sagebench.tasks.base import NEEDLES, Inputs, perturbed_frame

CEILING = "(ceiling)"  # no row of the tables can have this name


def beside(
    similarities: Mapping[str, pl.DataFrame], best: pl.DataFrame
) -> Iterator[tuple[str, pl.DataFrame]]:
    """`CEILING` with its similarities, then every system's by name, read one at a time."""
    yield CEILING, best
    for system in sorted(similarities):
        yield system, similarities[system]


def choices(sample: pl.DataFrame) -> pl.DataFrame:
    """1 for the summary that was preferred and 0 for the other; two equal summaries are tied."""
    same = pl.col("summary_1") == pl.col("summary_2")
    sides = [
        sample.select(
            pl.col("pair_id").alias("item_id"),
            pl.lit(side).alias("comparison"),
            ((pl.col("choice") == int(side)) | same).cast(pl.Float64).alias("similarity"),
        )
        for side in ("1", "2")
    ]
    return frames.SIMILARITY["human_preference"].check(pl.concat(sides))


def ratings(ids: Sequence[str], rated: dict[str, Floats]) -> pl.DataFrame:
    """The one similarity that has the largest mean Pearson r with all aspects.

    That is the mean of the standardised ratings. `rated` maps an aspect to the (n,) ratings of
    `ids`, NaN where there is none; a missing rating counts as an average one.
    """
    columns = [np.zeros(len(ids))]
    for rating in rated.values():
        spread = np.nanstd(rating)
        if spread > 0:
            columns.append(np.nan_to_num((rating - np.nanmean(rating)) / spread))
    total = np.mean(columns, axis=0)
    width = max(float(np.ptp(total)), 1e-12)
    rows = {
        "item_id": list(ids),
        "comparison": ["rating"] * len(ids),
        "similarity": (total - total.min()) / width,
    }
    return frames.SIMILARITY["human_preference"].check(pl.DataFrame(rows))


def robustness(inputs: Inputs, ids: Sequence[str], section: dict[str, Any]) -> pl.DataFrame:
    """1 after a superficial transform, 1/2 for the summary, 0 after a change of meaning.

    A text that a change of meaning left as it was is still the document: 1.
    """

    def part(name: str, kind: str, values: Floats) -> pl.DataFrame:
        names = [pl.lit(name).alias("comparison"), pl.lit(kind).alias("kind")]
        frame = pl.DataFrame({"doc_id": list(ids), "similarity": values})
        return frame.select("doc_id", *names, "similarity")

    n = len(ids)
    parts = [part("summary", "summary", np.full(n, 0.5))]
    parts += [part(name, "superficial", np.ones(n)) for name in section["superficial"]]
    for name in section["semantic"]:
        changed = perturbed_frame(inputs, name).select("doc_id", "changed")
        left = dict(changed.filter(~pl.col("changed")).iter_rows())
        parts.append(part(name, "semantic", np.array([float(doc in left) for doc in ids])))
    return frames.SIMILARITY["robustness"].check(pl.concat(parts))


def sensitivity(inputs: Inputs, ids: Sequence[str]) -> pl.DataFrame:
    """1/(1+p) after an edit of size p; 1 where the edit changed nothing."""
    parts = [
        perturbed_frame(inputs, name)
        .filter(pl.col("doc_id").is_in(list(ids)))
        .select(
            "doc_id",
            pl.lit(kind).alias("comparison"),
            "size",
            "position",
            pl.when("changed").then(1 / (1 + pl.col("size"))).otherwise(1.0).alias("similarity"),
        )
        for kind, name in NEEDLES.items()
    ]
    return frames.SIMILARITY["sensitivity"].check(pl.concat(parts))


class Judge:
    """A system for retrieval that knows every judgment and cannot tell a copy from its original."""

    def __init__(self, inputs: Inputs, queries: pl.DataFrame, qrels: pl.DataFrame) -> None:
        """`queries` are those that are asked; documents may be `inputs`' sample or its copies."""
        versions = [inputs["sample"], *inputs["perturbed"].values()]
        texts = [
            frame.select("doc_id", "text").join(qrels, on="doc_id", how="semi")
            for frame in versions
        ]
        judged = qrels.join(pl.concat(texts).unique(), on="doc_id")
        judged = judged.join(
            queries.select("query_id", query=pl.col("text")).unique(), on="query_id"
        )
        rows = judged.group_by("query", "text").agg(pl.col("relevance").max())
        self._relevance: dict[str, dict[str, int]] = {}
        for query, text, value in rows.iter_rows():
            self._relevance.setdefault(text, {})[query] = value

    def matrix(self, queries: Sequence[str], documents: Sequence[str]) -> npt.NDArray[Any]:
        """(queries, documents) the relevance of a text; equal texts share the highest."""
        found = np.zeros((len(queries), len(documents)))
        for column, text in enumerate(documents):
            if judged := self._relevance.get(text):
                found[:, column] = [judged.get(query, 0) for query in queries]
        return found

    def pairs(self, a: Sequence[str], b: Sequence[str]) -> npt.NDArray[Any]:
        """(n,) the relevance of b[i] to a[i]."""
        found = [self._relevance.get(y, {}).get(x, 0) for x, y in zip(a, b, strict=True)]
        return np.array(found, dtype=np.float64)

    def condensed(self, texts: Sequence[str]) -> npt.NDArray[Any]:
        """Texts are judged for queries only: BenchError."""
        raise BenchError(f"no judgment relates {len(texts)} documents to each other")
