"""Write results/metrics.json, flat enough for `dvc metrics show`, from the written tables.

example:
  python -m sagebench metrics results/metrics.json
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("output", type=Path, help="the JSON file to write")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"), help="the tables")


def run(options: argparse.Namespace) -> None:
    """Read the tables, write."""
    from sagebench.tables import metrics

    metrics.write(options.tables, options.output)
