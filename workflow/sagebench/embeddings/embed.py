"""A task's texts to a table of vectors, each computed once per model, role and visible text."""

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from sagebench import frames
from sagebench.embeddings import batch
from sagebench.embeddings.base import Encoder, Reading, Vector
from sagebench.embeddings.batch import BatchEncoder
from sagebench.embeddings.keys import query_key, text_key, vector_key
from sagebench.embeddings.store import SHARDS, Store

if TYPE_CHECKING:
    from tqdm import tqdm

_COMMIT_EVERY = 5.0  # seconds of work that a kill may cost
_PAUSE = 0.2  # seconds between two looks at shards that another job is at


@dataclass(frozen=True)
class _Text:
    """A distinct text: its address, its reading by the model, the address of its vector."""

    sha256: str
    reading: Reading
    key: bytes


def embed_roles(texts: Mapping[str, Iterable[str]], encoder: Encoder) -> pl.DataFrame:
    """The frames.EMBEDDINGS table of the texts of each role (`sagebench.roles`).

    Where the model reads queries in another way than documents, a query has an address of its
    own (`keys.query_key`), and a text that is both has two rows.
    """
    encoders = {role: encoder.for_role(role) for role in sorted(texts)}
    if len({each.fingerprint for each in encoders.values()}) == 1:
        merged = {text for group in texts.values() for text in group}
        return embed(sorted(merged), next(iter(encoders.values())))
    tables = [
        embed(texts[role], each, key=query_key if role == "query" else text_key)
        for role, each in encoders.items()
    ]
    return frames.EMBEDDINGS.check(pl.concat(tables).sort("text_sha256"))


def embed(
    texts: Iterable[str],
    encoder: Encoder,
    store: Store | None = None,
    key: Callable[[str], str] = text_key,
) -> pl.DataFrame:
    """The frames.EMBEDDINGS table of the distinct texts, sorted by text_sha256, which is `key`'s.

    Only vectors that the store lacks are computed, and jobs of the same model that run at the
    same time divide them. Progress and a line of counts go to standard error.
    """
    if store is None:
        with Store.of(encoder) as own:
            return embed(texts, encoder, own, key)
    known = _read(texts, encoder, key)
    # Many texts may share a key: those that differ only behind the cut.
    wanted = {item.key: item for item in known if item.reading.visible}
    vectors = store.get_many(wanted)
    stored = len(vectors)
    if isinstance(encoder, BatchEncoder) and not encoder.shared:
        computed = _Batches(encoder, store, wanted, vectors).run()
    else:
        computed = _Computation(encoder, store, wanted, vectors).run()
    table = _table(known, vectors, encoder)
    sys.stderr.write(
        f"{encoder.name}: {table.height} distinct texts, {len(wanted)} distinct visible, "
        f"{stored} already stored, {computed} computed, {table['truncated'].sum()} truncated, "
        f"{table.height - table['valid'].sum()} without direction\n"
    )
    return table


def _read(texts: Iterable[str], encoder: Encoder, address: Callable[[str], str]) -> list[_Text]:
    from tqdm import tqdm

    distinct = sorted({address(text): text for text in texts}.items())
    found = []
    for sha256, text in tqdm(distinct, desc=f"{encoder.name}: read", unit="text", leave=False):
        reading = encoder.read(text)
        found.append(_Text(sha256, reading, vector_key(encoder.fingerprint, reading.visible)))
    return found


def _table(known: list[_Text], vectors: dict[bytes, Vector], encoder: Encoder) -> pl.DataFrame:
    nothing = np.zeros(encoder.dim, np.float32)
    rows = [vectors.get(item.key, nothing) for item in known]
    tokens = [item.reading.tokens for item in known]
    limit = encoder.max_tokens
    matrix = np.stack(rows) if rows else np.zeros((0, encoder.dim), np.float32)
    table = pl.DataFrame(
        {
            "text_sha256": pl.Series([item.sha256 for item in known], dtype=pl.String),
            "vector": pl.Series(matrix, dtype=pl.Array(pl.Float32, encoder.dim)).cast(
                pl.List(pl.Float32)
            ),
            "tokens": pl.Series(tokens, dtype=pl.Int64),
            "truncated": pl.Series(
                [limit is not None and count > limit for count in tokens], dtype=pl.Boolean
            ),
            "valid": pl.Series(matrix.any(axis=1), dtype=pl.Boolean),
        }
    )
    return frames.EMBEDDINGS.check(table, f"embeddings of {encoder.name}")


