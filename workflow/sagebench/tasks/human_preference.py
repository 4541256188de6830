"""Task 1, human preference alignment: does similarity agree with people (paper, section 3.1).

Two kinds of corpora, told apart by their columns: pairwise choices between two summaries of a
text, and ratings of a pair of texts on one or more aspects.

The paper's score is the mean of eight numbers: the four classification measures and the four
rescaled correlations. Here each corpus has a `score` of its own kind; the mean of the two kinds
weighs them four to four, as the paper does.
"""

from collections.abc import Mapping

import numpy as np
import polars as pl

from sagebench import frames, stats
from sagebench.errors import BenchError
from sagebench.registry import register, unknown
from sagebench.stats import Floats
from sagebench.tasks import ideal, length
from sagebench.tasks.base import (
    Inputs,
    Scores,
    Similarities,
    Spec,
    System,
    Task,
    distinct,
    nullable,
)
from sagebench.tasks.scorebook import Scorebook

CLASSIFICATION = ("accuracy", "precision", "recall", "f1")
# Equal similarities: predict summary 2 (the paper's "else"), or count half a unit for each.
TIES = {"second": 0.0, "half": 0.5}


@register("task", "human_preference")
class HumanPreference(Task):
    """Similarity of a summary with its source text, against what people preferred."""

    def texts(self, inputs: Inputs) -> list[str]:
        """Source texts with both summaries, or both sides of the rated items."""
        sample = inputs["sample"]
        names = ("text", "summary_1", "summary_2") if _is_choice(sample) else ("text_a", "text_b")
        return distinct(*(sample[name] for name in names))

    def similarity(
        self,
        inputs: Inputs,
        system: System,
        spec: Spec,  # noqa: ARG002 - every task's signature
    ) -> pl.DataFrame:
        """One batch per corpus: both summaries of all pairs, or all rated items.

        A metric that normalises over its batch thus sees the two summaries of a pair on one
        scale. An item with several aspects is compared once.
        """
        sample = inputs["sample"]
        if _is_choice(sample):
            sides = [
                sample.sort("pair_id").select(
                    pl.col("pair_id").alias("item_id"),
                    pl.lit(side).alias("comparison"),
                    pl.col("text").alias("a"),
                    pl.col(f"summary_{side}").alias("b"),
                )
                for side in ("1", "2")
            ]
            compared = pl.concat(sides)
        else:
            compared = _items(sample).select(
                "item_id",
                pl.lit("rating").alias("comparison"),
                pl.col("text_a").alias("a"),
                pl.col("text_b").alias("b"),
            )
        values = nullable(system.pairs(compared["a"].to_list(), compared["b"].to_list()))
        result = compared.select("item_id", "comparison", values)
        return frames.SIMILARITY["human_preference"].check(result)

    def score(self, inputs: Inputs, similarities: Mapping[str, pl.DataFrame], spec: Spec) -> Scores:
        """Measures of choices: `accuracy`, `precision`, `recall`, `f1` (positive: summary 1
        preferred) and `score`, their mean; `<measure>:<rule>` under every tie rule, and those of
        `length.add_choices`. Measures of ratings: per aspect `pearson:<aspect>` (r),
        `rating:<aspect>` (0.5(r + 1)) and `partial:<aspect>` (r given the length of the second
        text), and `score`, the mean of the `rating:`s.
        """
        sample = inputs["sample"]
        score = _score_choices if _is_choice(sample) else _score_ratings
        return score(sample, similarities, spec)


def _is_choice(sample: pl.DataFrame) -> bool:
    return "choice" in sample.columns


def _items(sample: pl.DataFrame) -> pl.DataFrame:
    """Each rated item once, by item_id; BenchError if its aspects name different texts."""
    items = sample.select("item_id", "text_a", "text_b").unique().sort("item_id")
    if (repeated := items.filter(pl.col("item_id").is_duplicated())).height:
        name = repeated["item_id"][0]
        raise BenchError(f"rated item {name!r} has different texts for different aspects")
    return items


