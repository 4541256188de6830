"""Records of artifacts that travel with the data: data/provenance/<stage>.json.

Snakemake decides what is stale by records in .snakemake/, which neither Git nor DVC carries. So
the record of each artifact is also kept beside the data, with the sha256 of the bytes it speaks
of, one file per stage of dvc.yaml and versioned with that stage's other outputs. Nothing in it
depends on time, machine or folder: equal builds write equal bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sagebench.corpora.files import write_bytes
from sagebench.plan import DATA

FOLDER = DATA / "provenance"
# Of Snakemake's record: what its rerun triggers and its report read, and no times.
FIELDS = (
    "rule",
    "code",
    "params",
    "input",
    "input_checksums",
    "log",
    "shellcmd",
    "conda_env",
    "container_img_url",
    "software_stack_hash",
    "record_format_version",
)


@dataclass(frozen=True)
class Recorded:
    """The bytes of one artifact and the record of the job that wrote them.

    `since` is when the record came here, in seconds since the epoch.
    """

    sha256: str
    fields: dict[str, Any]
    since: float = 0.0


def path(stage: str) -> Path:
    """The file that holds a stage's records."""
    return FOLDER / f"{stage}.json"


def write(stage: str, found: Mapping[str, Recorded]) -> None:
    """Write a stage's records, one entry per job, in the order of the jobs' first outputs."""
    jobs: dict[str, dict[str, Any]] = {}
    for name, recorded in sorted(found.items()):
        key = json.dumps(recorded.fields, sort_keys=True)
        job = jobs.setdefault(key, {"output": {}, **recorded.fields})
        job["output"][name] = recorded.sha256
    text = json.dumps({"jobs": list(jobs.values())}, sort_keys=True, indent=1) + "\n"
    if not path(stage).exists() or path(stage).read_bytes() != text.encode():
        write_bytes(path(stage), text.encode())


def read_all(folder: Path = FOLDER) -> dict[str, Recorded]:
    """Artifact -> record, of all stages. A file that is no longer JSON counts as absent."""
    found: dict[str, Recorded] = {}
    for file in sorted(folder.glob("*.json")):
        try:
            jobs, since = json.loads(file.read_text(encoding="utf-8"))["jobs"], file.stat().st_mtime
            for job in jobs:
                fields = {name: job[name] for name in FIELDS}
                found |= {path: Recorded(sha, fields, since) for path, sha in job["output"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found
