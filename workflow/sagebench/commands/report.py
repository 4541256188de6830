"""Write results/report.html: tables, pictures, sources and traces on one page without network.

example:
  python -m sagebench report results/report.html --spec "$SPEC"
"""

import argparse
from pathlib import Path

from sagebench.commands import json_spec


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("output", type=Path, help="the HTML file to write")
    parser.add_argument("--results", type=Path, default=Path("results"), help="tables and figures")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--spec", type=json_spec, help='{"params": …, "software": …} as JSON')
    given.add_argument("--params", type=Path, nargs="+", help="params.yaml and overlays")


def run(options: argparse.Namespace) -> None:
    """Gather and write."""
    from sagebench import params
    from sagebench.audit.software import pins
    from sagebench.report.page import write

    if options.spec:
        given, software = params.load(options.spec["params"]), options.spec["software"]
    else:
        given, software = params.read(*options.params), pins(Path("requirements.lock"))
    write(given, software, options.results, options.output)
