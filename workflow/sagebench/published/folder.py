"""The folder of published benchmark data: where each set lies, and how its files are read."""

import csv
import gzip
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sagebench.corpora.folder import FOLDER_VARIABLE
from sagebench.errors import BenchError


@dataclass(frozen=True)
class Folder:
    """Files below `root`; every reader raises BenchError for a file that is missing or broken."""

    root: Path

    @classmethod
    def of(cls, given: Path | None) -> "Folder":
        """The folder given, or $SAGEBENCH_DATA; BenchError if neither is one."""
        default = os.environ.get(FOLDER_VARIABLE)
        path = given or (Path(default) if default else None)
        if path is None:
            raise BenchError(
                f"no folder of benchmark data: name it with --data, or set {FOLDER_VARIABLE}"
            )
        if not path.is_dir():
            raise BenchError(f"{path} is no folder; name the benchmark data with --data")
        return cls(path)

    def text(self, name: str) -> str:
        """The UTF-8 text of a file; one whose name ends in .gz is unpacked."""
        path = self.root / name
        try:
            content = path.read_bytes()
            content = gzip.decompress(content) if name.endswith(".gz") else content
            return content.decode("utf-8")
        except FileNotFoundError:
            raise BenchError(
                f"{path} is missing; the benchmark data ({self.root}) must hold {name}"
            ) from None
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise BenchError(f"{path} cannot be read: {error}") from None

    def lines(self, name: str) -> list[str]:
        """The lines that are not empty; only line feeds end one, texts may hold U+2028."""
        return [line.rstrip("\r") for line in self.text(name).split("\n") if line.strip()]

    def json_lines(self, name: str, *keys: str) -> list[dict[str, Any]]:
        """One object a line, each with the `keys`."""
        rows = []
        for number, line in enumerate(self.lines(name), 1):
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise BenchError(f"{self.root / name}, line {number}: {error}") from None
            self._require(name, number, row, keys)
            rows.append(row)
        return rows

    def table(self, name: str, *keys: str, delimiter: str = ",") -> list[dict[str, Any]]:
        """Rows of a table with a header, each with the `keys`."""
        stream = io.StringIO(self.text(name), newline="")
        rows: list[dict[str, Any]] = list(csv.DictReader(stream, delimiter=delimiter))
        for number, row in enumerate(rows, 2):
            self._require(name, number, row, keys)
        return rows

    def count(self, name: str, rows: int, wanted: int) -> None:
        """BenchError unless a set has as many rows as the published run had."""
        if rows != wanted:
            raise BenchError(
                f"{self.root / name} has {rows:,} rows where the published run had {wanted:,}; "
                "scores on other rows cannot be compared"
            )

    def _require(self, name: str, number: int, row: Any, keys: tuple[str, ...]) -> None:
        missing = [key for key in keys if not isinstance(row, dict) or row.get(key) is None]
        if missing:
            raise BenchError(f"{self.root / name}, line {number}: no value for {missing[0]!r}")
