"""Give finished files to DVC, as every whole run of Snakemake does at its end.

example:
  python -m sagebench commit
"""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(options: argparse.Namespace) -> None:
    """Check that nothing is to do, write the records, commit."""
    del options
    from sagebench.lineage.handover import hand_over

    hand_over()
