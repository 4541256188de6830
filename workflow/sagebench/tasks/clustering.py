"""Task 4, clustering performance: do clusters of texts match their classes (paper, section 3.4).

Complete linkage on 1 - similarity, cut to as many clusters as there are classes; V-measure.

Ties. Token metrics give many pairs the same similarity, and complete linkage then merges
whichever comes first. So the texts are put in an order given by a hash of their ids, never in
the corpus's or the ids' own order, which often follow the classes and would leak them into the
clusters. `ties` counts the merges at a height that another merge shares.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sagebench import frames, rng, stats
from sagebench.errors import BenchError
from sagebench.registry import register
from sagebench.stats import Codes
from sagebench.tasks import ideal
from sagebench.tasks.base import Inputs, Scores, Spec, System, Task, distinct
from sagebench.tasks.scorebook import Scorebook


@register("task", "clustering")
class Clustering(Task):
    """Agglomerative clustering of labelled texts by a system's similarities."""

    role = "clustering"

    def texts(self, inputs: Inputs) -> list[str]:
        """The texts of the sample."""
        return distinct(inputs["sample"]["text"])

    def similarity(self, inputs: Inputs, system: System, spec: Spec) -> pl.DataFrame:
        """All pairs, once each, over the sample in its hash order (`hash_ordered`)."""
        texts = hash_ordered(inputs["sample"], spec["seed"])["text"].to_list()
        values = np.asarray(system.condensed(texts), dtype=np.float32)
        frame = pl.DataFrame({"similarity": values})
        return frames.SIMILARITY["clustering"].check(frame, "the similarities of all text pairs")

    def score(self, inputs: Inputs, similarities: Mapping[str, pl.DataFrame], spec: Spec) -> Scores:
        """Measures: `homogeneity`, `completeness`, `score` (V-measure). Units: each text's
        `class` and `cluster` as numbers.

        The interval resamples texts with their clusters as they are: it shows what the choice of
        texts does to the score of a clustering, not to the clustering. Its bias is taken out
        (`stats.centred`). BenchError if the sample has one class, or as many as texts.
        """
        sample = hash_ordered(inputs["sample"], spec["seed"])
        classes = _codes(sample["label"], spec["corpus"])
        book = Scorebook("clustering", sample["doc_id"].to_list(), "texts", spec)
        # An ideal system (`ideal`) finds the classes: no need of its similarities.
        _add_clusters(book, ideal.CEILING, classes, classes)
        for system in sorted(similarities):  # one at a time, and no name keeps its distances
            _score_system(book, system, _distances(similarities, system, len(classes)), classes)
        return book.result()


def hash_ordered(sample: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The sample in an order that depends on the texts' ids and the seed alone."""
    sample = sample.sort("doc_id")
    return sample[rng.hash_order(sample["doc_id"].to_list(), seed, "clustering order")]


def _distances(
    similarities: Mapping[str, pl.DataFrame], system: str, n: int
) -> npt.NDArray[np.float64]:
    """(n(n-1)/2,) 1 - similarity; BenchError if the similarities are not those of n texts."""
    similarity = similarities[system]["similarity"]
    if len(similarity) != (pairs := n * (n - 1) // 2):
        raise BenchError(
            f"system {system!r} has {len(similarity)} similarities of text pairs, not "
            f"{pairs}: they belong to another sample; delete its file and run again"
        )
    distance = np.empty(pairs)
    at = 0
    for part in similarity.get_chunks():  # as a whole it would be copied first
        np.subtract(1, part.to_numpy(), out=distance[at : at + len(part)], dtype=np.float64)
        at += len(part)
    return distance


class _Given:
    """An array that is handed over: fastcluster copies any other, preserve_input or not."""

    def __init__(self, array: npt.NDArray[np.float64]) -> None:
        self._array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self._array  # said to be a copy where one is asked for


def complete_linkage(
    distance: npt.NDArray[np.float64], k: int
) -> tuple[Codes, npt.NDArray[np.float64]]:
    """Exactly k clusters of n texts, and the (n-1,) heights of the whole tree's merges.

    `distance` is (n(n-1)/2,), condensed. The clusters, (n,) codes in order of appearance, are
    what the first n - k merges leave; a cut by height could not part equal heights.

    `distance` is worked in and worthless afterwards: 1.6 GB for 20,000 texts are all that it
    takes. scipy's tree is the same, ties included, but takes two more such copies.
    """
    from fastcluster import linkage

    tree = linkage(_Given(distance), method="complete", preserve_input=False)
    n = len(tree) + 1
    members = {text: [text] for text in range(n)}
    for step, (left, right) in enumerate(tree[: n - k, :2].astype(int)):
        members[n + step] = members.pop(left) + members.pop(right)
    clusters = np.empty(n, dtype=np.int64)
    for code, texts in enumerate(sorted(members.values(), key=min)):
        clusters[texts] = code
    return clusters, tree[:, 2]


def _codes(labels: pl.Series, corpus: str) -> Codes:
    """(n,) the place of each label among the sorted labels."""
    names = sorted(set(labels))
    if len(names) < 2:
        raise BenchError(
            f"clustering on {corpus!r}: the sample has {len(names)} class(es), two are needed; "
            "raise tasks.clustering.texts or choose another corpus"
        )
    if len(names) >= len(labels):
        raise BenchError(
            f"clustering on {corpus!r}: {len(names)} clusters of {len(labels)} texts say nothing; "
            "raise tasks.clustering.texts"
        )
    place = {name: code for code, name in enumerate(names)}
    return np.array([place[label] for label in labels], dtype=np.int64)


def _score_system(
    book: Scorebook, system: str, distance: npt.NDArray[np.float64], classes: Codes
) -> None:
    k = int(classes.max()) + 1
    clusters, heights = complete_linkage(distance, k)
    _, shared = np.unique(heights, return_counts=True)
    ties = int(shared[shared > 1].sum())
    cut = len(classes) - k
    among_equals = heights[cut - 1] == heights[cut]
    note = "the cut parts merges of equal height: decided by hash order" if among_equals else ""
    _add_clusters(book, system, classes, clusters, ties=ties, note=note)


def _add_clusters(
    book: Scorebook, system: str, classes: Codes, clusters: Codes, *, ties: int = 0, note: str = ""
) -> None:
    book.unit_values(system, "class", classes.astype(np.float64))
    book.unit_values(system, "cluster", clusters.astype(np.float64))
    measures = stats.v_measure(book.weights, classes, clusters)
    measures["score"] = measures.pop("v_measure")
    for name, values in measures.items():
        book.cell(system, name, stats.centred(values), n=len(classes), ties=ties, notes=[note])
