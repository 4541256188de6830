"""Embed every distinct text of a task with one model, each visible text only once ever.

example:
  python -m sagebench embed data/embeddings/clustering/glove.parquet --spec '{…}'
"""

import argparse
from pathlib import Path

from sagebench.commands import json_spec


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("output", type=Path, help="the Parquet file to write")
    parser.add_argument("--data", type=Path, default=Path("data"), help="the data folder")
    parser.add_argument("--spec", type=json_spec, required=True, help="task, model and corpora")


def run(options: argparse.Namespace) -> None:
    """Collect the task's texts, embed the ones the store lacks, write."""
    from sagebench import bill, frames
    from sagebench.embeddings.base import build
    from sagebench.embeddings.embed import embed_roles

    spec = options.spec
    if "bill" in spec:
        bill.check(spec["bill"], spec["budget_usd"], options.data)
    texts = bill.texts(options.data, spec["task"], spec)
    encoder = build(spec["model"], options.data / "raw")
    frames.write_parts(embed_roles(texts, encoder), options.output, frames.EMBEDDINGS)
