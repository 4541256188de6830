"""A task's texts to a table of vectors, each computed once per model, role and visible text."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, nullcontext

import numpy as np
import polars as pl

from sagebench import frames
from sagebench.embeddings.base import Encoder, Vector
from sagebench.embeddings.fill import Text, fill
from sagebench.embeddings.keys import query_key, text_key, vector_key
from sagebench.embeddings.store import Store

# Texts that are read, computed and handed over together: what a model makes of 256 tokens takes
# some 6 kB, and a corpus of any size is to need little more memory than its texts do.
PART = 10_000


def embed_roles(
    texts: Mapping[str, Iterable[str]], encoder: Encoder, rows: int = PART
) -> Iterator[pl.DataFrame]:
    """The frames.EMBEDDINGS table of the texts of each role, in parts of `rows` rows.

    Sorted by text_sha256. Where the model reads queries in another way than documents, a query has
    an address of its own (`keys.query_key`), and a text that is both has two rows.
    """
    encoders = {role: encoder.for_role(role) for role in sorted(texts)}
    if len({each.fingerprint for each in encoders.values()}) == 1:
        encoders = {"": next(iter(encoders.values()))}
        texts = {"": (text for group in texts.values() for text in group)}
    with ExitStack() as stack:
        groups = []
        for role, each in encoders.items():
            store = stack.enter_context(Store.of(each))
            address = query_key if role == "query" else text_key
            groups.append((_Embedding(each, store, address), texts[role]))
        yield from _parts(groups, rows)


def embed(texts: Iterable[str], encoder: Encoder, store: Store | None = None) -> pl.DataFrame:
    """The frames.EMBEDDINGS table of the distinct texts, sorted by text_sha256.

    Only vectors that the store lacks are computed. Progress and a line of counts go to standard
    error.
    """
    with nullcontext(store) if store else Store.of(encoder) as held:
        return pl.concat(_parts([(_Embedding(encoder, held, text_key), texts)], PART))


class _Embedding:
    """One encoder with its store: addresses of texts, tables of parts of them, counts."""

    def __init__(self, encoder: Encoder, store: Store, address: Callable[[str], str]) -> None:
        self._encoder, self._store, self.address = encoder, store, address
        self._visible: set[bytes] = set()
        self._rows = self._stored = self._computed = self._truncated = self._valid = 0

    def table(self, part: list[tuple[str, str]], what: str) -> pl.DataFrame:
        """The table of (address, text) in their order."""
        known = self._read(part, what)
        # Many texts may share a key: those that differ only behind the cut.
        wanted = {item.key: item for item in known if item.reading.visible}
        vectors = self._store.get_many(wanted)
        self._stored += len(vectors.keys() - self._visible)
        self._visible.update(wanted)
        self._computed += fill(self._encoder, self._store, wanted, vectors)
        made = _table(known, vectors, self._encoder)
        self._rows += made.height
        self._truncated += int(made["truncated"].sum())
        self._valid += int(made["valid"].sum())
        return made

    def _read(self, part: list[tuple[str, str]], what: str) -> list[Text]:
        from tqdm import tqdm

        found = []
        name = f"{self._encoder.name}: read{what}"
        for address, text in tqdm(part, desc=name, unit="text", leave=False):
            reading = self._encoder.read(text)
            key = vector_key(self._encoder.fingerprint, reading.visible)
            found.append(Text(address, reading, key))
        return found

    def say(self) -> None:
        """The line of counts."""
        sys.stderr.write(
            f"{self._encoder.name}: {self._rows} distinct texts, {len(self._visible)} distinct "
            f"visible, {self._stored} already stored, {self._computed} computed, "
            f"{self._truncated} truncated, {self._rows - self._valid} without direction\n"
        )


def _parts(groups: list[tuple[_Embedding, Iterable[str]]], rows: int) -> Iterator[pl.DataFrame]:
    """Parts of one table, one at least."""
    addressed = {
        embedding.address(text): (text, place)
        for place, (embedding, texts) in enumerate(groups)
        for text in texts
    }
    order = sorted(addressed)
    for start in range(0, max(len(order), 1), rows):
        chosen = order[start : start + rows]
        what = f" {start // rows + 1} of {-(-len(order) // rows)}" if len(order) > rows else ""
        made = []
        for place, (embedding, _) in enumerate(groups):
            own = [(key, addressed[key][0]) for key in chosen if addressed[key][1] == place]
            made.append(embedding.table(own, what))
        part = pl.concat(made).sort("text_sha256") if len(made) > 1 else made[0]
        yield frames.EMBEDDINGS.check(part, "embeddings")
    for embedding, _ in groups:
        embedding.say()


def _table(known: list[Text], vectors: dict[bytes, Vector], encoder: Encoder) -> pl.DataFrame:
    nothing = np.zeros(encoder.dim, np.float32)
    rows = [vectors.get(item.key, nothing) for item in known]
    tokens = [item.reading.tokens for item in known]
    limit = encoder.max_tokens
    matrix = np.stack(rows) if rows else np.zeros((0, encoder.dim), np.float32)
    table = pl.DataFrame(
        {
            "text_sha256": pl.Series([item.address for item in known], dtype=pl.String),
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
