"""From rankings to NDCG, retentions and their means (paper, section 3.5)."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl

from sagebench import stats
from sagebench.errors import BenchError
from sagebench.registry import unknown
from sagebench.stats import Floats
from sagebench.tasks.base import NEEDLES, Inputs
from sagebench.tasks.ranking import LAYOUTS, ORIGINAL
from sagebench.tasks.scorebook import Scorebook


@dataclass(frozen=True)
class Judged:
    """The queries, by query_id, with a relevant document in the sample, and their judgments."""

    queries: pl.DataFrame
    qrels: pl.DataFrame
    left_out: int  # queries without one

    @classmethod
    def of(cls, inputs: Inputs) -> Self:
        """BenchError if no query is left."""
        qrels = inputs["qrels"].join(inputs["sample"].select("doc_id"), on="doc_id", how="semi")
        queries = inputs["queries"].sort("query_id").join(qrels, on="query_id", how="semi")
        if not queries.height:
            raise BenchError(
                f"none of {inputs['queries'].height} queries has a judged document among the "
                f"sample's {inputs['sample'].height}; raise tasks.retrieval.documents"
            )
        return cls(queries.sort("query_id"), qrels, inputs["queries"].height - queries.height)

    def note(self) -> str:
        """How many queries were left out; "" if none was."""
        total = self.left_out + self.queries.height
        return f"{self.left_out} of {total} queries left out: none judged" if self.left_out else ""


def version_name(name: str, size: float | None, position: float | None) -> str:
    """A transform's name, or "name@size@position" for an insertion or removal."""
    return name if size is None else f"{name}@{float(size)}@{float(position or 0)}"


def copy_id(document: pl.Expr, version: pl.Expr) -> pl.Expr:
    """The id of a version of a document. No version holds a "#", so no two copies share an id."""
    return pl.format("{}#{}", document, version).alias("doc_id")


def perturbations(section: dict[str, Any]) -> list[str]:
    """The versions that the task's section of params.yaml asks for: 18 in the paper."""
    names = list(section["transforms"])
    for kind, name in NEEDLES.items():
        sizes, positions = section[kind]["sizes"], section[kind]["positions"]
        names += [version_name(name, size, place) for size in sizes for place in positions]
    return names


def add_system(
    book: Scorebook, system: str, ranking: pl.DataFrame, judged: Judged, section: dict[str, Any]
) -> None:
    """Add one system's units and cells to the book; BenchError if the layout is unknown."""
    if section["layout"] not in LAYOUTS:
        raise unknown("layout of retrieval", section["layout"], LAYOUTS)
    for layout in LAYOUTS:
        part = ranking.filter(layout=layout)
        values, ties = _versions(book, system, part, judged, section)
        if layout == section["layout"]:
            for name, found in values.items():
                measure = "ndcg" if name == ORIGINAL else f"ndcg:{name}"
                book.unit_values(system, measure, found)
            _add_cells(book, system, values, ties, judged.note())
        _add_means(book, system, values, ties, judged.note(), layout=f":{layout}")


def _versions(
    book: Scorebook, system: str, ranking: pl.DataFrame, judged: Judged, section: dict[str, Any]
) -> tuple[dict[str, Floats], dict[str, int]]:
    """Each version's (queries,) NDCG and its ties, the clean corpus first; in one layout."""
    parts = ranking.partition_by("perturbation", as_dict=True)
    values: dict[str, Floats] = {}
    ties: dict[str, int] = {}
    for name in [ORIGINAL, *perturbations(section)]:
        part = parts.get((name,))
        if part is None or set(part["query_id"]) != set(book.units):
            raise BenchError(
                f"the rankings of system {system!r} for {name!r} do not cover the sample's "
                f"{len(book.units)} judged queries; delete its file and run again"
            )
        values[name] = ndcg(part, judged, name, section["cutoff"])
        ties[name] = part.filter("tied", pl.col("rank") <= section["cutoff"]).height
    return values, ties


def ndcg(ranking: pl.DataFrame, judged: Judged, version: str, cutoff: int) -> Floats:
    """(queries,) NDCG@cutoff of one corpus's rankings, relevance as gain (trec_eval's).

    The run is built from our ranks, so that trec_eval's own tie rule (by id) never applies.
    """
    from ir_measures import nDCG, pytrec_eval

    run: dict[str, dict[str, float]] = defaultdict(dict)
    for query, rank, document in ranking.select("query_id", "rank", "doc_id").iter_rows():
        run[query][document] = -float(rank)
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    copies = judged.qrels.select(
        "query_id", copy_id(pl.col("doc_id"), pl.lit(version)), "relevance"
    )
    for query, document, relevance in copies.iter_rows():
        qrels[query][document] = relevance
    found = pytrec_eval.iter_calc([nDCG @ cutoff], dict(qrels), dict(run))
    by_query = {metric.query_id: metric.value for metric in found}
    return np.array([by_query[query] for query in judged.queries["query_id"]], dtype=np.float64)


def _add_cells(
    book: Scorebook, system: str, values: dict[str, Floats], ties: dict[str, int], note: str
) -> None:
    """Of the chosen layout: clean NDCG, every retention, and their means."""
    _, *names = values
    clean, retention = _retention(book, values)
    n = len(book.units)
    book.cell(system, "ndcg", clean, n=n, ties=ties[ORIGINAL], notes=[note])
    for name, column in zip(names, retention.T, strict=True):
        above = "above 1: found better than the clean documents" if column[0] > 1 else ""
        measure, notes = f"retention:{name}", [_blank(clean), above]
        book.cell(system, measure, column, n=n, ties=ties[name], notes=notes)
    _add_means(book, system, values, ties, note)


def _retention(book: Scorebook, values: dict[str, Floats]) -> tuple[Floats, Floats]:
    """(rows,) mean NDCG on the clean corpus; (rows, versions) the share of it that is left."""
    means = stats.means(book.weights, np.column_stack(list(values.values())))
    return means[:, 0], stats.ratio(means[:, 1:], means[:, :1])


def _blank(clean: Floats) -> str:
    return "" if clean[0] else "NDCG on the clean corpus is 0"


def _add_means(
    book: Scorebook,
    system: str,
    values: dict[str, Floats],
    ties: dict[str, int],
    note: str,
    *,
    layout: str = "",
) -> None:
    _, *names = values
    clean, retention = _retention(book, values)
    zero = [name for name, value in zip(names, retention[0], strict=True) if value == 0]
    lost = f"zero retention: {', '.join(zero)}" if zero else ""
    summary = {
        "score": stats.harmonic_mean(retention),
        "arithmetic_mean": retention.mean(axis=1),
        "without_worst": stats.harmonic_mean(np.sort(retention, axis=1)[:, 1:]),
    }
    n, tied = len(book.units), sum(ties.values())
    for measure, column in summary.items():
        notes = [note, _blank(clean), lost] if measure == "score" else [_blank(clean)]
        book.cell(system, measure + layout, column, n=n, ties=tied, notes=notes)
