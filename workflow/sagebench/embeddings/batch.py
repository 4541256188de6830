"""Encoders that compute many texts at a time, and the computation that keeps every batch at once.

For what is slow or costly one text at a time: a request to an API, a pass through a GPU.
"""

import threading
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench.embeddings.base import Encoder, Reading, Vector


class BatchEncoder(Encoder):
    """An encoder whose unit of work is a batch. Batch mates may change a vector's last bits."""

    concurrency = 1  # batches under way at the same time
    shared = False  # whether several jobs may compute at once, text by text

    @abstractmethod
    def batches(self, readings: list[Reading]) -> list[list[Reading]]:
        """The readings in batches, each within the model's limits."""

    @abstractmethod
    def _compute_batch(self, batch: list[Reading]) -> Sequence[npt.NDArray[Any]]:
        """One (dim,) array per reading, none of which is blank. Called from several threads."""

    def _compute(self, reading: Reading) -> npt.NDArray[Any]:
        return self._compute_batch([reading])[0]

    def vectors(self, batch: list[Reading]) -> list[Vector]:
        """(dim,) float32 of length 1 per reading of one batch; BenchError on NaN."""
        found = self._compute_batch(batch)
        return [self.unit(raw, reading) for raw, reading in zip(found, batch, strict=True)]

    def encode(self, texts: list[str]) -> Vector:
        """(n, dim) float32, rows of length 1; zeros where a text has no direction."""
        readings = [self.read(text) for text in texts]
        found: dict[bytes, Vector] = {}
        for batch in self.batches([reading for reading in readings if reading.visible]):
            found |= {r.visible: v for r, v in zip(batch, self.vectors(batch), strict=True)}
        nothing = np.zeros(self.dim, np.float32)
        rows = [found.get(reading.visible, nothing) for reading in readings]
        return np.stack(rows) if rows else np.zeros((0, self.dim), np.float32)


def compute(
    encoder: BatchEncoder,
    readings: list[Reading],
    keep: Callable[[list[Reading], list[Vector]], None],
) -> None:
    """Compute all readings; `keep` gets each batch when it is done, in this thread.

    After a failure no new batch is begun, but those under way are waited for and kept, for they
    may be paid; then the first error is raised.
    """
    if encoder.concurrency == 1:
        for batch in encoder.batches(readings):
            keep(batch, encoder.vectors(batch))
        return
    failure: BaseException | None = None
    failed = threading.Event()

    def work(batch: list[Reading]) -> list[Vector]:
        if failed.is_set():
            raise CancelledError
        return encoder.vectors(batch)

    with ThreadPoolExecutor(encoder.concurrency) as pool:
        futures = {pool.submit(work, batch): batch for batch in encoder.batches(readings)}
        for future in as_completed(futures):
            try:
                keep(futures[future], future.result())
            except CancelledError:
                continue
            except Exception as error:
                failure = failure or error
                failed.set()
    if failure:
        raise failure
