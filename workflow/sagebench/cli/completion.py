"""Print the completion script of a shell.

examples:
  sage-bench completion bash > ~/.local/share/bash-completion/completions/sage-bench
  sage-bench completion zsh > ~/.zfunc/_sage-bench     # a folder of $fpath
"""

import argparse
import sys


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="whose script to print")


def run(options: argparse.Namespace) -> None:
    """Generate it from the parser."""
    import shtab

    from sagebench.cli import parser

    sys.stdout.write(f"{shtab.complete(parser(), options.shell)}\n")
