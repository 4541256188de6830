"""MTEB's tasks that the folder's data allow: what is read, how it is scored, how near we must be.

A check's scores carry MTEB's own names (its 1.12 result files), so that they can be written as
one. `tolerance` is the largest difference from a published main score that counts as reproduced;
None where the data are not those of the published run, and then `note` says what differs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from sagebench.published import banking, newsgroups, scifact, sts
from sagebench.published.folder import Folder
from sagebench.published.vectors import Vectors

Scores = dict[str, Any]  # MTEB's name -> float, or lists and dicts of single runs


class Prepared(Protocol):
    """A task with its data read."""

    @property
    def texts(self) -> list[str]:
        """Every text that is to be embedded."""

    def scores(self, vectors: Vectors) -> Scores:
        """Every score of one model."""


@dataclass(frozen=True)
class Check:
    """One MTEB task: `main` names the score that is compared."""

    task: str
    main: str
    tolerance: float | None
    dataset_revision: str  # of the published runs
    prepare: Callable[[Folder], Prepared]
    note: str = ""


_SUBJECTS = (
    "same messages, other sampling: the published run's ten sets of subjects are not at hand, "
    "so the difference is shown and not judged"
)

CHECKS = {
    check.task: check
    for check in (
        Check(
            "STSBenchmark", "cosine_spearman", 0.002,
            "b0fddb56ed78048fa8b90373c8a3cfc37b684831", sts.benchmark,
        ),
        Check(
            "STS13", "cosine_spearman", 0.002,
            "7e90230a92c190f1bf69ae9002b8cea547a64cca", sts.sts13,
        ),
        Check(
            "STS14", "cosine_spearman", 0.002,
            "6031580fec1f6af667f0bd2da0a551cf4f0b2375", sts.sts14,
        ),
        Check(
            "SciFact", "ndcg_at_10", 0.005,
            "0228b52cf27578f30900b9e5271d331663a030d7", scifact.SciFact.read,
        ),
        Check(
            "Banking77Classification", "accuracy", 0.005,
            "0fd18e25b25c072e09e0d92ab615fda904d66300", banking.Banking77.read,
        ),
        Check(
            "TwentyNewsgroupsClustering", "v_measure", None,
            "6125ec4e24fa026cec8a478383ee943acfbd5449", newsgroups.Sets.read, _SUBJECTS,
        ),
        Check(
            "TwentyNewsgroupsClustering.v2", "v_measure", None,
            "6125ec4e24fa026cec8a478383ee943acfbd5449", newsgroups.Resampled.read, _SUBJECTS,
        ),
    )
}  # fmt: skip
