"""What a task is, and the pieces that tasks share: aligned inputs and the collected scores."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypedDict

import numpy as np
import numpy.typing as npt
import polars as pl

from sagebench.errors import BenchError
from sagebench.registry import unknown
from sagebench.roles import Role
from sagebench.stats import Floats

# The two needles of the paper (section 3.3) and the perturbations that make them.
NEEDLES = {"insertion": "lorem_insertion", "removal": "span_removal"}

Scores = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]  # frames.UNITS, CELLS, DRAWS


class System(Protocol):
    """Anything that compares texts: a metric, or the cosine of a model's embeddings."""

    def pairs(self, a: Sequence[str], b: Sequence[str]) -> npt.NDArray[Any]:
        """(n,) similarity of a[i], the source, and b[i]; NaN: none is defined. One batch."""

    def matrix(self, queries: Sequence[str], documents: Sequence[str]) -> npt.NDArray[Any]:
        """(queries, documents) scores on any scale, higher is better."""

    def condensed(self, texts: Sequence[str]) -> npt.NDArray[Any]:
        """(n(n-1)/2,) symmetric similarities, the upper triangle row by row."""


class Inputs(TypedDict, total=False):
    """What a task reads for one corpus; `queries` and `qrels` only for retrieval."""

    sample: pl.DataFrame
    queries: pl.DataFrame
    qrels: pl.DataFrame
    perturbed: Mapping[str, pl.DataFrame]


class Spec(TypedDict, total=False):
    """Parameters: the task's section of params.yaml; `bootstrap` only for `score`."""

    task: dict[str, Any]
    corpus: str
    seed: int
    bootstrap: dict[str, Any]  # resamples, level


class Task(ABC):
    """One of the five tasks, on one corpus at a time. Results do not depend on row order."""

    role: Role = "similarity"  # of its texts, for models that read them accordingly

    @abstractmethod
    def texts(self, inputs: Inputs) -> list[str]:
        """Every text that a system will be shown: distinct and sorted."""

    def roles(self, inputs: Inputs) -> dict[Role, list[str]]:
        """The same texts by role; a text may have two."""
        return {self.role: self.texts(inputs)}

    @abstractmethod
    def similarity(self, inputs: Inputs, system: System, spec: Spec) -> pl.DataFrame:
        """One system's similarities: frames.SIMILARITY[task]."""

    @abstractmethod
    def score(self, inputs: Inputs, similarities: Mapping[str, pl.DataFrame], spec: Spec) -> Scores:
        """(UNITS, CELLS, DRAWS) of all systems, from their similarity frames by name."""


def distinct(*columns: pl.Series) -> list[str]:
    """The distinct texts of the columns, sorted."""
    return sorted({text for column in columns for text in column.to_list()})


def perturbed_frame(inputs: Inputs, name: str) -> pl.DataFrame:
    """The frames.PERTURBED of one perturbation; BenchError if there is none."""
    perturbed: Mapping[str, pl.DataFrame] = inputs.get("perturbed", {})
    if name not in perturbed:
        raise unknown("perturbation in the task's inputs", name, perturbed)
    return perturbed[name]


def edits(frame: pl.DataFrame) -> list[tuple[float | None, float | None]]:
    """The distinct (size, position) of a perturbed frame, sorted; [(None, None)] if transforms."""
    return frame.select("size", "position").unique().sort("size", "position").rows()


def perturbed_texts(
    frame: pl.DataFrame,
    ids: Sequence[str],
    size: float | None = None,
    position: float | None = None,
) -> list[str]:
    """The texts of one size and position in the order of `ids`; BenchError if one is missing."""
    wanted = pl.col("size").eq_missing(size) & pl.col("position").eq_missing(position)
    rows = frame.filter(wanted)
    texts = dict(zip(rows["doc_id"], rows["text"], strict=True))
    if missing := [name for name in ids if name not in texts]:
        name = frame["perturbation"][0] if frame.height else "?"
        raise BenchError(
            f"perturbation {name!r} (size {size}, position {position}) lacks {len(missing)} of "
            f"{len(ids)} documents, the first is {missing[0]!r}; perturb this sample again"
        )
    return [texts[name] for name in ids]


def nullable(values: npt.NDArray[Any]) -> pl.Series:
    """Similarities as a column in which NaN ("none is defined") has become null."""
    return pl.Series("similarity", np.asarray(values, dtype=np.float64)).fill_nan(None)


class Similarities:
    """One system's similarities by comparison, aligned with the sample's units."""

    def __init__(
        self, system: str, frame: pl.DataFrame, unit: str, keys: Sequence[str], ids: Sequence[str]
    ) -> None:
        """`unit` and `keys` name columns; `ids` are the sorted units that must all be there."""
        self._system = system
        self._ids = list(ids)
        self._unit = unit
        self._parts = frame.partition_by(*keys, as_dict=True)

    def of(self, *key: object) -> Floats:
        """(n,) similarities of one comparison, NaN where there is none.

        BenchError if the comparison or a unit is missing: the file belongs to another sample.
        """
        part = self._parts.get(key)
        if part is None or (part := part.sort(self._unit))[self._unit].to_list() != self._ids:
            what = " ".join(map(str, key))
            raise BenchError(
                f"the similarities of system {self._system!r} for comparison {what!r} do not "
                f"cover the sample's {len(self._ids)} units; delete its file and run again"
            )
        return np.array(part["similarity"].fill_null(np.nan).to_numpy(), dtype=np.float64)
