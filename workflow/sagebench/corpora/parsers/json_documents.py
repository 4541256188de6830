"""Documents with a summary as JSON: one object a line, or one object of objects."""

import json
from pathlib import Path
from typing import Any

from sagebench.corpora.records import Document, Parsed
from sagebench.errors import BenchError
from sagebench.registry import register


@register("parser", "json_line_documents")
def json_line_documents(
    files: list[Path], doc_id: str, text: str, summary: str
) -> Parsed[Document]:
    """Role documents: the three options name the keys of a line's object."""
    rows = [row for path in files for row in json_lines(path, doc_id, text, summary)]
    return Parsed(len(rows), [Document(row[text], row[summary], str(row[doc_id])) for row in rows])


@register("parser", "json_object_documents")
def json_object_documents(files: list[Path], text: str, summary: str) -> Parsed[Document]:
    """Role documents: one object whose keys are the documents' ids."""
    parsed = Parsed[Document](0)
    for path in files:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            raise BenchError(f"{path.name}: {error}") from None
        for name, row in content.items():
            _require(path, name, row, (text, summary))
            parsed.rows.append(Document(row[text], row[summary], name))
    parsed.read = len(parsed.rows)
    return parsed


def json_lines(path: Path, *keys: str) -> list[dict[str, Any]]:
    """One object a line, each with the `keys`; BenchError names the line that is none."""
    rows = []
    # Not splitlines(): characters such as U+2028 may stand inside a text.
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise BenchError(f"{path.name}, line {number}: {error}") from None
            _require(path, f"line {number}", row, keys)
            rows.append(row)
    return rows


def _require(path: Path, where: str, row: Any, keys: tuple[str, ...]) -> None:
    for key in keys:
        if not isinstance(row, dict) or row.get(key) is None:
            raise BenchError(f"{path.name}, {where}: no value for {key!r}")
