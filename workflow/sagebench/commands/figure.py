"""Draw one figure from the written tables, as SVG and PNG.

example:
  python -m sagebench figure retention results/figures
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("figure", help="a figure's name")
    parser.add_argument("output", type=Path, help="the folder to write to")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"), help="the tables")


def run(options: argparse.Namespace) -> None:
    """Draw and write."""
    from sagebench import figures

    figures.draw(options.figure, options.tables, options.output)
