"""Two sets of results side by side: result folders or Git revisions, cell by cell.

found = compare(Path("results"), "HEAD~1")
[cell for cell in found.cells if cell.state == "beyond"]
"""

from pathlib import Path

from sagebench.compare.cells import ALARMING, Comparison, pair
from sagebench.compare.sources import read

__all__ = ["ALARMING", "Comparison", "compare"]


def compare(a: Path | str, b: Path | str, root: Path = Path()) -> Comparison:
    """Every cell of every table of `a` and `b`; Git revisions are those of the project at `root`.

    BenchError if either is neither a folder with tables nor a revision that has some.
    """
    return pair(str(a), read(str(a), root), str(b), read(str(b), root))
