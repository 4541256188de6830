"""Print how a number of a result table was made, back to the archives that it rests on.

A job a branch, with its rule, the digest of its code, its parameters and the digests of the files
that matter for this number; a job that was shown before is only named again. Digests are cut to
12 digits; --json has them whole. MISSING and CHANGED mark files that are not as recorded.

examples:
  python -m sagebench trace results/tables/summary.csv minilm robustness
  python -m sagebench trace summary rouge overall          # the five tasks behind Overall
  python -m sagebench trace robustness bm25 robustness --corpus cnn_dailymail
  python -m sagebench trace agreement rouge agreement_robustness --json
"""

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("table", help="a CSV file of results/tables, or its name")
    parser.add_argument("system", help="a model, metric or reference row")
    parser.add_argument("task", help="a task that the table reads, or overall")
    parser.add_argument("--corpus", help="only this corpus of the task")
    parser.add_argument("--json", action="store_true", help="as JSON, whole")


def run(options: argparse.Namespace) -> None:
    """Find the chain and print it."""
    from sagebench.audit.chain import chain
    from sagebench.audit.chain_text import Writer
    from sagebench.audit.history import History

    history = History.of(Path())
    found = chain(history, options.table, options.system, options.task, options.corpus)
    writer = Writer(history)
    sys.stdout.write(writer.json(found) if options.json else writer.text(found))
