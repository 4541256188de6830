"""Texts to measure with: pieces of the built corpora's documents."""

from pathlib import Path

import numpy as np
import polars as pl

from sagebench.errors import BenchError


def pieces(data: str | Path, n: int, words: int) -> list[str]:
    """n texts of `words` words, from seeded places of all documents; BenchError without corpora."""
    files = sorted(Path(data).glob("corpora/documents/*.parquet"))
    if not files:
        raise BenchError(f"no corpora in {data}: run `snakemake --cores all` first")
    documents = pl.concat([pl.read_parquet(file)["text"] for file in files])
    pool = " ".join(documents.sort()).split()
    starts = np.random.Generator(np.random.PCG64(words)).integers(0, len(pool) - words, n)
    return [" ".join(pool[start : start + words]) for start in starts]
