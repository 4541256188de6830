"""The part of a corpus that a run uses: drawn by hashes, a smaller one always within a larger."""

import itertools
import logging
from collections.abc import Iterable, Iterator
from typing import TypeVar

import polars as pl

from sagebench import rng
from sagebench.errors import BenchError

_ID = {
    "documents": "doc_id",
    "preferences": "pair_id",
    "ratings": "item_id",
    "labelled": "doc_id",
    "retrieval": "doc_id",
}
_log = logging.getLogger(__name__)
T = TypeVar("T")


def sample(
    role: str,
    frames: dict[str, pl.DataFrame],
    n: int,
    seed: int,
    corpus: str,
    *,
    min_gap: float | None = None,
    draw: str = "documents",
) -> dict[str, pl.DataFrame]:
    """At most `n` documents, pairs or rated items of a corpus, in the corpus's own order.

    `frames` and the result are like those of `layout.read_corpus`. The draw depends on (seed,
    corpus, ids) alone, so tasks that share a corpus share its sample. Preferences with a gap
    below `min_gap` are left out first; a rated item keeps all its aspects; retrieval draws
    documents and keeps the queries that have a relevant one among them; by `draw="judged"` every
    second one is relevant to some query, for collections of which few are. BenchError if too
    little is left.
    """
    key = _ID[role]
    rows = frames["sample"]
    if min_gap is not None:
        rows = rows.filter(pl.col("gap") >= min_gap)
        if rows.is_empty():
            raise BenchError(
                f"corpus {corpus!r} has no pair with a gap of {min_gap}; lower min_gap"
            )
    ids = rows[key].unique().sort().to_list()
    if n < 1 or not ids:
        raise BenchError(f"a sample of {n} from {len(ids)} of corpus {corpus!r} is empty")
    if n > len(ids):
        _log.warning("corpus %s: %d asked for, all %d are used", corpus, n, len(ids))
    order = [ids[position] for position in rng.hash_order(ids, seed, "sample", corpus)]
    if draw == "judged":
        judged = set(frames["qrels"]["doc_id"])
        order = list(
            alternate((i for i in order if i in judged), (i for i in order if i not in judged))
        )
    drawn = set(order[:n])
    result = {"sample": rows.filter(pl.col(key).is_in(drawn))}
    if role == "labelled":
        _require_classes(result["sample"], corpus, n)
    if role == "retrieval":
        result |= _judged(frames, drawn, corpus)
    return result


def alternate(one: Iterable[T], two: Iterable[T]) -> Iterator[T]:
    """One of each by turns; when one side has come to its end, the rest of the other."""
    end = object()
    for pair in itertools.zip_longest(one, two, fillvalue=end):
        for item in pair:
            if item is not end:
                yield item  # type: ignore[misc]


def _require_classes(rows: pl.DataFrame, corpus: str, n: int) -> None:
    if (classes := rows["label"].n_unique()) < 2:
        raise BenchError(
            f"{n} texts of corpus {corpus!r} are of {classes} class; clustering needs two: "
            "ask for more texts"
        )


def _judged(
    frames: dict[str, pl.DataFrame], drawn: set[str], corpus: str
) -> dict[str, pl.DataFrame]:
    """Judgements of the drawn documents, and the queries that have one."""
    qrels = frames["qrels"].filter(pl.col("doc_id").is_in(drawn))
    queries = frames["queries"].filter(
        pl.col("query_id").is_in(qrels["query_id"].unique().to_list())
    )
    if queries.is_empty():
        raise BenchError(
            f"none of the {frames['queries'].height} queries of corpus {corpus!r} has a relevant "
            f"document among the {len(drawn)} drawn: ask for more documents"
        )
    left_out = frames["queries"].height - queries.height
    _log.info("corpus %s: %d queries without a relevant document left out", corpus, left_out)
    return {"queries": queries, "qrels": qrels}
