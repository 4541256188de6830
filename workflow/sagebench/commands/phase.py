"""Run one phase of the workflow for one task, and no rule of any other phase (used by DVC).

example:
  python -m sagebench phase perturb robustness
"""

import argparse
import subprocess
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("phase", help="acquire, perturb, embed, similarity, score or results")
    parser.add_argument("task", nargs="?", help="a task; acquire and results have none")
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="the parameters")


def run(options: argparse.Namespace) -> None:
    """Ask Snakemake for the phase's files, with only that phase's rules allowed.

    DVC decides whether a phase runs; earlier phases' files were made, pulled or restored by it,
    and must be taken as they are, also where Snakemake holds no record of them.
    """
    from sagebench.corpora import catalogue
    from sagebench.errors import BenchError
    from sagebench.params import read
    from sagebench.phases import phase
    from sagebench.plan import Plan

    wanted = phase(Plan(read(options.params), catalogue.load()), options.phase, options.task)
    command = [
        sys.executable, "-m", "snakemake", "--cores", "all",
        "--allowed-rules", *wanted.rules, "--", *map(str, wanted.files),
    ]  # fmt: skip
    if subprocess.run(command, check=False).returncode:  # noqa: S603  (fixed program, no shell)
        raise BenchError(f"phase {options.phase} failed; the failing job's message is above")
