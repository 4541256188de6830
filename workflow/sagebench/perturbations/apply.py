"""One perturbation of every document, as a frame (data/perturbed/)."""

import sys
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
from tqdm import tqdm

from sagebench import registry
from sagebench.errors import BenchError
from sagebench.frames import PERTURBED
from sagebench.perturbations.base import Perturbation
from sagebench.tokens import cl100k

Needles = dict[str, list[float]]


def perturb(
    documents: pl.DataFrame,
    name: str,
    params: dict[str, Any],
    seed: int,
    *,
    raw: Path,
    needles: Needles | None,
) -> pl.DataFrame:
    """frames.PERTURBED of `documents` (columns doc_id and text; others are not looked at).

    One row per document for a transform, one per size and position of `needles` for an insertion
    or removal; in the documents' order, then by size, then by position as given. `changed` says
    whether the text differs from the original. BenchError for an unknown name or parameter, and
    for needles given to a transform or missing where they are needed. Besides the sources that
    the perturbation `needs`, `raw` holds the vocabulary `cl100k`.
    """
    perturbation: Perturbation = registry.load("perturbation", name)(raw, **params)
    grid = _grid(perturbation, needles)
    tokens = cl100k(Path(raw))
    rows = []
    columns = documents.select("doc_id", "text").iter_rows()
    for doc_id, text in tqdm(columns, name, documents.height, file=sys.stderr, unit=" texts"):
        before = len(tokens.encode(text))
        for size, position in grid:
            changed = perturbation.apply(text, seed, size, position)
            after = len(tokens.encode(changed))
            rows.append((doc_id, name, size, position, changed, changed != text, before, after))
    schema = {column: spec.dtype for column, spec in PERTURBED.columns.items()}
    return PERTURBED.check(pl.DataFrame(rows, schema=schema, orient="row"), f"{name} texts")


def _grid(
    perturbation: Perturbation, needles: Needles | None
) -> list[tuple[float | None, float | None]]:
    needed = perturbation.kind in ("insertion", "removal")
    if needed and needles is None:
        raise BenchError(
            f"perturbation {perturbation.name!r} ({perturbation.kind}) needs sizes and positions"
        )
    if needles is None:
        return [(None, None)]
    if not needed:
        raise BenchError(
            f"perturbation {perturbation.name!r} ({perturbation.kind}) takes no sizes and positions"
        )
    return [(float(s), float(p)) for s, p in product(needles["sizes"], needles["positions"])]
