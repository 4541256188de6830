"""Write results in another benchmark's format; `mteb`: MTEB's result files.

Exports the built scores of the five tasks (as SAGEHumanPreference, SAGERobustness, …), or, with
--published, what `verify-published --output` wrote (tasks of MTEB itself); one folder a system.

examples:
  python -m sagebench export mteb --output mteb_results
  python -m sagebench export mteb --output mteb_results --published published/published.json
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("format", choices=["mteb"], help="the format")
    parser.add_argument("--output", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--published", type=Path, help="published.json: export only this")
    parser.add_argument("--params", type=Path, nargs="+", default=[Path("params.yaml")])
    parser.add_argument("--data", type=Path, default=Path("data"), help="the data folder")


def run(options: argparse.Namespace) -> None:
    """Read, convert, write."""
    from sagebench.plan import Plan
    from sagebench.published import mteb, table

    plan = Plan.read(*options.params)
    if options.published:
        written = mteb.published(table.read(options.published), plan, options.output)
    else:
        written = mteb.benchmark(plan, options.output, options.data)
    sys.stdout.write(f"{len(written)} files below {options.output}\n")
