"""Missing vectors, computed and stored: text by text among jobs, or batch by batch by one."""

import os
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sagebench.embeddings import batch
from sagebench.embeddings.base import Encoder, Reading, Vector
from sagebench.embeddings.batch import BatchEncoder
from sagebench.embeddings.keys import vector_key
from sagebench.embeddings.store import SHARDS, Store

if TYPE_CHECKING:
    from tqdm import tqdm

_COMMIT_EVERY = 5.0  # seconds of work that a kill may cost
_PAUSE = 0.2  # seconds between two looks at shards that another job is at


@dataclass(frozen=True)
class Text:
    """A distinct text: its address, its reading by the model, the address of its vector."""

    address: str
    reading: Reading
    key: bytes


def fill(
    encoder: Encoder, store: Store, wanted: dict[bytes, Text], vectors: dict[bytes, Vector]
) -> int:
    """Put the wanted vectors that `vectors` lacks into it and the store; how many were computed.

    Jobs of the same model that run at the same time divide them.
    """
    if isinstance(encoder, BatchEncoder) and not encoder.shared:
        return _Batches(encoder, store, wanted, vectors).run()
    return _Computation(encoder, store, wanted, vectors).run()


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
        wanted: dict[bytes, Text],
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
        wanted: dict[bytes, Text],
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
