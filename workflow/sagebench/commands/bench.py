"""Measure speed, memory and growth against references: results/bench.

The sections are measured one after the other and kept, so that an ended measurement goes on where
it was with --only; index.md and growth.png show all that are there. Needs a finished run; SciFact
and STSBenchmark are measured where a folder of benchmark data has them (`--published`, or
$SAGEBENCH_DATA).

examples:
  python -m sagebench bench --only similarities run
  python -m sagebench bench --published ~/benchmark-data
"""

import argparse
import os
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("output", type=Path, nargs="?", default=Path("results/bench"))
    parser.add_argument("--data", type=Path, default=Path("data"), help="the data folder")
    parser.add_argument("--scratch", type=Path, default=Path(".cache/bench"), help="kept files")
    parser.add_argument("--published", type=Path, help="the folder of benchmark data")
    parser.add_argument("--only", nargs="+", metavar="SECTION", help="by default all")


def run(options: argparse.Namespace) -> None:
    """Measure, write the JSON of each section, then the page and the figure."""
    from sagebench import registry
    from sagebench.bench import machine, plot, report, sections
    from sagebench.bench.measure import Place
    from sagebench.corpora.files import write_bytes
    from sagebench.corpora.folder import FOLDER_VARIABLE
    from sagebench.published.folder import Folder

    known = options.published or os.environ.get(FOLDER_VARIABLE)
    published = Folder.of(options.published).root.resolve() if known else None
    place = Place(options.data.resolve(), published, options.scratch.resolve())
    for name in options.only or sections.SECTIONS:
        if name not in sections.SECTIONS:
            raise registry.unknown("section of the bench", name, sections.SECTIONS)
        sys.stderr.write(f"bench: {name}\n")
        sections.measure(name, place, options.output)
    kept = sections.kept(options.output)
    page = report.render(kept, machine.describe())
    write_bytes(options.output / "index.md", page.encode())
    plot.draw(kept, options.output)
