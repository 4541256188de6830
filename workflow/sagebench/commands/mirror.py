"""Fill a folder with every archive and Hub file that the parameters need, each checked.

Name the folder as `mirror` in params.yaml, and nothing else is needed to fetch: not the package
index, not the Hub, no network. What is there and right stays, so that the command can be repeated
after a change of the parameters. The texts keep their publishers' licences, which are shown.

examples:
  python -m sagebench mirror /mnt/lab/sage-mirror
  python -m sagebench mirror /mnt/lab/sage-mirror --params params.yaml config/paper.yaml
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, help="the mirror's folder, made if need be")
    parser.add_argument("--params", type=Path, nargs="+", default=[Path("params.yaml")])
    parser.add_argument("--all", action="store_true", help="and every archive of the catalogue")


def run(options: argparse.Namespace) -> None:
    """Fetch into the per-user cache, copy, check; a line for each source."""
    from sagebench.corpora import fill
    from sagebench.plan import Plan

    names = set(Plan.read(*options.params).sources())
    if options.all:
        names.update(fill.archives())
    total = 0
    for kept in fill.fill(options.folder, sorted(names)):
        total += kept.size
        state = "new" if kept.new else "kept"
        sys.stdout.write(
            f"{kept.source}: {state}, {kept.size / 1e6:.1f} MB, licence: {kept.licence}\n"
        )
    sys.stdout.write(
        f"{total / 1e6:.1f} MB; to use it: `mirror: {options.folder.resolve()}` in params.yaml\n"
    )
