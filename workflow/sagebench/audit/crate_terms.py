"""What an RO-Crate calls things: profiles, outputs, media types, paths from where it lies."""

import posixpath
from pathlib import Path, PurePosixPath
from typing import Any

FILE = "ro-crate-metadata.json"
CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"  # defines sha256 and md5
WORKFLOW_PROFILE = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
OUTPUTS = {
    "tables": "every result table, as CSV, Markdown and LaTeX",
    "figures": "every figure, as SVG and PNG",
    "corpora": "the data card: what was read, dropped and repaired",
    "metrics": "the headline numbers, for `dvc metrics`",
    "report": "one page with all of it, each number with its trace",
}
_TYPES = {
    ".csv": "text/csv", ".gz": "application/gzip", ".json": "application/json",
    ".jsonl": "application/jsonl", ".md": "text/markdown", ".parquet":
    "application/vnd.apache.parquet", ".png": "image/png", ".smk": "text/x-python",
    ".svg": "image/svg+xml", ".tex": "application/x-tex", ".txt": "text/plain",
    ".whl": "application/zip", ".yaml": "application/yaml", ".zip": "application/zip",
}  # fmt: skip


def media_type(path: str) -> str:
    """The media type of a file, by its name."""
    return _TYPES.get(PurePosixPath(path).suffix, "application/octet-stream")


def moved(value: Any, folder: Path) -> Any:
    """The same with every path as seen from `folder`, and lists of one entry as that entry."""
    if isinstance(value, list):
        entries = [moved(entry, folder) for entry in value]
        return entries[0] if len(entries) == 1 else entries
    if not isinstance(value, dict):
        return value
    found = {key: moved(entry, folder) for key, entry in value.items()}
    identifier = found.get("@id", "#")
    if identifier not in ("./", FILE) and ":" not in identifier and identifier[0] != "#":
        slash = "/" * identifier.endswith("/")
        found["@id"] = posixpath.relpath(identifier, folder.as_posix()) + slash
    return found