class _Computation:
    """Fills `vectors` with the missing ones.

    The missing keys are cut into shards by their first bits. A shard is looked up again and
    computed under its lock, so that two jobs never compute the same vector; what another job is
    at is tried again later, and found in the store then.
    """

    def __init__(
        self,
        encoder: Encoder,
        store: Store,
        wanted: dict[bytes, _Text],
        vectors: dict[bytes, Vector],
    ) -> None:
        self._encoder, self._store, self._wanted, self._vectors = encoder, store, wanted, vectors
        shards: dict[int, list[bytes]] = {}
        for key in sorted(wanted.keys() - vectors.keys()):
            shards.setdefault(key[0] * SHARDS // 256, []).append(key)
        # Jobs start apart, so that they meet late; 29 and 64 have no common factor.
        first = os.getpid() * 29 % SHARDS
        self._todo = deque(sorted(shards.items(), key=lambda item: (item[0] - first) % SHARDS))
        self._left = sum(map(len, shards.values()))

    def run(self) -> int:
        """The number of vectors that this job computed itself."""
        from tqdm import tqdm

        computed = refused = 0
        with tqdm(
            total=self._left, desc=self._encoder.name, unit="text", disable=not self._left
        ) as bar:
            while self._todo:
                shard, keys = self._todo.popleft()
                with self._store.attempt(shard) as free:
                    if free:
                        refused = 0
                        computed += self._compute(keys, bar)
                        continue
                self._todo.append((shard, keys))
                refused += 1
                if refused >= len(self._todo):
                    refused = 0
                    time.sleep(_PAUSE)
        return computed

    def _compute(self, keys: list[bytes], bar: "tqdm") -> int:
        found = self._store.get_many(keys)
        self._vectors.update(found)
        bar.total = (bar.total or 0) - len(found)  # the rate counts what is really computed
        missing = [key for key in keys if key not in found]
        fresh: dict[bytes, Vector] = {}
        try:
            committed = time.monotonic()
            for key in missing:
                item = self._wanted[key]
                fresh[key] = self._encoder.vector(item.reading)
                bar.update()
                if time.monotonic() - committed > _COMMIT_EVERY:
                    self._keep(fresh)
                    committed = time.monotonic()
        finally:
            self._keep(fresh)
        return len(missing)

    def _keep(self, fresh: dict[bytes, Vector]) -> None:
        self._store.put_many(fresh)
        self._vectors.update(fresh)
        fresh.clear()


class _Batches:
    """Fills `vectors` with the missing ones, batch by batch; each is in the store when it is done.

    One job of a model at a time, so that the model's limit on requests under way holds for all.
    """

    def __init__(
        self,
        encoder: BatchEncoder,
        store: Store,
        wanted: dict[bytes, _Text],
        vectors: dict[bytes, Vector],
    ) -> None:
        self._encoder, self._store, self._wanted, self._vectors = encoder, store, wanted, vectors

    def run(self) -> int:
        """The number of vectors that this job computed itself."""
        missing = self._wanted.keys() - self._vectors.keys()
        if not missing:
            return 0
        with self._store.alone():
            self._vectors.update(self._store.get_many(missing))  # another job's, meanwhile
            readings = [self._wanted[key].reading for key in sorted(missing - self._vectors.keys())]
            self._compute(readings)
        return len(readings)

    def _compute(self, readings: list[Reading]) -> None:
        from tqdm import tqdm

        with tqdm(total=len(readings), desc=self._encoder.name, unit="text") as bar:

            def keep(done: list[Reading], vectors: list[Vector]) -> None:
                keys = [vector_key(self._encoder.fingerprint, each.visible) for each in done]
                fresh = dict(zip(keys, vectors, strict=True))
                self._store.put_many(fresh)
                self._vectors.update(fresh)
                bar.update(len(done))

            batch.compute(self._encoder, readings, keep)
