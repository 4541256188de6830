"""What a perturbation is: a named change of one text, run as an nlpaug augmenter.

To add one, subclass `Transform` (or `Borrowed`, for an augmenter that nlpaug brings), give it
`name`, `title`, `kind` and a docstring, and register it under its name.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from sagebench import rng
from sagebench.errors import BenchError
from sagebench.options import ParameterSet, checked
from sagebench.perturbations import bridge

Kind = Literal["superficial", "semantic", "insertion", "removal"]
# nlpaug compares every token with a list of the drawn ones, so its time grows with the square
# of a text's length; a text of more words is handed over in pieces of this many tokens.
PIECE = 1000


class Perturbation(ABC):
    """A change of one text that depends on (text, name, params, seed, size, position) alone."""

    name: ClassVar[str]  # as registered; part of the seed
    title: ClassVar[str]
    kind: ClassVar[Kind]

    class Parameters(ParameterSet):
        """No parameters, unless the perturbation declares some."""

    def __init__(self, raw: Path, **params: Any) -> None:
        """`raw` is data/raw; `params` as in params.yaml. BenchError on a wrong parameter."""
        self.raw = Path(raw)
        self.parameters: Any = checked(f"perturbation {self.name!r}", self.Parameters, params)
        # With the defaults filled in, so that naming a default changes nothing.
        self.params: dict[str, Any] = self.parameters.model_dump(mode="json")

    def apply(
        self, text: str, seed: int, size: float | None = None, position: float | None = None
    ) -> str:
        """The perturbed text, valid Unicode; the empty text stays empty.

        `size` (0 to 1, fraction of tokens) and `position` (0 start to 1 end) belong to the kinds
        insertion and removal and to no other: BenchError otherwise. Lone surrogates in `text`
        become U+FFFD. No global random state is changed.
        """
        self._check_needle(size, position)
        text = well_formed(text)
        return self._change(text, seed, size, position) if text else text

    @abstractmethod
    def _change(self, text: str, seed: int, size: float | None, position: float | None) -> str:
        """`text` (not empty) changed by an nlpaug augmenter."""

    def _check_needle(self, size: float | None, position: float | None) -> None:
        wanted = self.kind in ("insertion", "removal")
        for what, value in (("size", size), ("position", position)):
            if not wanted and value is not None:
                raise BenchError(
                    f"perturbation {self.name!r} ({self.kind}) takes no {what}, got {value!r}"
                )
            if wanted and not (value is not None and 0 <= value <= 1):
                raise BenchError(
                    f"perturbation {self.name!r} ({self.kind}) needs a {what} from 0 to 1, "
                    f"got {value!r}"
                )


class Own(Perturbation):
    """A perturbation of this project: a subclass of nlpaug's Augmenter with one action."""

    method: ClassVar[Literal["char", "word", "sentence"]]
    action: ClassVar[Literal["substitute", "swap", "insert", "delete"]]

    def _run(self, change: Callable[[str], str], text: str) -> str:
        augmenter = bridge.own_augmenter(type(self).__name__, self.method, self.action)
        return bridge.run(augmenter(change), text)


class Transform(Own):
    """An own perturbation without size and position: superficial or semantic."""

    def _change(self, text: str, seed: int, _size: float | None, _position: float | None) -> str:
        generator = rng.generator(seed, self.name, self.params, text)
        return self._run(lambda data: self._edit(data, generator), text)

    @abstractmethod
    def _edit(self, text: str, generator: np.random.Generator) -> str:
        """`text` (not empty) changed; all randomness from `generator`, which is this text's."""


class Borrowed(Perturbation):
    """An augmenter that nlpaug brings, told what a token is and seeded text by text."""

    pattern: ClassVar[re.Pattern[str]]  # a token; no groups, never empty

    class Parameters(Perturbation.Parameters):
        """`rate`: share of the tokens to change, rounded up to at least one; 0: none."""

        rate: float = Field(0.3, ge=0, le=1)

    def _change(self, text: str, seed: int, _size: float | None, _position: float | None) -> str:
        # nlpaug reads a rate of 0 as unset (and then changes 30 %), or rounds it up to one edit.
        if self.parameters.rate == 0:
            return text
        augmenter = self._augmenter  # made outside: imports draw from the global generators
        with bridge.seeded(rng.seed_for(seed, self.name, self.params, text)):
            pieces = bridge.pieces(self.pattern, text, PIECE)
            return "".join(bridge.run(augmenter, piece) for piece in pieces)

    @cached_property
    def _augmenter(self) -> Any:
        return bridge.keep_gaps(self._build(), self.pattern)

    @abstractmethod
    def _build(self) -> Any:
        """nlpaug's augmenter with every limit explicit: by itself it stops at ten edits."""


def well_formed(text: str) -> str:
    """`text` as UTF-8 can hold it: surrogate pairs joined, lone surrogates as U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
