"""Vectors drawn by a generator: for memory and speed, where their values do not matter."""

import numpy as np
import polars as pl

from sagebench import frames
from sagebench.embeddings.keys import text_key


def embeddings(n: int, dim: int) -> tuple[list[str], pl.DataFrame]:
    """n short texts and the frames.EMBEDDINGS of drawn vectors for them."""
    texts = [f"text {number}" for number in range(n)]
    return texts, table(sorted(text_key(text) for text in texts), dim, seed=0)


def table(keys: list[str], dim: int, seed: int) -> pl.DataFrame:
    """frames.EMBEDDINGS: a drawn unit vector for each key."""
    vectors = np.random.default_rng(seed).standard_normal((len(keys), dim), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = pl.DataFrame(
        {
            "text_sha256": keys,
            "vector": pl.Series(vectors, dtype=pl.Array(pl.Float32, dim)).cast(pl.List(pl.Float32)),
            "tokens": pl.Series([1] * len(keys), dtype=pl.Int64),
            "truncated": [False] * len(keys),
            "valid": [True] * len(keys),
        }
    )
    return frames.EMBEDDINGS.check(made)
