"""Where every artifact lies: one function per kind of path, and the readers of a task's inputs."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from sagebench import frames

SCORE_PARTS = {"units": frames.UNITS, "cells": frames.CELLS, "draws": frames.DRAWS}


class OnDemand(Mapping[str, pl.DataFrame]):
    """Frames by name, each read and checked when it is asked for and kept by the asker alone.

    Whoever walks through them holds one at a time: the similarities of 20,000 texts take 800 MB
    a system.
    """

    def __init__(self, paths: Mapping[str, Path], schema: frames.Schema) -> None:
        """`paths`: where the frame of each name lies."""
        self._paths, self._schema = dict(paths), schema

    def __getitem__(self, name: str) -> pl.DataFrame:
        return frames.read(self._paths[name], self._schema)

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def raw(data: Path, source: str, file: str) -> Path:
    """A file fetched from a source of the catalogue."""
    return data / "raw" / source / file


def corpus(data: Path, role: str, name: str) -> Path:
    """A normalised corpus; a retrieval corpus has `beside` files."""
    return data / "corpora" / role / f"{name}.parquet"


def sample(data: Path, task: str, name: str) -> Path:
    """The part of a corpus that a task uses."""
    return data / "samples" / task / f"{name}.parquet"


def beside(path: Path, part: str) -> Path:
    """A retrieval corpus's queries or qrels: `x.parquet` -> `x.queries.parquet`."""
    return path.with_name(f"{path.stem}.{part}.parquet")


def card(data: Path, role: str, name: str) -> Path:
    """What was read, dropped and repaired while a corpus was built."""
    return corpus(data, role, name).with_suffix(".card.json")


def perturbed(data: Path, task: str, name: str, perturbation: str) -> Path:
    """One perturbation of every document of a sample."""
    return data / "perturbed" / task / name / f"{perturbation}.parquet"


def embeddings(data: Path, task: str, model: str) -> Path:
    """One model's vectors of every distinct text of a task."""
    return data / "embeddings" / task / f"{model}.parquet"


def similarity(data: Path, task: str, name: str, system: str) -> Path:
    """One system's similarities on one corpus of a task."""
    return data / "similarity" / task / name / f"{system}.parquet"


def scores(data: Path, task: str, name: str, part: str) -> Path:
    """Per-unit values ("units"), scores with intervals ("cells"), bootstrap draws ("draws")."""
    return data / "scores" / task / f"{name}.{part}.parquet"


def read_corpus(path: Path, role: str) -> dict[str, pl.DataFrame]:
    """The frames of a corpus or sample: {"sample": …} and, for retrieval, queries and qrels."""
    found = {"sample": frames.read(path, frames.ROLES[role])}
    if role == "retrieval":
        found["queries"] = frames.read(beside(path, "queries"), frames.QUERIES)
        found["qrels"] = frames.read(beside(path, "qrels"), frames.QRELS)
    return found


def write_corpus(parts: dict[str, pl.DataFrame], path: Path, role: str) -> None:
    """The reverse of `read_corpus`."""
    frames.write(parts["sample"], path, frames.ROLES[role])
    if role == "retrieval":
        frames.write(parts["queries"], beside(path, "queries"), frames.QUERIES)
        frames.write(parts["qrels"], beside(path, "qrels"), frames.QRELS)


def read_inputs(
    data: Path, task: str, name: str, role: str, perturbations: list[str]
) -> dict[str, object]:
    """What a task is computed from: sample, queries, qrels and the perturbed texts by name."""
    inputs: dict[str, object] = dict(read_corpus(sample(data, task, name), role))
    paths = {each: perturbed(data, task, name, each) for each in perturbations}
    inputs["perturbed"] = OnDemand(paths, frames.PERTURBED)
    return inputs
