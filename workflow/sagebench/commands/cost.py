"""Print what the parameters' paid models would cost: texts, tokens and price per model and task.

example:
  python -m sagebench cost --params params.yaml config/smoke.yaml
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--params", type=Path, nargs="+", default=[Path("params.yaml")], help="file and overlays"
    )
    parser.add_argument("--data", type=Path, default=Path("data"), help="the data folder")


def run(options: argparse.Namespace) -> None:
    """Count; nothing is sent and no key is needed."""
    from sagebench import bill
    from sagebench.jobs import Jobs
    from sagebench.plan import Plan

    plan = Plan.read(*options.params)
    asked = plan.api_models
    found = list(bill.lines(Jobs(plan).bill(asked), options.data)) if asked else []
    sys.stdout.write(bill.render(found))
