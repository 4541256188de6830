"""The sources that were used: which archive, of what licence, and for what."""

from sagebench.audit.history import History, Job

COLUMNS = (
    "source", "package", "version", "archive", "sha256", "licence", "citation", "note",
    "files", "used_by",
)  # fmt: skip


def rows(history: History) -> list[dict[str, str]]:
    """One row per source that some result rests on, sorted by name, as its fetch was recorded."""
    jobs = [job for job in history.all_jobs if job.name == "fetch"]
    return [_row(history, job) for job in jobs]


def _row(history: History, job: Job) -> dict[str, str]:
    stated = {key: str(job.spec.get(key, "")) for key in COLUMNS}
    return stated | {
        "source": job.place,
        "files": "; ".join(job.spec["files"]),
        "used_by": "; ".join(used_by(history, job)),
    }


def used_by(history: History, source: Job) -> list[str]:
    """What reads a source's files: corpora, models, perturbations, metrics, by name, sorted."""
    files = set(source.outputs)
    return sorted({_reader(job) for job in history.all_jobs if files & set(job.inputs)})


def _reader(job: Job) -> str:
    kind = {"corpus": "corpus", "embed": "model", "perturb": "perturbation", "similarity": "metric"}
    return f"{kind.get(job.name, job.name)} {job.place.rpartition('/')[2]}"
