"""The best documents of every query, from originals and perturbed copies in one corpus or many.

Each version of the documents ("original" and every perturbation) is scored once, in blocks of
queries, and only its best few are kept; the corpora of a layout are merged from those. A system
whose scores depend on the corpus (BM25) is scored on each corpus as a whole instead.

Tie rule: documents of equal similarity come in the order of a hash of (seed, document, version).
It favours neither originals nor copies nor a place in the corpus, and is the same for every
query, system and layout.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench import rng
from sagebench.errors import BenchError
from sagebench.registry import unknown
from sagebench.stats import Codes, Floats
from sagebench.tasks.base import System

ORIGINAL = "original"
LAYOUTS = ("paired", "replace", "mixed")
_CELLS = 2**23  # query × document scores held at once: 64 MB of float64


def pool(perturbation: str, versions: Sequence[str], layout: str) -> tuple[str, ...]:
    """The versions that share the corpus in which `perturbation` is searched [U].

    "original" is always searched alone. paired: the originals and the perturbation's copies;
    replace: the copies alone; mixed: all versions.
    """
    if layout not in LAYOUTS:
        raise unknown("layout of retrieval", layout, LAYOUTS)
    if perturbation == ORIGINAL or layout == "replace":
        return (perturbation,)
    return (ORIGINAL, perturbation) if layout == "paired" else tuple(versions)


@dataclass(frozen=True)
class Best:
    """Ranked documents: (queries, depth) similarities and numbers of document versions."""

    similarity: Floats
    number: Codes

    def tied(self) -> npt.NDArray[np.bool_]:
        """(queries, depth) whether a document shares its similarity with one beside it."""
        same = self.similarity[:, 1:] == self.similarity[:, :-1]
        edge = np.zeros((len(same), 1), dtype=bool)
        return np.asarray(np.hstack([same, edge]) | np.hstack([edge, same]))


class Ranker:
    """Ranks the versions of n documents; version v's document i has number v * n + i."""

    def __init__(
        self, ids: Sequence[str], versions: Mapping[str, Sequence[str]], depth: int, seed: int
    ) -> None:
        """`versions` maps a version to its (n,) texts in the order of `ids`, "original" first.

        A version's texts are asked for when it is searched, and not kept.
        """
        self.depth = depth
        self._n = len(ids)
        self._versions = versions
        self._place = {name: place for place, name in enumerate(self._versions)}
        self._ids, self._names, self._seed = ids, list(self._versions), seed
        self._keys = np.zeros(self._n * len(self._names), dtype=np.uint64)
        self._known = np.zeros(len(self._keys), dtype=bool)

    def rank(
        self, system: System, queries: Sequence[str], layouts: Sequence[str] = LAYOUTS
    ) -> Iterator[tuple[str, str, Best]]:
        """(layout, version, the best `depth` of the version's corpus and one more).

        The extra document shows whether the last one is tied; all of them if there are fewer.
        """
        whole = bool(getattr(system, "corpus_dependent", False))
        done: dict[tuple[str, ...], Best] = {}
        for layout, version in product(layouts, self._versions):
            corpus = pool(version, list(self._versions), layout)
            if corpus not in done and whole:
                done[corpus] = self._search(system, queries, corpus)
            elif corpus not in done:
                for name in corpus:
                    if (name,) not in done:
                        done[name,] = self._search(system, queries, (name,))
                done[corpus] = self._merge([done[name,] for name in corpus])
            yield layout, version, done[corpus]

    def _search(self, system: System, queries: Sequence[str], corpus: tuple[str, ...]) -> Best:
        texts = [text for version in corpus for text in self._versions[version]]
        places = [np.arange(self._n) + self._place[version] * self._n for version in corpus]
        numbers = np.concatenate(places)
        rows = max(1, _CELLS // len(texts))
        blocks = []
        for start in range(0, len(queries), rows):
            scores = system.matrix(queries[start : start + rows], texts)
            blocks.append(self._best(_checked(scores), numbers[None, :]))
        return Best(
            np.vstack([block.similarity for block in blocks]),
            np.vstack([block.number for block in blocks]),
        )

    def _merge(self, parts: list[Best]) -> Best:
        similarity = np.hstack([part.similarity for part in parts])
        return self._best(similarity, np.hstack([part.number for part in parts]))

    def _best(self, scores: Floats, numbers: Codes) -> Best:
        """The best `depth` + 1 of each row of (queries, m) candidates, in the rule's order."""
        numbers, kept = np.broadcast_to(numbers, scores.shape), min(self.depth + 1, scores.shape[1])
        chosen = np.argpartition(scores, -kept, axis=1)[:, -kept:]
        last = np.take_along_axis(scores, chosen, axis=1).min(axis=1, keepdims=True)
        # Partitioning picks freely among the documents that tie for the last place.
        for row in np.flatnonzero((scores >= last).sum(axis=1) > kept):
            able = np.flatnonzero(scores[row] >= last[row])
            order = np.lexsort((self._order(numbers[row, able]), -scores[row, able]))
            chosen[row] = able[order[:kept]]
        similarity = np.take_along_axis(scores, chosen, axis=1)
        number = np.take_along_axis(numbers, chosen, axis=1)
        order = np.lexsort((self._order(number), -similarity), axis=1)
        return Best(
            np.take_along_axis(similarity, order, axis=1),
            np.take_along_axis(number, order, axis=1),
        )

    def _order(self, numbers: Codes) -> npt.NDArray[np.uint64]:
        """The hashes of documents' versions; only those that are asked for are computed."""
        for number in np.unique(numbers[~self._known[numbers]]).tolist():
            version, place = divmod(number, self._n)
            purpose = ("tie", self._ids[place], self._names[version])
            self._keys[number] = rng.seed_for(self._seed, *purpose) >> 64
            self._known[number] = True
        return self._keys[numbers]


def _checked(scores: npt.NDArray[Any]) -> Floats:
    if np.isnan(scores).any():
        raise BenchError(
            f"{int(np.isnan(scores).sum())} query-document similarities are NaN; "
            "a system's matrix() must give a number for every pair"
        )
    return np.asarray(scores, dtype=np.float64)
