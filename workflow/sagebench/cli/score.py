"""Similarity of pairs of texts, by one or more metrics or models.

Reads CSV, TSV, JSON, JSON lines or Parquet with two columns of texts and adds a column for each
metric; empty where none is defined, as for an empty text. All pairs are one batch, on which the
values of bm25 depend (bm25_self: not).

examples:
  sage-bench score --texts pairs.csv --metric rouge
  sage-bench score --texts pairs.parquet --a source --b summary --metric minilm --metric jaccard
  sage-bench score --texts pairs.jsonl --metric my_module:similarity --json --output scored.json
"""

import argparse
import sys
from pathlib import Path

from sagebench.cli import Names, names, output


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    texts = parser.add_argument(
        "--texts",
        type=Path,
        required=True,
        metavar="FILE",
        help="pairs of texts, by suffix: .csv .tsv .json .jsonl .ndjson .parquet",
    )
    output.complete_files(texts)
    parser.add_argument("--a", default="a", metavar="COLUMN", help="originals (column a)")
    parser.add_argument("--b", default="b", metavar="COLUMN", help="compared with them (column b)")
    parser.add_argument(
        "--metric",
        action="append",
        required=True,
        metavar="METRIC",
        choices=Names(names.systems),
        help="whatever `evaluate --model` takes; may be given again",
    )
    output.configure(parser)


def run(options: argparse.Namespace) -> None:
    """Read, compare, print."""
    import polars as pl

    from sagebench.cli.pairs import column_name, read
    from sagebench.evaluation import score

    frame = read(options.texts, options.a, options.b)
    left, right = frame[options.a].to_list(), frame[options.b].to_list()
    for metric in dict.fromkeys(options.metric):
        values = score(left, right, metric)
        name = column_name(metric, frame.columns)
        frame = frame.with_columns(pl.Series(name, values, dtype=pl.Float64).fill_nan(None))
        if missing := frame[name].null_count():
            sys.stderr.write(f"{name}: no similarity for {missing} of {frame.height} pairs\n")
    output.write(frame, options, output.short_table)
