"""Compare two sets of results cell by cell: result folders or Git revisions.

Cells are marked: ! moved beyond an interval, changed without one, or on one side only; ~ moved
within. Exit codes: 0 nothing is marked "!", 3 something is, 2 an error.

examples:
  python -m sagebench compare HEAD~1 results
  python -m sagebench compare v1.0 ../other/results --json
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    help_text = "a folder (project, results or tables) or a Git revision"
    parser.add_argument("a", metavar="A", help=help_text)
    parser.add_argument("b", metavar="B", help=help_text)
    parser.add_argument("--root", type=Path, default=Path(), help="the project of the revisions")
    parser.add_argument("--all", action="store_true", help="also print the cells that are equal")
    parser.add_argument("--json", action="store_true", help="print JSON, with every cell")


def run(options: argparse.Namespace) -> int:
    """Compare, print; 3 if a cell is marked "!"."""
    from sagebench.compare import compare
    from sagebench.compare.text import text, to_json

    found = compare(options.a, options.b, options.root)
    sys.stdout.write(to_json(found) if options.json else text(found, options.all))
    return 3 if found.alarming else 0
