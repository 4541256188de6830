"""Compute one system's similarities on one corpus of a task.

example:
  python -m sagebench similarity data/similarity/clustering/bbc/rouge.parquet --spec '{…}'
"""

import argparse
from pathlib import Path
from typing import Any

from sagebench.commands import json_spec


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("output", type=Path, help="the Parquet file to write")
    parser.add_argument("--data", type=Path, default=Path("data"), help="the data folder")
    parser.add_argument("--spec", type=json_spec, required=True, help="task, corpus and system")


def run(options: argparse.Namespace) -> None:
    """Load the task's inputs and the system, compare, write."""
    from sagebench import frames, layout, registry

    spec = options.spec
    inputs = layout.read_inputs(
        options.data, spec["task"], spec["corpus"], spec["role"], spec["perturbations"]
    )
    task = registry.load("task", spec["kind"])()
    result = task.similarity(inputs, _system(spec, options.data), spec["settings"])
    frames.write(result, options.output, frames.SIMILARITY[spec["kind"]])


def _system(spec: dict[str, Any], data: Path) -> Any:
    from sagebench import layout, registry

    system = spec["system"]
    if system["kind"] == "model":
        from sagebench.metrics.cosine import Cosine

        return Cosine(layout.embeddings(data, spec["task"], system["name"]))
    return registry.load("metric", system["metric"])(raw=data / "raw", **system["params"])
