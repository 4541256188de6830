"""Pull missing files, if DVC has a remote; give Snakemake the records that came with the data.

Never needed for a right answer, only for a faster one: without it every run of Snakemake digests
the pulled files again.

example:
  python -m sagebench sync
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="the parameters")
    parser.add_argument("--no-pull", action="store_true", help="do not ask DVC's remote")


def run(options: argparse.Namespace) -> None:
    """Pull, restore, tell what is of unknown origin."""
    from sagebench.lineage.handover import pull
    from sagebench.lineage.stages import Store
    from sagebench.phases import stages
    from sagebench.plan import Plan

    found = stages(Plan.read(options.params))
    if not options.no_pull and not all(path.exists() for stage in found for path in stage.files):
        pull()
    doubts = Store().restore(found)
    for path, doubt in list(doubts.items())[:3]:
        sys.stderr.write(f"{path}: {doubt}\n")
    if doubts:
        sys.stderr.write(f"{len(doubts)} such files; the next run makes them again\n")
