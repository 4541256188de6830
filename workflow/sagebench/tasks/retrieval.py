"""Task 5, retrieval robustness: are documents still found when noised (paper, section 3.5).

Every document has a copy per perturbation. What is searched, and which copies count as relevant,
is the layout [U] (see `ranking.pool`); relevant to a query are the copies, made by the searched
perturbation, of its judged documents.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from sagebench import frames
from sagebench.errors import BenchError
from sagebench.registry import register
from sagebench.roles import Role
from sagebench.tasks import ideal, retrieval_score
from sagebench.tasks.base import (
    Inputs,
    Scores,
    Spec,
    System,
    Task,
    distinct,
    edits,
    perturbed_texts,
)
from sagebench.tasks.ranking import ORIGINAL, Best, Ranker
from sagebench.tasks.retrieval_score import Judged, copy_id, version_name
from sagebench.tasks.scorebook import Scorebook

_DEPTH = 20  # ranks that are kept at least; NDCG reads the first `cutoff`


@register("task", "retrieval")
class Retrieval(Task):
    """Queries against documents and their perturbed copies."""

    def texts(self, inputs: Inputs) -> list[str]:
        """Documents, their perturbed copies, and the queries that can be scored."""
        return sorted({text for texts in self.roles(inputs).values() for text in texts})

    def roles(self, inputs: Inputs) -> dict[Role, list[str]]:
        """Documents with their copies, and queries."""
        copies = [frame["text"] for frame in inputs["perturbed"].values()]
        return {
            "document": distinct(inputs["sample"]["text"], *copies),
            "query": distinct(Judged.of(inputs).queries["text"]),
        }

    def similarity(self, inputs: Inputs, system: System, spec: Spec) -> pl.DataFrame:
        """Rankings of the clean corpus ("original") and of each perturbation's corpus, in every
        layout: a version is scored once, and the layouts' corpora are merged from that.

        max(cutoff, 20) ranks per query, fewer only if the corpus is smaller. `doc_id` is
        "<id>#<version>", also for originals. Queries without a judged document are left out.
        """
        judged = Judged.of(inputs)
        ids = inputs["sample"]["doc_id"].sort().to_list()
        versions = _Versions(inputs, ids)
        depth = max(spec["task"]["cutoff"], _DEPTH)
        ranker = Ranker(ids, versions, depth, spec["seed"])
        queries = judged.queries["text"].to_list()
        documents = pl.DataFrame({"doc_id": ids}, schema={"doc_id": pl.String})
        names = pl.DataFrame({"version": list(versions)})
        copies = names.join(documents, how="cross", maintain_order="left_right").select(
            "doc_id", "version"
        )
        parts = [
            _ranking(name, best, depth, judged, copies).select(pl.lit(layout).alias("layout"), "*")
            for layout, name, best in ranker.rank(system, queries)
        ]
        return frames.SIMILARITY["retrieval"].check(pl.concat(parts))

    def score(self, inputs: Inputs, similarities: Mapping[str, pl.DataFrame], spec: Spec) -> Scores:
        """Measures: `ndcg` (clean corpus), `retention:<perturbation>`, and of the retentions
        `score` (harmonic mean), `arithmetic_mean` and `without_worst` (harmonic mean without the
        lowest), in the chosen layout; these three also as `<measure>:<layout>` in every layout.
        Units: each query's `ndcg` and `ndcg:<perturbation>`.

        `ties` counts ranks up to the cutoff whose similarity another document shares.
        """
        judged = Judged.of(inputs)
        book = Scorebook("retrieval", judged.queries["query_id"].to_list(), "queries", spec)
        judge = ideal.Judge(inputs, judged.queries, judged.qrels)
        best = self.similarity(inputs, judge, spec)
        for system, ranking in ideal.beside(similarities, best):
            retrieval_score.add_system(book, system, ranking, judged, spec["task"])
        return book.result()


class _Versions(Mapping[str, list[str]]):
    """Version -> texts in the order of `ids`, the originals first; read when they are asked for.

    So one version's texts are in memory at a time, besides what the asker keeps.
    """

    def __init__(self, inputs: Inputs, ids: Sequence[str]) -> None:
        """BenchError if there are no documents."""
        if not ids:
            raise BenchError("the sample of a retrieval corpus has no documents")
        self._ids, self._perturbed = ids, inputs["perturbed"]
        self._original = inputs["sample"].sort("doc_id")["text"].to_list()
        self._edits = {
            version_name(name, size, position): (name, size, position)
            for name, frame in self._perturbed.items()
            for size, position in edits(frame)
        }

    def __getitem__(self, version: str) -> list[str]:
        if version == ORIGINAL:
            return self._original
        name, size, position = self._edits[version]
        return perturbed_texts(self._perturbed[name], self._ids, size, position)

    def __iter__(self) -> Iterator[str]:
        return iter([ORIGINAL, *self._edits])

    def __len__(self) -> int:
        return 1 + len(self._edits)


def _ranking(
    version: str, best: Best, depth: int, judged: Judged, copies: pl.DataFrame
) -> pl.DataFrame:
    """One corpus's frames.SIMILARITY["retrieval"]; row i of `copies` is document version i."""
    queries, width = best.number.shape[0], min(depth, best.number.shape[1])
    table = copies[best.number[:, :width].ravel()].with_columns(
        pl.lit(version).alias("perturbation"),
        pl.Series("query_id", np.repeat(judged.queries["query_id"].to_numpy(), width)),
        pl.Series("rank", np.tile(np.arange(1, width + 1), queries), pl.Int64),
        pl.Series("similarity", best.similarity[:, :width].ravel(), pl.Float64),
        pl.Series("tied", best.tied()[:, :width].ravel()),
    )
    keys = ["query_id", "doc_id"]
    relevant = pl.when(pl.col("version") == version).then("relevance").fill_null(0)
    return table.join(judged.qrels, on=keys, how="left", maintain_order="left").select(
        "perturbation",
        "query_id",
        "rank",
        copy_id(pl.col("doc_id"), pl.col("version")),
        relevant.alias("relevance"),
        "similarity",
        "tied",
    )
