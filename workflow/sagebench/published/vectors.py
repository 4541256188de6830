"""One model's vectors of the texts of the checks, by text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from sagebench.embeddings.base import Encoder, Vector
from sagebench.embeddings.embed import embed
from sagebench.embeddings.keys import text_key
from sagebench.embeddings.store import Store
from sagebench.errors import BenchError
from sagebench.metrics.cosine import Cosine


@dataclass(frozen=True)
class Vectors:
    """A table of embeddings (frames.EMBEDDINGS) in which every text has a direction."""

    table: pl.DataFrame

    @classmethod
    def of(cls, encoder: Encoder, texts: Iterable[str], store: Store) -> "Vectors":
        """The project's own way: read, look up in the store, compute what it lacks.

        BenchError if a text leaves the model nothing to read: no score could count it.
        """
        table = embed(texts, encoder, store)
        if lost := table.height - int(table["valid"].sum()):
            raise BenchError(f"model {encoder.name!r} gives {lost} of the texts no direction")
        return cls(table)

    @cached_property
    def cosine(self) -> Cosine:
        """The system that compares these texts in every task."""
        return Cosine(self.table)

    def matrix(self, texts: Sequence[str]) -> Vector:
        """(n, dim) float32, rows of length 1, in the order of `texts`."""
        return self._matrix[[self._rows[text_key(text)] for text in texts]]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return dict(zip(self.table["text_sha256"], range(self.table.height), strict=True))

    @cached_property
    def _matrix(self) -> Vector:
        flat = self.table["vector"].explode(empty_as_null=False).to_numpy()
        return np.asarray(flat, np.float32).reshape(self.table.height, -1)
