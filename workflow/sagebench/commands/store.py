"""Look after the stored vectors: what is there, is it sound, what is no longer needed.

stat    each store's number of vectors and size
verify  read every vector and check it; ends with 2 if one is damaged
gc      delete vectors of no current text or model, damaged files that were set aside

example:
  python -m sagebench store gc --dry-run
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", choices=["stat", "verify", "gc"])
    parser.add_argument("--folder", type=Path, help="where the stores lie")
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="for gc: the plan")
    parser.add_argument("--data", type=Path, default=Path("data"), help="for gc: its texts")
    parser.add_argument("--dry-run", action="store_true", help="for gc: only say what would go")


def run(options: argparse.Namespace) -> None:
    """Do it, a line on standard output for each store."""
    from sagebench.embeddings import upkeep
    from sagebench.plan import Plan

    folder = options.folder or upkeep.folder_of_stores()
    if options.action == "stat":
        for stat in upkeep.stats(folder):
            sys.stdout.write(f"{stat.path}: {stat.vectors} vectors, {stat.size / 1e6:.1f} MB\n")
    elif options.action == "verify":
        for path, vectors in upkeep.verify(folder):
            sys.stdout.write(f"{path}: {vectors} vectors, all sound\n")
    else:
        plan = Plan.read(options.params)
        for line in upkeep.collect(plan, options.data, folder, options.dry_run):
            sys.stdout.write(f"{line}\n")
