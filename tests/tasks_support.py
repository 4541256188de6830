"""Small corpora, perturbed texts and systems made up for the tests of the tasks."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from sagebench import frames

POSITIONS = [0.0, 0.5, 1.0]
NEEDLES = {
    "insertion": {"sizes": [0.15, 0.5, 1.0], "positions": POSITIONS},
    "removal": {"sizes": [0.15, 0.5, 0.9], "positions": POSITIONS},
}
SUPERFICIAL = ["random_capitalization", "character_deletion", "numerization"]
SEMANTIC = ["negation_toggling", "sentence_shuffling", "word_shuffling"]


class Fake:
    """A system from a function of two texts; remembers the size of every batch of pairs."""

    def __init__(self, function: Callable[[str, str], float]) -> None:
        self.function = function
        self.batches: list[int] = []

    def pairs(self, a: Sequence[str], b: Sequence[str]) -> np.ndarray:
        self.batches.append(len(a))
        return np.array([self.function(x, y) for x, y in zip(a, b, strict=True)], dtype=float)

    def matrix(self, queries: Sequence[str], documents: Sequence[str]) -> np.ndarray:
        return np.array([[self.function(q, d) for d in documents] for q in queries], dtype=float)

    def condensed(self, texts: Sequence[str]) -> np.ndarray:
        pairs = [(a, b) for i, a in enumerate(texts) for b in texts[i + 1 :]]
        # Symmetric whatever the order of the texts, as every system must be.
        return np.array([self.function(*sorted(pair)) for pair in pairs], dtype=np.float32)


def noise(seed: int = 0, steps: int | None = None) -> Fake:
    """Uniform in [0, 1) by a hash of both texts; `steps` values only, so that ties abound."""

    def value(a: str, b: str) -> float:
        digest = hashlib.sha256(f"{seed}\0{a}\0{b}".encode()).digest()
        uniform = int.from_bytes(digest[:7], "big") / 2**56
        return uniform if steps is None else int(uniform * steps) / steps

    return Fake(value)


def constant(value: float) -> Fake:
    """The same similarity for every pair."""
    return Fake(lambda _a, _b: value)


def lacking(system: Fake, part: str) -> Fake:
    """`system`, but without a similarity where the compared text holds `part`."""
    return Fake(lambda a, b: float("nan") if part in b else system.function(a, b))


def spec(section: dict, seed: int = 7, resamples: int = 200) -> dict:
    """A task's parameters as the workflow gives them."""
    bootstrap = {"resamples": resamples, "level": 0.95}
    return {"task": section, "corpus": "toy", "seed": seed, "bootstrap": bootstrap}


def documents(n: int) -> pl.DataFrame:
    """n documents with summaries, in no particular order of ids."""
    ids = [f"d{i * 7 % n:04d}" if n % 7 else f"d{i:04d}" for i in range(n)]
    rows = {
        "doc_id": ids,
        "text": [f"text of {name}" for name in ids],
        "summary": [f"summary of {name}" for name in ids],
    }
    return frames.DOCUMENTS.check(pl.DataFrame(rows))


def choices(n: int, seed: int = 0) -> dict:
    """n pairs of summaries, two pairs per text, chosen by chance."""
    rng = np.random.default_rng(seed)
    rows = {
        "pair_id": [f"p{i}" for i in range(n)],
        "doc_id": [f"d{i // 2}" for i in range(n)],
        "text": [f"text {i // 2}" for i in range(n)],
        "summary_1": [f"first {i}" for i in range(n)],
        "summary_2": [f"second {i}" for i in range(n)],
        "choice": rng.integers(1, 3, n),
        "gap": np.ones(n),
    }
    return {"sample": frames.PREFERENCES.check(pl.DataFrame(rows))}


def ratings(n: int, aspects: tuple[str, ...] = ("fluent", "overall"), seed: int = 0) -> dict:
    """n items, each rated from 1 to 5 on every aspect by chance."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"i{i}", aspect, f"a {i}", f"b {i}", float(rng.integers(1, 6)), 3)
        for i in range(n)
        for aspect in aspects
    ]
    frame = pl.DataFrame(rows, schema=frames.RATINGS.empty().schema, orient="row")
    return {"sample": frames.RATINGS.check(frame)}


def perturbed(sample: pl.DataFrame, name: str, needles: dict | None = None) -> pl.DataFrame:
    """Every document perturbed: its text says by what."""
    grid = [(None, None)]
    if needles:
        grid = [(s, p) for s in needles["sizes"] for p in needles["positions"]]
    rows = [
        (doc, name, size, position, f"{text} {name} {size} {position}", True, 10, 10)
        for doc, text in sample.select("doc_id", "text").iter_rows()
        for size, position in grid
    ]
    frame = pl.DataFrame(rows, schema=frames.PERTURBED.empty().schema, orient="row")
    return frames.PERTURBED.check(frame)


def needle_frames(sample: pl.DataFrame, needles: dict) -> dict[str, pl.DataFrame]:
    """Insertions and removals of every document."""
    return {
        "lorem_insertion": perturbed(sample, "lorem_insertion", needles["insertion"]),
        "span_removal": perturbed(sample, "span_removal", needles["removal"]),
    }


def shuffled(frame: pl.DataFrame, seed: int = 3) -> pl.DataFrame:
    """The same rows in another order."""
    return frame.sample(fraction=1, shuffle=True, seed=seed)


def shuffled_inputs(inputs: dict) -> dict:
    """Inputs with the rows of every frame in another order."""
    result = {key: shuffled(value) for key, value in inputs.items() if key != "perturbed"}
    if "perturbed" in inputs:
        result["perturbed"] = {name: shuffled(f) for name, f in inputs["perturbed"].items()}
    return result


def cell(cells: pl.DataFrame, system: str, measure: str) -> dict:
    """One row of a CELLS frame."""
    return cells.row(
        by_predicate=(pl.col("system") == system) & (pl.col("measure") == measure), named=True
    )


def unit_values(units: pl.DataFrame, system: str, measure: str) -> dict[str, float | None]:
    """unit -> value of one system and measure."""
    rows = units.filter(system=system, measure=measure)
    return dict(zip(rows["unit"], rows["value"], strict=True))


def draws_of(draws: pl.DataFrame, system: str, measure: str) -> np.ndarray:
    """The draws of one cell, in order."""
    return draws.filter(system=system, measure=measure).sort("draw")["value"].to_numpy()
