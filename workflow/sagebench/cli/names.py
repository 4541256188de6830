"""The names that a shell offers for an option."""

from collections.abc import Iterable


def systems() -> Iterable[str]:
    """Packaged models, metrics and rows of the tables."""
    from sagebench.evaluation import sizes as known

    return known.packaged(known.DEFAULT)


def tasks() -> Iterable[str]:
    """The five tasks."""
    from sagebench import registry

    return registry.entries("task")


def sizes() -> Iterable[str]:
    """The sizes of the project."""
    from sagebench.evaluation import sizes as known

    return known.names()