def _score_choices(
    sample: pl.DataFrame, similarities: Mapping[str, pl.DataFrame], spec: Spec
) -> Scores:
    sample = sample.sort("pair_id")
    ids = sample["pair_id"].to_list()
    actual = (sample["choice"] == 1).cast(pl.Float64).to_numpy()
    if (rule := spec["task"]["ties"]) not in TIES:
        raise unknown("tie rule of human preference", rule, TIES)
    book = Scorebook("human_preference", ids, "pairs", spec)
    for system, frame in ideal.beside(similarities, ideal.choices(sample)):
        found = Similarities(system, frame, "item_id", ["comparison"], ids)
        margin = found.of("1") - found.of("2")
        hits = 1 - np.abs(_predicted(margin, rule) - actual)
        book.unit_values(system, "accuracy", hits)
        _add_choices(book, system, actual, margin, rule)
        for name in TIES:
            _add_choices(book, system, actual, margin, name, suffix=f":{name}")
        length.add_choices(book, system, sample, margin, hits)
    return book.result()


def _predicted(margin: Floats, rule: str) -> Floats:
    """(n,) 1 where summary 1 is the nearer one, what the rule says for a tie, NaN without both."""
    predicted = np.where(margin == 0, TIES[rule], (margin > 0).astype(float))
    return np.where(np.isnan(margin), np.nan, predicted)


def _add_choices(
    book: Scorebook, system: str, actual: Floats, margin: Floats, rule: str, *, suffix: str = ""
) -> None:
    predicted = _predicted(margin, rule)
    kept, ties = ~np.isnan(predicted), int((margin == 0).sum())
    measures = stats.classification(book.weights, predicted, actual)
    measures["score"] = np.mean([measures[name] for name in CLASSIFICATION], axis=0)
    empty = {
        "precision": not predicted[kept].any() and "no pair with summary 1 predicted: counted as 0",
        "recall": not actual[kept].any() and "no pair with summary 1 preferred: counted as 0",
    }
    for name, values in measures.items():
        notes = [book.left_out(kept), empty.get(name) or ""]
        book.cell(system, name + suffix, values, n=int(kept.sum()), ties=ties, notes=notes)


def _score_ratings(
    sample: pl.DataFrame, similarities: Mapping[str, pl.DataFrame], spec: Spec
) -> Scores:
    items = _items(sample)
    ids, long = items["item_id"].to_list(), length.lengths(items["text_b"])
    place = pl.DataFrame({"item_id": ids})
    ratings = {}
    for (aspect,), part in sorted(sample.partition_by("aspect", as_dict=True).items()):
        joined = place.join(part, on="item_id", how="left", maintain_order="left")
        ratings[str(aspect)] = joined["rating"].fill_null(np.nan).to_numpy()
    book = Scorebook("human_preference", ids, "items", spec)
    for system, frame in ideal.beside(similarities, ideal.ratings(ids, ratings)):
        similarity = Similarities(system, frame, "item_id", ["comparison"], ids).of("rating")
        book.unit_values(system, "similarity", similarity)
        _add_ratings(book, system, similarity, ratings, long)
    return book.result()


def _add_ratings(
    book: Scorebook, system: str, similarity: Floats, ratings: dict[str, Floats], long: Floats
) -> None:
    rescaled, notes = [], [book.left_out(~np.isnan(similarity))]
    if stats.is_constant(similarity):
        notes.append("constant similarity: r counted as 0")
    for aspect, rating in ratings.items():
        n = int(np.count_nonzero(~np.isnan(similarity) & ~np.isnan(rating)))
        own = "constant ratings: r counted as 0" if stats.is_constant(rating) else ""
        r = stats.pearson(book.weights, similarity, rating)
        rescaled.append(0.5 * (r + 1))
        book.cell(system, f"pearson:{aspect}", r, n=n, notes=[*notes, own])
        book.cell(system, f"rating:{aspect}", rescaled[-1], n=n, notes=[*notes, own])
        given = length.partial(book.weights, similarity, rating, long)
        book.cell(system, f"partial:{aspect}", given, n=n, notes=[*notes, own])
    total = np.mean(rescaled, axis=0)
    n = int(np.count_nonzero(~np.isnan(similarity)))
    book.cell(system, "score", total, n=n, notes=notes)
