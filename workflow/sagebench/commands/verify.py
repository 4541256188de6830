"""Check that every artifact has its recorded bytes, and run a random sample of jobs again.

Compares all files of data/ and results/ with their records, the fetched ones also with the
catalogue, and all of them with dvc.lock. Then runs some jobs again, each in an empty folder with
only its recorded inputs, and compares the bytes. Names what differs and then exits with 2.

examples:
  python -m sagebench verify                       # digests, and one job of most kinds again
  python -m sagebench verify --sample 0            # digests alone: seconds
  python -m sagebench verify --sample 50 --seed 7  # the same 50 jobs each time
"""

import argparse
import secrets
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--sample", type=int, default=5, metavar="N", help="jobs to run again (5)")
    parser.add_argument("--seed", type=int, metavar="S", help="which jobs (default: other ones)")


def run(options: argparse.Namespace) -> None:
    """Verify, saying what is done on the way."""
    from sagebench.audit.verify import verify

    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    verify(Path(), options.sample, seed, _say)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()  # also where the output is a pipe: a job takes a while
