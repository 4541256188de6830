"""Compute published scores again with this project's code and print the differences.

Reads a folder of benchmark data with MTEB's published scores (`--data`, or $SAGEBENCH_DATA) and
scores every configured model that has some: STSBenchmark, STS13, STS14, SciFact, Banking77 by
MTEB's protocols on the same data, 20 Newsgroups on nearly the same (shown, not judged). Exits
with 2 and names the row if a difference is above its tolerance.

examples:
  python -m sagebench verify-published --data ~/benchmark-data
  python -m sagebench verify-published --data ~/benchmark-data --model minilm --task STSBenchmark
  python -m sagebench verify-published --data ~/benchmark-data --output published
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--data", type=Path, help="the folder of benchmark data")
    parser.add_argument("--model", nargs="+", default=[], metavar="NAME", help="only these models")
    parser.add_argument("--task", nargs="+", default=[], metavar="TASK", help="only these tasks")
    parser.add_argument("--params", type=Path, nargs="+", default=[Path("params.yaml")])
    parser.add_argument("--output", type=Path, help="also write published.{csv,md,tex,json} here")


def run(options: argparse.Namespace) -> None:
    """Score, print, write, judge."""
    from sagebench import params
    from sagebench.published import table
    from sagebench.published.folder import Folder
    from sagebench.published.verify import candidates, require, verify

    folder = Folder.of(options.data)
    models = candidates(params.read(*options.params).models, options.model)
    rows = verify(folder, models, options.task, _say)
    if options.output:
        table.write(rows, options.output)
    require(rows)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()  # also where the output is a pipe: a model takes minutes
