"""The vectors of an embeddings table, found by text, in memory or on disk."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from sagebench import frames
from sagebench.embeddings.keys import text_key
from sagebench.errors import BenchError

HELD = 2**29  # bytes of vectors that are held in memory
_ROWS = 50_000  # rows that are read at a time: a row group

Rows = npt.NDArray[np.int64]


class Vectors:
    """Row numbers of texts, and the vectors of rows; 64 bytes a text besides the vectors.

    Vectors of more than `held` bytes lie in a file without a name beside the table, which goes
    with the process: 100,000 documents with 18 perturbed copies have 3 GB of them.
    """

    def __init__(self, table: pl.DataFrame | Path, held: int = HELD) -> None:
        """`table`: frames.EMBEDDINGS, or where it lies. BenchError if it does not fit."""
        parts = iter([table]) if isinstance(table, pl.DataFrame) else _parts(table)
        keys, valid, held_parts = [], [], []
        self._file = None
        self.dim = self.size = 0
        for part in parts:
            keys.append(part["text_sha256"].to_numpy().astype("S64"))
            valid.append(part["valid"].to_numpy())
            matrix = _matrix(part)
            self.dim = max(self.dim, matrix.shape[1])
            self.size += len(matrix)
            held_parts.append(matrix)
            if self._file is None and 4 * self.size * self.dim > held:
                folder = None if isinstance(table, pl.DataFrame) else table.parent
                self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - kept open
            if self._file is not None:
                for waiting in held_parts:
                    self._file.write(np.ascontiguousarray(waiting).data)
                held_parts.clear()
        if self._file is not None:
            self._file.flush()
        self._held = np.concatenate([np.zeros((0, self.dim), np.float32), *held_parts])
        self.valid = np.concatenate([np.zeros(0, dtype=bool), *valid])
        found = np.concatenate([np.zeros(0, "S64"), *keys])
        # One more at the end, where a search that finds nothing may end.
        order = np.argsort(found, kind="stable")
        self._order, self._keys = np.append(order, 0), np.append(found[order], b"")

    def any(self, texts: Sequence[str], key: Callable[[str], str]) -> bool:
        """Whether the table has a row of any of the texts under its `key`."""
        return bool(self._look(texts, key)[1].any())

    def _look(
        self, texts: Sequence[str], key: Callable[[str], str]
    ) -> tuple[Rows, npt.NDArray[np.bool_]]:
        wanted = np.array([key(text) for text in texts], dtype="S64")
        place = np.searchsorted(self._keys[:-1], wanted)
        return place, self._keys[place] == wanted

    def find(self, texts: Sequence[str], key: Callable[[str], str] = text_key) -> Rows:
        """(n,) the row of each text under its `key`; BenchError if one is not in the table."""
        place, known = self._look(texts, key)
        if not known.all():
            text = texts[int(np.argmin(known))]
            raise BenchError(
                f"no embedding of the text that begins {text[:60]!r} (sha256 "
                f"{text_key(text)[:16]}): this table was made for other texts; delete it and run "
                "again"
            )
        return np.asarray(self._order[place], dtype=np.int64)

    def take(self, rows: Rows) -> npt.NDArray[np.float32]:
        """(n, dim) the vectors of the rows."""
        if self._file is None:
            return self._held[rows]
        width, handle = 4 * self.dim, self._file.fileno()
        # Not a memory map: the pages that it touches would count as this process's memory.
        read = b"".join(os.pread(handle, width, int(row) * width) for row in rows)
        return np.frombuffer(read, np.float32).reshape(-1, self.dim)


def _parts(path: Path) -> Iterator[pl.DataFrame]:
    """The table in parts of a row group each, checked."""
    from polars.exceptions import PolarsError

    try:
        rows = pl.scan_parquet(path).select(pl.len()).collect().item()
    except (OSError, PolarsError):
        rows = 0
    if rows <= _ROWS:  # also what cannot be read: `frames.read` says what is wrong with it
        yield frames.read(path, frames.EMBEDDINGS)
        return
    for start in range(0, rows, _ROWS):
        part = pl.scan_parquet(path).slice(start, _ROWS).collect()
        yield frames.EMBEDDINGS.check(part, str(path))


def _matrix(part: pl.DataFrame) -> npt.NDArray[np.float32]:
    """(n, dim) float32."""
    values: npt.NDArray[np.float32] = part["vector"].explode(empty_as_null=False).to_numpy()
    return values.reshape(part.height, len(values) // max(part.height, 1))
