"""Write docs/parameters.md, the description of every key of params.yaml.

example:
  python -m sagebench parameters
"""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "parameters.md")


def run(options: argparse.Namespace) -> None:
    """Generate it from the classes that check the file."""
    import yaml

    from sagebench.corpora.files import write_bytes
    from sagebench.params_docs import markdown

    values = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    write_bytes(options.output, markdown(values).encode())
