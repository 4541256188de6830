"""The sources that were used: which archive, of what licence, and for what."""

from typing import Any
from urllib.parse import quote

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
    spec = described(job.spec)
    stated = {key: str(spec.get(key, "")) for key in COLUMNS}
    return stated | {
        "source": job.place,
        "files": "; ".join(job.spec["files"]),
        "used_by": "; ".join(used_by(history, job)),
    }


def described(spec: dict[str, Any]) -> dict[str, Any]:
    """A source's entry in the words of an archive's, whatever its kind: a Hub repository at a
    revision has no sha256 of its own, its files have (source.json beside them).
    """
    if "hub" in spec:
        named = {"package": f"huggingface.co/datasets/{spec['hub']}", "version": spec["revision"]}
        return {**spec, **named, "archive": f"{spec['hub']}@{spec['revision']}", "sha256": ""}
    if "why" in spec or "folder" in spec:
        whose = "the user's folder" if "folder" in spec else "the user's own"
        return {**spec, "package": whose, "version": "", "archive": "", "sha256": ""}
    return spec


def identifier(row: dict[str, str]) -> str:
    """A source's address: a package URL, a repository of the Hub, or a name within the crate."""
    if row["sha256"]:
        return f"pkg:pypi/{row['package'].lower()}@{row['version']}?file_name={row['archive']}"
    if row["archive"]:
        return f"https://{row['package']}/tree/{quote(row['version'], safe='')}"
    return f"#folder-{row['source']}"


def used_by(history: History, source: Job) -> list[str]:
    """What reads a source's files: corpora, models, perturbations, metrics, by name, sorted."""
    files = set(source.outputs)
    return sorted({_reader(job) for job in history.all_jobs if files & set(job.inputs)})


def _reader(job: Job) -> str:
    kind = {"corpus": "corpus", "embed": "model", "perturb": "perturbation", "similarity": "metric"}
    return f"{kind.get(job.name, job.name)} {job.place.rpartition('/')[2]}"
