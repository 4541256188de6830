"""Task 3, information sensitivity: similarity must fall with the edited part (section 3.3)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from sagebench import frames, stats
from sagebench.registry import register
from sagebench.stats import Floats
from sagebench.tasks import ideal, recalibration
from sagebench.tasks.base import (
    NEEDLES,
    Inputs,
    Scores,
    Similarities,
    Spec,
    System,
    Task,
    distinct,
    edits,
    nullable,
    perturbed_frame,
    perturbed_texts,
)
from sagebench.tasks.scorebook import Scorebook

Edit = tuple[float, float]  # (size, position)


def expected(size: float) -> float:
    """The similarity that the paper expects after a fraction `size` went in or out."""
    return 1 / (1 + size)


@register("task", "sensitivity")
class Sensitivity(Task):
    """Similarity of each document with itself after an insertion or a removal."""

    def texts(self, inputs: Inputs) -> list[str]:
        """Documents and every edit of them."""
        changed = [perturbed_frame(inputs, name)["text"] for name in NEEDLES.values()]
        return distinct(inputs["sample"]["text"], *changed)

    def similarity(
        self,
        inputs: Inputs,
        system: System,
        spec: Spec,  # noqa: ARG002 - every task's signature
    ) -> pl.DataFrame:
        """One batch per edit: all documents with one size and position of one needle."""
        sample = inputs["sample"].sort("doc_id")
        ids, texts = sample["doc_id"].to_list(), sample["text"].to_list()
        parts = []
        for kind, name in NEEDLES.items():
            frame = perturbed_frame(inputs, name)
            for size, position in edits(frame):
                changed = perturbed_texts(frame, ids, size, position)
                parts.append(
                    sample.select(
                        "doc_id",
                        pl.lit(kind).alias("comparison"),
                        pl.lit(size, pl.Float64).alias("size"),
                        pl.lit(position, pl.Float64).alias("position"),
                        nullable(system.pairs(texts, changed)),
                    )
                )
        return frames.SIMILARITY["sensitivity"].check(pl.concat(parts))

    def score(self, inputs: Inputs, similarities: Mapping[str, pl.DataFrame], spec: Spec) -> Scores:
        """Measures: `insertion` and `removal` (1 - mean |similarity - expected|), `score` (the
        mean of the two), and per size and position `similarity:<kind>:<size>:<position>` (mean
        similarity) and `score:<kind>:<size>:<position>`.

        Without the scale: `rank:<kind>` and `rank` (Spearman, see `recalibration`);
        `recalibrated` (the score after a monotone map, cross-fitted by document) and `explained`
        (1 minus its squared error over that of the best constant: 0 for a constant). Their
        intervals resample documents and keep the maps.

        A document counts in a measure only if all the similarities that it needs exist.
        """
        ids = inputs["sample"]["doc_id"].sort().to_list()
        book = Scorebook("sensitivity", ids, "documents", spec)
        for system, frame in ideal.beside(similarities, ideal.sensitivity(inputs, ids)):
            found = Similarities(system, frame, "doc_id", ["comparison", "size", "position"], ids)
            grids = _score_system(book, system, found, spec["task"])
            _add_order(book, system, grids)
            _add_recalibrated(book, system, grids, spec)
        return book.result()


def _score_system(
    book: Scorebook, system: str, found: Similarities, section: dict[str, Any]
) -> dict[str, dict[Edit, Floats]]:
    """Kind -> edit -> (n,) similarities, after their cells were added."""
    grids = {}
    totals, kept = [], np.ones(len(book.units), dtype=bool)
    for kind in NEEDLES:
        sizes, positions = section[kind]["sizes"], section[kind]["positions"]
        grid = {(s, p): found.of(kind, s, p) for s in sizes for p in positions}
        grids[kind] = grid
        for edit, similarity in grid.items():
            _add_edit(book, system, kind, edit, similarity)
        values = np.mean(
            [_closeness(edit, similarity) for edit, similarity in grid.items()], axis=0
        )
        book.unit_values(system, kind, values)
        totals.append(stats.mean(book.weights, values))
        _add(book, system, kind, totals[-1], ~np.isnan(values))
        kept &= ~np.isnan(values)
    _add(book, system, "score", np.mean(totals, axis=0), kept)
    return grids


def _add_order(book: Scorebook, system: str, grids: dict[str, dict[Edit, Floats]]) -> None:
    kept, found = np.ones(len(book.units), dtype=bool), []
    for kind, grid in grids.items():
        sizes = np.array([size for size, _ in grid])
        values = recalibration.rank_correlation(np.column_stack(list(grid.values())), sizes)
        found.append(stats.mean(book.weights, values))
        _add(book, system, f"rank:{kind}", found[-1], ~np.isnan(values))
        kept &= ~np.isnan(values)
    _add(book, system, "rank", np.mean(found, axis=0), kept)


def _add_recalibrated(
    book: Scorebook, system: str, grids: dict[str, dict[Edit, Floats]], spec: Spec
) -> None:
    """One map per system for insertions and removals together: one scale must serve both."""
    similarity = np.column_stack([v for grid in grids.values() for v in grid.values()])
    edits = [expected(size) for grid in grids.values() for size, _ in grid]
    target = np.tile(np.array(edits), (len(book.units), 1))
    mapped, constant = recalibration.recalibrated(
        similarity, target, book.units, spec["seed"], spec["corpus"]
    )
    kept = ~np.isnan(mapped).any(axis=1)
    values = 1 - np.abs(mapped - target).mean(axis=1)
    _add(book, system, "recalibrated", stats.mean(book.weights, values), kept)
    error, null = (((fit - target) ** 2).mean(axis=1) for fit in (mapped, constant))
    left = stats.ratio(stats.mean(book.weights, error), stats.mean(book.weights, null))
    _add(book, system, "explained", 1 - left, kept)


def _closeness(edit: Edit, similarity: Floats) -> Floats:
    return 1 - np.abs(similarity - expected(edit[0]))


def _add_edit(book: Scorebook, system: str, kind: str, edit: Edit, similarity: Floats) -> None:
    place = f"{kind}:{float(edit[0])}:{float(edit[1])}"
    measures = {"similarity": similarity, "score": _closeness(edit, similarity)}
    for measure, values in measures.items():
        estimate = stats.mean(book.weights, values)
        _add(book, system, f"{measure}:{place}", estimate, ~np.isnan(values))


def _add(book: Scorebook, system: str, measure: str, estimate: Floats, kept: Any) -> None:
    book.cell(system, measure, estimate, n=int(kept.sum()), notes=[book.left_out(kept)])
