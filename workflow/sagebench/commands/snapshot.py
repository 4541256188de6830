"""Fetch one model from the Hub into its per-user cache, and record its commit and files.

example:
  python -m sagebench snapshot data/raw/hub/mine.json --spec '{…}'
"""

import argparse
from pathlib import Path

from sagebench.commands import json_spec


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("output", type=Path, help="the record to write")
    parser.add_argument("--spec", type=json_spec, required=True, help="name, repo and revision")


def run(options: argparse.Namespace) -> None:
    """Download what is not there yet, write the record."""
    from sagebench.embeddings.snapshots import fetch

    fetch(options.spec, options.output)
