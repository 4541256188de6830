"""The store of vectors at a million vectors."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from sagebench.bench.measure import Place, Row, Section, Target, child, median, peak_mb

VECTORS, ASKED, DIM = 1_000_000, 100_000, 384
_SIZES = [125_000, 250_000, 500_000, VECTORS]


def measure(place: Place) -> Section:
    """Filled once (1.9 GB of scratch), then opened and asked in fresh processes."""
    folder = place.scratch / "stores"
    points, last = [], {}
    for size in _SIZES:
        path = folder / f"{size}.sqlite"
        if not path.exists():
            child(fill, path=None, store=path, vectors=size)
        last = child(ask, store=path, vectors=size)
        points.append((size, last["asked"]))
        if size != VECTORS:
            path.unlink()
    opened = Row("store, open", f"{VECTORS:,} vectors of {DIM}", last["opened"])
    asked = Row(
        f"store, {ASKED:,} keys", opened.size, last["asked"], peak_mb=last["peak_mb"], curve=points
    )
    targets = [
        Target(f"opening a store of {VECTORS:,} vectors", "s", opened.seconds, at_most=1),
        Target(f"{ASKED:,} keys from it", "s", asked.seconds, at_most=1),
    ]
    note = "The store's file was written just before, so it is in the system's page cache."
    return Section("Store of vectors", [opened, asked], targets, notes=[note])


def _key(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


def fill(store: str, vectors: int) -> dict[str, Any]:
    """A store of drawn vectors, under another name until it is whole."""
    from sagebench.embeddings.store import Store

    path, generator, step = Path(store), np.random.default_rng(0), 50_000
    keys = sorted(map(_key, range(vectors)))  # in order: a B-tree grows at its end
    with Store(path.with_suffix(".new"), DIM) as new:
        for start in range(0, vectors, step):
            drawn = generator.standard_normal((step, DIM), dtype=np.float32)
            new.put_many(dict(zip(keys[start : start + step], drawn, strict=False)))
    path.with_suffix(".new").rename(path)
    return {}


def ask(store: str, vectors: int) -> dict[str, Any]:
    """Seconds to open the store, and to get keys from all over it, as jobs do."""
    from sagebench.embeddings.store import Store

    path = Path(store)
    opened = median(lambda: Store(path, DIM).close())
    chosen = np.random.default_rng(1).choice(vectors, min(ASKED, vectors), replace=False)
    keys = [_key(int(number)) for number in chosen]
    with Store(path, DIM) as held:
        found = held.get_many(keys)
        if len(found) != len(keys):
            raise AssertionError(f"{len(found)} of {len(keys)} keys found")
        del found
        return {
            "opened": opened, "asked": median(lambda: held.get_many(keys)), "peak_mb": peak_mb()
        }  # fmt: skip
