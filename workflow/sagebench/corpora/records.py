"""What a parser hands over: records as the source has them, before any repair.

`normalise` turns them into the checked frames of their role.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar


@dataclass(frozen=True)
class Document:
    """A text and its reference summary. No `doc_id`: a hash of the text will be it."""

    text: str
    summary: str | None = None
    doc_id: str = ""


@dataclass(frozen=True)
class Choice:
    """Two summaries of one text with their mean human scores."""

    text: str
    summary_1: str
    summary_2: str
    score_1: float
    score_2: float


@dataclass(frozen=True)
class Rating:
    """A human rating of a pair: the mean over `raters` (0: the source gives only a mean)."""

    text_a: str
    text_b: str
    aspect: str
    rating: float
    raters: int


@dataclass(frozen=True)
class Labelled:
    """A text and its gold class."""

    text: str
    label: str
    doc_id: str = ""


@dataclass(frozen=True)
class Query:
    """A query and the `doc_id`s of its relevant documents."""

    query_id: str
    text: str
    relevant: tuple[str, ...]


R = TypeVar("R", Document, Choice, Rating, Labelled)


@dataclass
class Parsed(Generic[R]):
    """The records of a corpus, how many the source has, and what was left out and why."""

    read: int
    rows: list[R] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)  # role retrieval only
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> records
    left_out: Counter[str] = field(default_factory=Counter)  # reason -> queries
    notes: list[str] = field(default_factory=list)  # what the data card should say of the source


@dataclass
class Stream:
    """Documents that need not fit in memory: `rows()` reads them anew, in the source's order.

    Only the queries are known before; `left_out` counts queries already. With `needs_summary`,
    documents without one are left out.
    """

    rows: Callable[[], Iterator[Document]]
    queries: list[Query] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    needs_summary: bool = False
