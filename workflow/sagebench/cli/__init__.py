"""`sage-bench`: the benchmark from the command line, without the workflow.

examples:
  sage-bench evaluate --model minilm --tasks clustering --beside jaccard random
  sage-bench score --texts pairs.csv --metric rouge --metric levenshtein
  sage-bench list models

exit codes: 0 done; 1 an error that its message explains; 2 wrong arguments; 70 a defect of this
project (with its traceback); 130 interrupted. Results go to standard output, messages to standard
error. What the workflow itself runs is `python -m sagebench COMMAND`.
"""

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence

from sagebench import subcommands
from sagebench.errors import BenchError

COMMANDS = ("evaluate", "score", "list", "completion")
EXPLAINED, DEFECT, INTERRUPTED = 1, 70, 130
_ENVIRONMENT = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code as documented above (argparse itself exits with 2)."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    options = parser().parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()
    except BenchError as error:
        sys.stderr.write(f"error: {error}\n")
        return EXPLAINED
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:
        sys.stderr.write(f"{traceback.format_exc()}\nThis is a defect of sagebench.\n")
        return DEFECT
    return 0


def parser() -> argparse.ArgumentParser:
    """The whole command line; nothing heavy is imported for it."""
    found = argparse.ArgumentParser(
        prog="sage-bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = found.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = importlib.import_module(f"sagebench.cli.{name}")
        subcommands.add(subparsers, name, module)
    return found


class Names:
    """`choices` that a shell offers, while argparse lets any value pass: our errors say more."""

    def __init__(self, find: Callable[[], Iterable[str]]) -> None:
        """`find` is called for a completion script only."""
        self._find = find

    def __iter__(self) -> Iterator[str]:
        """The names to offer."""
        return iter(self._find())

    def __contains__(self, value: object) -> bool:
        """Any value may be given."""
        return True
