"""Score every system on one corpus of a task, with bootstrap intervals.

example:
  python -m sagebench score data/scores/clustering/bbc --spec '{…}'
"""

import argparse
from pathlib import Path

from sagebench.commands import json_spec


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--data", type=Path, default=Path("data"), help="the data folder")
    parser.add_argument("--spec", type=json_spec, required=True, help="task, corpus and systems")


def run(options: argparse.Namespace) -> None:
    """Read similarities, score, write units, cells and draws."""
    from sagebench import frames, layout, registry

    spec, data = options.spec, options.data
    place = spec["task"], spec["corpus"]
    inputs = layout.read_inputs(data, *place, spec["role"], spec["perturbations"])
    paths = {system: layout.similarity(data, *place, system) for system in spec["systems"]}
    similarities = layout.OnDemand(paths, frames.SIMILARITY[spec["kind"]])
    task = registry.load("task", spec["kind"])()
    parts = task.score(inputs, similarities, spec["settings"])
    for (part, part_schema), frame in zip(layout.SCORE_PARTS.items(), parts, strict=True):
        frames.write(frame, layout.scores(data, *place, part), part_schema)
