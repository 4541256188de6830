"""Show the licences of all sources, then `dvc push`.

Asks for --yes before texts that may not be handed on, or do not say, go to a remote that is not a
folder of this machine. `dvc push` itself does not ask.

examples:
  python -m sagebench push
  python -m sagebench push --remote lab --yes
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--params", type=Path, default=Path("params.yaml"), help="the parameters")
    parser.add_argument("--remote", help="DVC's name of the remote (default: its default)")
    parser.add_argument("--yes", action="store_true", help="hand on what the licences leave open")


def run(options: argparse.Namespace) -> None:
    """List, ask, push."""
    from sagebench.lineage import handover
    from sagebench.plan import Plan
    from sagebench.redistribution import check, terms

    url = handover.remote(options.remote)
    found = terms(Plan.read(options.params).sources())
    for each in found:
        sys.stdout.write(f"{each.redistribute:9} {each.source}: {each.licence}\n")
    check(found, url, options.yes)
    handover.push(options.remote)
