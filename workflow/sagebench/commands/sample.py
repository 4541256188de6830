"""Draw the part of a corpus that a task uses: a smaller sample is a prefix of a larger one.

example:
  python -m sagebench sample data/corpora/labelled/bbc.parquet out.parquet \\
    --spec '{"role": "labelled", "corpus": "bbc", "n": 300, "seed": 1}'
"""

import argparse
from pathlib import Path

from sagebench.commands import json_spec


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("corpus", type=Path, help="a file of data/corpora")
    parser.add_argument("output", type=Path, help="the Parquet file to write")
    parser.add_argument("--spec", type=json_spec, required=True, help="role, corpus, n, seed")


def run(options: argparse.Namespace) -> None:
    """Read, draw, write."""
    from sagebench import layout
    from sagebench.corpora.sample import sample

    spec = options.spec
    parts = layout.read_corpus(options.corpus, spec["role"])
    drawn = sample(frames=parts, **spec)
    layout.write_corpus(drawn, options.output, spec["role"])
