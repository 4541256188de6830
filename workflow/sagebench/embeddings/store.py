"""Vectors that were computed once, by content address, for every job on this machine."""

import os
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

import numpy as np

from sagebench.corpora import cache
from sagebench.embeddings.base import Encoder, Vector
from sagebench.embeddings.locks import Locks
from sagebench.errors import BenchError

FOLDER = Path(".cache/embeddings")
FOLDER_VARIABLE = "SAGEBENCH_STORE"
SHARDS = 64

_FILE_LOCK = SHARDS  # guards creating the file and setting it aside; shards use 0 … 63
_MODEL_LOCK = SHARDS + 1  # the whole model: one job at a time asks an API
_PATIENCE = 120  # seconds to wait for another job's commit
_ASKED = 1_000  # keys per query
_SETTINGS = (
    "page_size = 8192",  # a row of 384 numbers stays on one page
    "journal_mode = WAL",  # readers and a writer at once; a kill loses at most the open commit
    "synchronous = NORMAL",
    "mmap_size = 17179869184",  # bytes; reading through a map is three times as fast
    "cache_size = -65536",  # KiB
)
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors "
    "(key BLOB PRIMARY KEY, check_sum INTEGER NOT NULL, vector BLOB NOT NULL) WITHOUT ROWID"
)
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
T = TypeVar("T")


class _DamagedError(Exception):
    """The file is not what was written."""


@dataclass(frozen=True)
class Stat:
    """A store's file, its number of vectors and its size in bytes."""

    path: Path
    vectors: int
    size: int


def path_of(encoder: Encoder, folder: Path | None = None) -> Path:
    """A model's file: in `folder`, $SAGEBENCH_STORE, or .cache/embeddings of the project.

    What was paid for lies in the user's cache instead, where no `make clean` and no second
    checkout makes anyone pay again.
    """
    own = cache.folder() / "embeddings" if encoder.paid else FOLDER
    folder = folder or Path(os.environ.get(FOLDER_VARIABLE) or own)
    return folder / f"{encoder.name}-{encoder.fingerprint[:16]}.sqlite"


