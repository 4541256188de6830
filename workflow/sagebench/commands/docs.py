"""Refresh the marked tables of README.md and docs/*.md from results/tables.

example:
  python -m sagebench docs
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", type=Path, nargs="*", help="default: README.md and docs/*.md")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"), help="the tables")


def run(options: argparse.Namespace) -> None:
    """Rewrite the files whose tables changed."""
    from sagebench import marked

    for path in options.files or [Path("README.md"), *sorted(Path("docs").glob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        if (fresh := marked.refresh(text, options.tables)) != text:
            path.write_text(fresh, encoding="utf-8")
