"""Make one result table as CSV, Markdown and LaTeX.

example:
  python -m sagebench table summary results/tables --params params.yaml
"""

import argparse
from pathlib import Path

from sagebench.commands import json_spec


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("table", help="summary, robustness, …")
    parser.add_argument("output", type=Path, help="the folder to write to")
    parser.add_argument("--data", type=Path, default=Path("data"), help="the data folder")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--spec", type=json_spec, help="all parameters as JSON")
    given.add_argument("--params", type=Path, nargs="+", help="params.yaml and overlays")


def run(options: argparse.Namespace) -> None:
    """Build and write."""
    from sagebench import params, tables

    given = params.load(options.spec) if options.spec else params.read(*options.params)
    tables.write(options.table, given, options.data, options.output)
