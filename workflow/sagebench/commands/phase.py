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
    parser.add_argument("phase", help="fetch, corpus, perturb, embed, similarity, score or results")
    parser.add_argument("part", nargs="?", help="a task; for corpus a role; none for the ends")
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="the parameters")


def run(options: argparse.Namespace) -> None:
    """Ask Snakemake for the phase's files with only its rules allowed, then keep their records.

    DVC decides whether a phase runs; earlier phases' files are taken as DVC left them.
    """
    from sagebench import dvc_stages, phases
    from sagebench.errors import BenchError
    from sagebench.lineage.stages import Store
    from sagebench.plan import Plan

    plan = Plan.read(options.params)
    wanted = phases.stage(plan, options.phase, options.part)
    dvc_stages.check(plan, wanted)
    command = [
        sys.executable, "-m", "snakemake", "--cores", "all",
        "--allowed-rules", *wanted.rules, "--", *map(str, wanted.files),
    ]  # fmt: skip
    if wanted.files and subprocess.run(command, check=False).returncode:  # noqa: S603  (no shell)
        raise BenchError(f"phase {wanted.name} failed; the failing job's message is above")
    store = Store()
    store.prune(wanted)
    store.collect(wanted)
