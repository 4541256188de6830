"""20 Newsgroups, subject lines, by MTEB's two clustering protocols (mini-batch k-means).

The published runs cluster ten given sets, 59,545 subjects in all, sampled from the newsgroups by
a rule that is not stated. Here the sets are drawn anew from the 18,846 messages of the by-date
version, so scores are near the published ones, not equal to them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench import rng
from sagebench.embeddings.threads import one_thread
from sagebench.published.folder import Folder
from sagebench.published.vectors import Vectors

_SEED = 42
_SETS, _PUBLISHED = 10, 59_545  # sets, and the subjects of all of them together
_EMBEDDED, _RESAMPLE = 0.04, 16_384  # version 2: share of subjects read, size of a resample


@dataclass(frozen=True)
class Sets:
    """Version 1: every set is clustered as a whole."""

    subjects: list[str]
    labels: npt.NDArray[np.str_]
    chosen: list[npt.NDArray[np.int64]]  # per set the rows that it clusters
    batch: int = 500

    @classmethod
    def read(cls, folder: Folder) -> "Sets":
        """Ten sets of the published mean size, each drawn without repeats."""
        subjects, labels = _read(folder)
        draw = rng.generator(_SEED, "newsgroups", "sets")
        size = _PUBLISHED // _SETS
        chosen = [draw.permutation(len(subjects))[:size] for _ in range(_SETS)]
        return cls(subjects, labels, chosen)

    @property
    def texts(self) -> list[str]:
        """The subjects of all sets."""
        rows = sorted({int(row) for rows in self.chosen for row in rows})
        return [self.subjects[row] for row in rows]

    def scores(self, vectors: Vectors) -> dict[str, Any]:
        """The mean of the sets' V-measures, their spread, and each of them."""
        values = self.v_measures(vectors)
        return {
            "v_measure": float(np.mean(values)),
            "v_measure_std": float(np.std(values)),
            "v_measures": self.listed(values),
        }

    def v_measures(self, vectors: Vectors) -> list[float]:
        """One V-measure a set; k is its number of classes."""
        from sklearn.cluster import MiniBatchKMeans
        from sklearn.metrics import v_measure_score

        one_thread()
        found = []
        for rows in self.chosen:
            classes = self.labels[rows]
            model = MiniBatchKMeans(
                n_clusters=len(set(classes)), batch_size=self.batch, n_init="auto",
                random_state=_SEED,
            )  # fmt: skip
            clusters = model.fit_predict(vectors.matrix([self.subjects[row] for row in rows]))
            found.append(float(v_measure_score(classes, clusters)))
        return found

    def listed(self, values: list[float]) -> Any:
        """The single values as MTEB's file has them."""
        return values


@dataclass(frozen=True)
class Resampled(Sets):
    """Version 2: a small part is read, and resampled with repeats ten times."""

    batch: int = 512

    @classmethod
    def read(cls, folder: Folder) -> "Resampled":
        """As many subjects as the published run read, 4 % of its own."""
        subjects, labels = _read(folder)
        draw = rng.generator(_SEED, "newsgroups", "resampled")
        read = draw.permutation(len(subjects))[: int(_EMBEDDED * _PUBLISHED)]
        return cls(subjects, labels, [draw.choice(read, _RESAMPLE) for _ in range(_SETS)])

    def listed(self, values: list[float]) -> Any:
        """By level of the classes, of which there is one."""
        return {"Level 0": values}


def _read(folder: Folder) -> tuple[list[str], npt.NDArray[np.str_]]:
    name = "clustering/twentynewsgroups_subjects/data.jsonl.gz"
    rows = folder.json_lines(name, "text", "label")
    folder.count(name, len(rows), 18_846)
    # A subject without a word leaves a model nothing to read.
    rows = [row for row in rows if row["text"].strip()]
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])
