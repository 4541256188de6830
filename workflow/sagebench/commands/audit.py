"""Write results/audit: what was made from what, by which code, from which sources.

The files: index.md (start here), dag.svg, artifacts.csv, software.csv, sources.csv and
ro-crate-metadata.json (a Workflow Run RO-Crate).

example:
  python -m sagebench audit
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(options: argparse.Namespace) -> None:
    """Read the records and digests, write."""
    from sagebench.audit.write import write

    del options
    write(Path())
