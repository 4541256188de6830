"""Compare results folders of several runs: does the winner change with the seed?

example:
  snakemake --cores all --config seed=1 && cp -r results runs/1
  python -m sagebench stability runs/1 runs/2 runs/3
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folders", type=Path, nargs="+", help="results folders, two or more")


def run(options: argparse.Namespace) -> None:
    """Read summary.csv of each, print a Markdown table."""
    from sagebench import stability

    sys.stdout.write(stability.compare(options.folders))
