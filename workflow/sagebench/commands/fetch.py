"""Fetch one source of the catalogue, hash-checked, into a folder of its own.

example:
  python -m sagebench fetch blanc
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", help="a source of workflow/catalogue")
    parser.add_argument("--raw", type=Path, default=Path("data/raw"), help="fetched sources")


def run(options: argparse.Namespace) -> None:
    """Download (or take from the per-user cache), verify, extract."""
    from sagebench.corpora.fetch import fetch

    fetch(options.source, options.raw / options.source)
