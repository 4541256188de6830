"""MTEB's published main scores, as the folder of benchmark data lists them."""

from dataclasses import dataclass

from sagebench.errors import BenchError
from sagebench.published.folder import Folder

_FILE = "reference_scores/main_scores.tsv"
_SELF_REPORTED = "external"  # in the place of a revision: taken from the model's own card


@dataclass(frozen=True)
class Score:
    """A published main score and the run that it comes from."""

    value: float
    revision: str  # of the model
    dataset_revision: str
    mteb_version: str


def read(folder: Folder) -> dict[tuple[str, str], Score]:
    """(model, task) -> the score of the test part, models as "organisation/name".

    Of several runs the one with the newest version of MTEB counts; what a model's card reports
    counts only where nobody else's run is there.
    """
    keys = ("model", "model_revision", "task", "split", "subset", "main_score")
    ranked: dict[tuple[str, str], tuple[tuple[bool, list[int], str], Score]] = {}
    for row in folder.table(_FILE, *keys, delimiter="\t"):
        if (row["split"], row["subset"]) != ("test", "default"):
            continue
        try:
            value = float(row["main_score"])
        except ValueError as error:
            raise BenchError(f"{folder.root / _FILE}: {error}") from None
        revision, version = row["model_revision"], row["mteb_version"] or ""
        score = Score(value, revision, row["dataset_revision"] or "", version)
        rank = (revision != _SELF_REPORTED, _numbers(version), revision)
        key = (row["model"].replace("__", "/", 1), row["task"])
        if key not in ranked or rank > ranked[key][0]:
            ranked[key] = (rank, score)
    return {key: score for key, (_, score) in ranked.items()}


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]
