"""All-pairs results built from blocks of rows, so that peak memory is bounded."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sagebench.metrics.base import Floats

T = TypeVar("T")

# Similarities held at once besides the result. A kernel keeps a few arrays of that many
# float64 values: about 32 MB each.
BLOCK_CELLS = 4_000_000


def row_blocks(rows: int, columns: int, cells: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of consecutive rows, at most `cells` values (at least one row) a block."""
    step = max(1, cells // max(1, columns))
    for start in range(0, rows, step):
        yield start, min(start + step, rows)


def condensed(
    n: int, block: Callable[[int, int], Floats], cells: int = BLOCK_CELLS
) -> npt.NDArray[np.float32]:
    """(n(n-1)/2,) float32 in scipy's condensed order.

    `block(start, stop)` gives the (stop - start, n - start) values of rows start…stop against
    columns start…n: the lower triangle is computed only within a block.
    """
    result = np.empty(n * (n - 1) // 2, dtype=np.float32)
    filled = 0
    for start, stop in row_blocks(n, n, cells):
        values = block(start, stop)
        for row in range(stop - start):
            width = n - start - row - 1
            result[filled : filled + width] = values[row, row + 1 :]
            filled += width
    return result


def onward(
    items: Sequence[T], start: int, stop: int, compare: Callable[[Sequence[T], Sequence[T]], Floats]
) -> Floats:
    """A block of `condensed` by a symmetric `compare` that halves its work on the same list twice.

    So does rapidfuzz's cdist: no pair is computed twice, however few rows there are.
    """
    own = items[start:stop]
    return np.hstack([compare(own, own), compare(own, items[stop:])])


def matrix(
    n: int, m: int, block: Callable[[int, int], Floats], cells: int = BLOCK_CELLS
) -> npt.NDArray[np.float64]:
    """(n, m) float64. `block(start, stop)` gives the (stop - start, m) values of these rows."""
    result = np.empty((n, m))
    for start, stop in row_blocks(n, m, cells):
        result[start:stop] = block(start, stop)
    return result
