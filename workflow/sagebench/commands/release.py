"""Pack results, records and locks into one archive for a DOI, after checking every byte.

Writes dist/sagebench-results-<version>.tar and its sha256; equal results give equal bytes. Refused
if a file is missing or is not as recorded (see `python -m sagebench verify`).

example:
  python -m sagebench release
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--output", type=Path, default=Path("dist"), help="the folder to write to")


def run(options: argparse.Namespace) -> None:
    """Verify, pack."""
    from sagebench.audit.verify import verify
    from sagebench.release import pack

    verify(Path(), 0, 0, _say)
    path = pack(Path(), options.output)
    sys.stdout.write(f"{path}\n{path.with_suffix('.tar.sha256').read_text(encoding='utf-8')}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
