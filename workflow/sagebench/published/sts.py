"""Semantic textual similarity: correlation of cosine with people's ratings (0 to 5) of pairs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sagebench.errors import BenchError
from sagebench.published.folder import Folder
from sagebench.published.vectors import Vectors

_COLUMNS = 7  # genre, file, year, id, score, sentence 1, sentence 2; some rows name sources after


@dataclass(frozen=True)
class Pairs:
    """Aligned: a pair of sentences and its mean rating."""

    left: list[str]
    right: list[str]
    ratings: list[float]

    @property
    def texts(self) -> list[str]:
        """Every sentence."""
        return self.left + self.right

    def scores(self, vectors: Vectors) -> dict[str, Any]:
        """Pearson and Spearman of cosine, and of minus the Euclidean and Manhattan distance.

        Distances are between vectors of length 1.
        """
        from scipy.stats import pearsonr, spearmanr

        difference = vectors.matrix(self.left).astype(np.float64) - vectors.matrix(self.right)
        similarities = {
            "cosine": vectors.cosine.pairs(self.left, self.right),
            "euclidean": -np.sqrt(np.square(difference).sum(axis=1)),
            "manhattan": -np.abs(difference).sum(axis=1),
        }
        found = {}
        for name, values in similarities.items():
            found[f"{name}_pearson"] = float(pearsonr(values, self.ratings).statistic)
            found[f"{name}_spearman"] = float(spearmanr(values, self.ratings).statistic)
        # What MTEB calls by no name is the model's own similarity.
        return found | {
            "pearson": found["cosine_pearson"],
            "spearman": found["cosine_spearman"],
        }


def benchmark(folder: Folder) -> Pairs:
    """STS Benchmark's test part: tab-separated without any quoting."""
    name = "human_ratings/stsbenchmark/sts-test.csv"
    rows = [line.split("\t") for line in folder.lines(name)]
    if short := [number for number, row in enumerate(rows, 1) if len(row) < _COLUMNS]:
        raise BenchError(f"{folder.root / name}, line {short[0]}: fewer than {_COLUMNS} columns")
    folder.count(name, len(rows), 1_379)
    try:
        ratings = [float(row[4]) for row in rows]
    except ValueError as error:
        raise BenchError(f"{folder.root / name}: a rating is no number: {error}") from None
    return Pairs([row[5] for row in rows], [row[6] for row in rows], ratings)


def sts13(folder: Folder) -> Pairs:
    """STS 2013."""
    return _json_pairs(folder, "human_ratings/sts13/test.jsonl", 1_500)


def sts14(folder: Folder) -> Pairs:
    """STS 2014."""
    return _json_pairs(folder, "human_ratings/sts14/test.jsonl", 3_750)


def _json_pairs(folder: Folder, name: str, wanted: int) -> Pairs:
    rows = folder.json_lines(name, "sentence1", "sentence2", "score")
    folder.count(name, len(rows), wanted)
    return Pairs(
        [row["sentence1"] for row in rows],
        [row["sentence2"] for row in rows],
        [float(row["score"]) for row in rows],
    )
