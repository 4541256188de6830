"""Command lines whose commands are modules: a docstring, `configure(parser)`, `run(options)`."""

import argparse
from types import ModuleType
from typing import Any


def add(subparsers: Any, name: str, module: ModuleType) -> argparse.ArgumentParser:
    """The parser of one command, with the module's docstring as its help."""
    summary, _, rest = (module.__doc__ or "").partition("\n")
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary}\n{rest}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    parser.set_defaults(run=module.run)
    return parser
