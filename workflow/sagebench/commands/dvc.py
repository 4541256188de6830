"""Write dvc.yaml from the workflow's plan.

example:
  python -m sagebench dvc
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("output", type=Path, nargs="?", default=Path("dvc.yaml"))
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="the parameters")


def run(options: argparse.Namespace) -> None:
    """Generate and write."""
    from sagebench.dvc_stages import write
    from sagebench.plan import Plan

    write(Plan.read(options.params), options.output)
