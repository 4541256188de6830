"""Apply one perturbation to every document of a sample.

example:
  python -m sagebench perturb sample.parquet out.parquet \\
    --spec '{"name": "numerization", "params": {}, "seed": 1, "needles": null}'
"""

import argparse
from pathlib import Path

from sagebench.commands import json_spec


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("sample", type=Path, help="a file with doc_id and text")
    parser.add_argument("output", type=Path, help="the Parquet file to write")
    parser.add_argument("--raw", type=Path, default=Path("data/raw"), help="fetched sources")
    parser.add_argument("--spec", type=json_spec, required=True, help="name, params, seed, needles")


def run(options: argparse.Namespace) -> None:
    """Read, perturb, write."""
    from sagebench import frames
    from sagebench.perturbations.apply import perturb

    documents = frames.read(options.sample, frames.DOCUMENTS)
    result = perturb(documents, raw=options.raw, **options.spec)
    frames.write(result, options.output, frames.PERTURBED)
