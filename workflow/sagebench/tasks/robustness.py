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
from sagebench.tasks import ideal, separation
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

        Beside them: `score:<reading>` for every reading; `auc` of superficial against semantic
        similarities over documents, `auc_within` in each document; per transform `holds:<name>`
        (share of documents whose summary lies on its right side) and `auc:<name>` (in each
        document, against all transforms of the other kind).

        A document counts for a system only if all its similarities exist. `ties` counts equal
        similarities among the single comparisons (an equal pair fulfils no condition).
        """
        ids = _with_summaries(inputs)["doc_id"].to_list()
        book = Scorebook("robustness", ids, "documents", spec)
        for system, frame in ideal.beside(
            similarities, ideal.robustness(inputs, ids, spec["task"])
        ):
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
    rates: dict[str, Floats] = {}
    ties: dict[str, int] = {}
    every, share = [], []
    for name, (above, below) in sides.items():
        holds = (above > below).reshape(len(kept), -1)
        every.append(holds.all(axis=1).astype(float))
        share.append(holds.mean(axis=1))
        rates[name] = share[-1] if section["reading"] == "average" else every[-1]
        ties[name] = int(np.count_nonzero((above == below)[kept]))
    conditions = {"every": np.column_stack(every), "share": np.column_stack(share)}
    for reading in READINGS:
        rates[f"score:{reading}"] = _combine(conditions, reading)
    rates["score"] = _combine(conditions, section["reading"])
    for name, rate in (rates | _of_transforms(summary, superficial, semantic, section)).items():
        values = np.where(kept, rate, np.nan)
        if name in (*CONDITIONS, "score"):
            book.unit_values(system, name, values)
        counted = ties.get(name, sum(ties.values()) if name.startswith("score") else 0)
        n, note = int(kept.sum()), book.left_out(kept)
        book.cell(system, name, stats.mean(book.weights, values), n=n, ties=counted, notes=[note])
    superficial[~kept] = np.nan
    auc = separation.auc(book.weights, superficial, semantic)
    book.cell(system, "auc", auc, n=int(kept.sum()), notes=[book.left_out(kept)])


def _of_transforms(
    summary: Floats, superficial: Floats, semantic: Floats, section: dict[str, Any]
) -> dict[str, Floats]:
    """Measure -> (n,) values of the documents: each transform's own part in the conditions."""
    found = {"auc_within": separation.within(superficial, semantic)}
    for name, column in zip(section["superficial"], superficial.T, strict=True):
        found[f"holds:{name}"] = (column > summary[:, 0]).astype(float)
        found[f"auc:{name}"] = separation.within(column[:, None], semantic)
    for name, column in zip(section["semantic"], semantic.T, strict=True):
        found[f"holds:{name}"] = (summary[:, 0] > column).astype(float)
        found[f"auc:{name}"] = separation.within(superficial, column[:, None])
    return found


def _combine(conditions: dict[str, Floats], reading: str) -> Floats:
    """(n,) a document's score from its (n, 3) conditions: whether each holds for all its
    comparisons ("every"), and the share of comparisons for which it does ("share").
    """
    if reading not in READINGS:
        raise unknown("reading of robustness", reading, READINGS)
    if reading == "simultaneous":
        return conditions["every"].all(axis=1).astype(float)
    return np.asarray(conditions["share" if reading == "average" else "every"].mean(axis=1))