class Store:
    """One SQLite file of one model: 32-byte key -> float32 vector, little-endian, with a CRC-32.

    Safe for several processes at once and for kill -9 at any moment: a commit is there or not. A
    damaged file is moved aside, with a message, and started anew: it only saves time.
    """

    def __init__(self, path: Path, dim: int) -> None:
        """Open or create; BenchError if the folder cannot be written or the disk is full."""
        self.path, self._dim = path, dim
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._locks = Locks(path.with_suffix(".locks"))
        except OSError as error:
            raise self._unusable(error) from error
        with self._locks.hold(_FILE_LOCK):
            try:
                self._open()
            except sqlite3.DatabaseError as error:
                self._recover(error)

    @classmethod
    def of(cls, encoder: Encoder, folder: Path | None = None) -> Self:
        """The store of a model in `folder`, by default the one of `path_of`."""
        return cls(path_of(encoder, folder), encoder.dim)

    def close(self) -> None:
        """Close the file and release all locks."""
        self._connection.close()
        self._locks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, Vector]:
        """The vectors that are there, (dim,) float32 each; unknown keys are left out."""
        # Sorted keys walk the file from front to back.
        return self._safely(lambda: dict(self._rows(sorted(set(keys)))))

    def put_many(self, vectors: Mapping[bytes, Vector]) -> None:
        """Add the vectors in one commit; a key that is already there is overwritten."""
        rows = [(key, _check_sum(key, blob), blob) for key, blob in self._blobs(vectors)]

        def write() -> None:
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany("REPLACE INTO vectors VALUES (?, ?, ?)", rows)

        if rows:
            self._safely(write)

    def attempt(self, shard: int) -> AbstractContextManager[bool]:
        """The lock of a shard, without waiting: see `Locks.attempt`."""
        return self._locks.attempt(shard)

    def alone(self) -> AbstractContextManager[None]:
        """Wait until no other job is at this model, and keep others out within the context."""
        return self._locks.hold(_MODEL_LOCK)

    def stat(self) -> Stat:
        """How much is there."""
        count = self._safely(
            lambda: self._connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
        )
        return Stat(self.path, count, self.path.stat().st_size)

    def unused(self, wanted: Iterable[bytes]) -> int:
        """How many vectors have none of the wanted keys."""
        return self._safely(lambda: self._sieve(wanted, "SELECT count(*)"))

    def keep_only(self, wanted: Iterable[bytes]) -> int:
        """Delete all vectors but those of the wanted keys, give the space back; how many went.

        A job that is at work loses nothing: it holds its vectors itself, and puts them anew.
        """
        gone = self._safely(lambda: self._sieve(wanted, "DELETE"))
        if gone:
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone

    def verify(self) -> int:
        """The number of vectors after every byte was checked; BenchError if any is damaged."""
        try:
            (result,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
            if result != "ok":
                raise _DamagedError(result)
            rows = self._connection.execute("SELECT key, check_sum, vector FROM vectors")
            return sum(1 for row in rows if self._checked(*row) is not None)
        except (_DamagedError, sqlite3.DatabaseError) as error:
            raise BenchError(
                f"{self.path} is damaged ({error}); delete it to rebuild it"
            ) from error

    def _sieve(self, wanted: Iterable[bytes], action: str) -> int:
        run = self._connection.execute
        run("CREATE TEMP TABLE IF NOT EXISTS wanted (key BLOB PRIMARY KEY) WITHOUT ROWID")
        with self._connection:
            run("BEGIN IMMEDIATE")
            run("DELETE FROM wanted")
            keys = [(key,) for key in set(wanted)]
            self._connection.executemany("INSERT INTO wanted VALUES (?)", keys)
            cursor = run(f"{action} FROM vectors WHERE key NOT IN wanted")
            return cursor.rowcount if action == "DELETE" else int(cursor.fetchone()[0])

    def _blobs(self, vectors: Mapping[bytes, Vector]) -> Iterator[tuple[bytes, bytes]]:
        for key, vector in sorted(vectors.items()):
            if vector.shape != (self._dim,):
                raise ValueError(f"shape {vector.shape}, not ({self._dim},)")
            yield key, vector.astype("<f4").tobytes()

    def _rows(self, keys: list[bytes]) -> Iterator[tuple[bytes, Vector]]:
        for start in range(0, len(keys), _ASKED):
            part = keys[start : start + _ASKED]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, check_sum, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608
            for row in self._connection.execute(query, part):
                yield row[0], self._checked(*row)

    def _checked(self, key: bytes, check_sum: int, blob: bytes) -> Vector:
        if len(blob) != 4 * self._dim or check_sum != _check_sum(key, blob):
            raise _DamagedError(f"the vector of key {key.hex()[:16]} is not what was written")
        return np.frombuffer(blob, "<f4").astype(np.float32, copy=False)

    def _open(self) -> None:
        self.path.touch()
        self._inode = self.path.stat().st_ino
        self._connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        for setting in _SETTINGS:
            self._connection.execute(f"PRAGMA {setting}")
        self._connection.execute(_SCHEMA)

    def _safely(self, action: Callable[[], T]) -> T:
        """The action's result; if the file is damaged, the result on a fresh one."""
        try:
            return action()
        except (_DamagedError, sqlite3.DatabaseError) as error:
            with self._locks.hold(_FILE_LOCK):
                self._recover(error)
        return action()

    def _recover(self, error: Exception) -> None:
        """After damage: move the file aside, unless another job just did, and open a fresh one."""
        name = getattr(error, "sqlite_errorname", "")
        if isinstance(error, sqlite3.Error) and not name.startswith(_DAMAGE):
            raise self._unusable(error) from error
        self._connection.close()
        if self.path.exists() and self.path.stat().st_ino == self._inode:
            self._set_aside(error)
        self._open()

    def _set_aside(self, error: Exception) -> None:
        number = 1
        while (aside := self.path.with_suffix(f".damaged-{number}")).exists():
            number += 1
        os.replace(self.path, aside)
        for suffix in ("-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        sys.stderr.write(
            f"warning: {self.path} was damaged ({error}). It is now {aside.name}, which can be "
            "deleted; its vectors are computed again\n"
        )

    def _unusable(self, error: Exception) -> BenchError:
        return BenchError(
            f"the store of embeddings {self.path} cannot be used: {error}. Free space or rights "
            f"there, or set {FOLDER_VARIABLE} to another folder"
        )


def _check_sum(key: bytes, blob: bytes) -> int:
    return zlib.crc32(blob, zlib.crc32(key))
