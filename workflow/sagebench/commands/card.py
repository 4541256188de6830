"""Write the data card of the corpora in use.

example:
  python -m sagebench card results/corpora.md data/corpora/*/*.card.json
"""

import argparse
import json
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("output", type=Path, help="the Markdown file to write")
    parser.add_argument("cards", type=Path, nargs="+", help="the corpora's .card.json files")


def run(options: argparse.Namespace) -> None:
    """Read the cards, render, write."""
    from sagebench.corpora.card import render
    from sagebench.corpora.files import write_bytes

    cards = [json.loads(path.read_text(encoding="utf-8")) for path in options.cards]
    write_bytes(options.output, render(cards).encode())
