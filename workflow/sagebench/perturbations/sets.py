"""Which perturbations exist, by kind and by set, with a line on each: read from the registry."""

from typing import NamedTuple, get_args

from sagebench import registry
from sagebench.perturbations.base import Kind

# The paper's experiments (tasks 2, 3 and 5); whatever else is registered extends them with what
# its text describes and its experiments leave out.
PAPER = (
    "random_capitalization",
    "character_deletion",
    "numerization",
    "negation_toggling",
    "sentence_shuffling",
    "word_shuffling",
    "lorem_insertion",
    "span_removal",
)


class Description(NamedTuple):
    """One row of the table of perturbations."""

    name: str
    kind: str
    title: str
    summary: str  # the first line of its docstring


def describe() -> list[Description]:
    """Every registered perturbation: the paper's in its order, then the others by name."""
    others = [name for name in registry.entries("perturbation") if name not in PAPER]
    return [_describe(name) for name in (*PAPER, *others)]


def names(kind: str) -> list[str]:
    """Names of one kind (superficial, semantic, insertion, removal) or set (paper, extended).

    BenchError if there is no such kind or set.
    """
    if kind not in (valid := (*get_args(Kind), "paper", "extended")):
        raise registry.unknown("kind or set of perturbations", kind, valid)
    rows = describe()
    if kind in ("paper", "extended"):
        return [row.name for row in rows if (row.name in PAPER) == (kind == "paper")]
    return [row.name for row in rows if row.kind == kind]


def _describe(name: str) -> Description:
    found = registry.load("perturbation", name)
    return Description(name, found.kind, found.title, (found.__doc__ or "").partition("\n")[0])
