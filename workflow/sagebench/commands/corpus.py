"""Build one normalised corpus and its data card from fetched files.

example:
  python -m sagebench corpus bbc data/corpora/labelled/bbc.parquet
"""

import argparse
from pathlib import Path

from sagebench.commands import json_spec


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("corpus", help="a corpus of workflow/catalogue/corpora.yaml")
    parser.add_argument("output", type=Path, help="the Parquet file to write")
    parser.add_argument("--draw", type=json_spec, help="keep only: n, seed, corpus, judged")
    parser.add_argument("--raw", type=Path, default=Path("data/raw"), help="fetched sources")


def run(options: argparse.Namespace) -> None:
    """Parse, normalise, check, write."""
    from sagebench.corpora.build import build
    from sagebench.corpora.pool import Draw

    draw = Draw(**options.draw) if options.draw else None
    build(options.corpus, options.raw, options.output, draw)
