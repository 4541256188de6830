"""Task 2, transformation robustness: meaning must weigh more than form (paper, section 3.2).

A system should find the summary closer to its document than a text whose meaning was changed,
and a text whose form was changed closer than the summary.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sagebench import frames, stats
from sagebench.errors import BenchError
from sagebench.registry import register, unknown
from sagebench.stats import Floats
from sagebench.tasks.base import (
    Inputs,
    Scores,
    Similarities,
    Spec,
    System,
    Task,
    distinct,
    nullable,
    perturbed_frame,
    perturbed_texts,
)
from sagebench.tasks.scorebook import Scorebook

CONDITIONS = (
    "summary_above_semantic",
    "superficial_above_summary",
    "superficial_above_semantic",
)
READINGS = ("all_then_mean", "simultaneous", "average")


@register("task", "robustness")
class Robustness(Task):
    """Similarity of each document with its summary and with each transform of itself."""

    def texts(self, inputs: Inputs) -> list[str]:
        """Documents, their summaries and every transform of them."""
        sample = _with_summaries(inputs)
        changed = [frame["text"] for frame in inputs["perturbed"].values()]
        return distinct(sample["text"], sample["summary"], *changed)

    def similarity(self, inputs: Inputs, system: System, spec: Spec) -> pl.DataFrame:
        """One batch per comparison: all documents with their summary, or with one transform."""
        sample = _with_summaries(inputs)
        ids, texts = sample["doc_id"].to_list(), sample["text"].to_list()

        def compare(name: str, kind: str, others: Sequence[str]) -> pl.DataFrame:
            names = [pl.lit(name).alias("comparison"), pl.lit(kind).alias("kind")]
            return sample.select("doc_id", *names, nullable(system.pairs(texts, others)))

        parts = [compare("summary", "summary", sample["summary"].to_list())]
        for kind in ("superficial", "semantic"):
            for name in spec["task"][kind]:
                changed = perturbed_texts(perturbed_frame(inputs, name), ids)
                parts.append(compare(name, kind, changed))
        return frames.SIMILARITY["robustness"].check(pl.concat(parts))

    def score(self, inputs: Inputs, similarities: Mapping[str, pl.DataFrame], spec: Spec) -> Scores:
        """Measures: the three condition rates, and `score` under the chosen reading [U].

        A document counts for a system only if all its similarities exist. `ties` counts equal
        similarities among the single comparisons (an equal pair fulfils no condition).
        """
        ids = _with_summaries(inputs)["doc_id"].to_list()
        book = Scorebook("robustness", ids, "documents", spec)
        for system, frame in sorted(similarities.items()):
            found = Similarities(system, frame, "doc_id", ["comparison"], ids)
            _score_system(book, system, found, spec["task"])
        return book.result()


def _with_summaries(inputs: Inputs) -> pl.DataFrame:
    """The sample by doc_id; BenchError if a document has no summary."""
    sample = inputs["sample"].sort("doc_id")
    if bare := sample.filter(pl.col("summary").is_null())["doc_id"].to_list():
        raise BenchError(
            f"document {bare[0]!r} ({len(bare)} in all) has no summary: robustness compares each "
            "document with its summary, choose a corpus that has them"
        )
    return sample


def _score_system(
    book: Scorebook, system: str, found: Similarities, section: dict[str, Any]
) -> None:
    summary = found.of("summary")[:, None]
    superficial, semantic = (
        np.column_stack([found.of(name) for name in section[kind]])
        for kind in ("superficial", "semantic")
    )
    kept = np.isfinite(np.hstack([summary, superficial, semantic]).sum(axis=1))
    sides = {
        "summary_above_semantic": (summary, semantic),
        "superficial_above_summary": (superficial, summary),
        "superficial_above_semantic": (superficial[:, :, None], semantic[:, None, :]),
    }
    rates, ties = {}, {}
    for name, (above, below) in sides.items():
        holds = (above > below).reshape(len(kept), -1)
        rates[name] = holds.mean(axis=1) if section["reading"] == "average" else holds.all(axis=1)
        ties[name] = int(np.count_nonzero((above == below)[kept]))
    rates["score"] = _combine(np.column_stack(list(rates.values())), section["reading"])
    ties["score"] = sum(ties.values())
    for name, rate in rates.items():
        values = np.where(kept, rate, np.nan)
        book.unit_values(system, name, values)
        estimate = stats.mean(book.weights, values)
        n, note = int(kept.sum()), book.left_out(kept)
        book.cell(system, name, estimate, n=n, ties=ties[name], notes=[note])


def _combine(rates: Floats, reading: str) -> Floats:
    """(n,) a document's score from its (n, 3) conditions."""
    if reading not in READINGS:
        raise unknown("reading of robustness", reading, READINGS)
    combined = rates.all(axis=1) if reading == "simultaneous" else rates.mean(axis=1)
    return np.asarray(combined, dtype=np.float64)
