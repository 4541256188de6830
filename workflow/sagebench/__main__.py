"""Command line: `python -m sagebench COMMAND …`; each command is a module of sagebench.commands."""

import argparse
import importlib
import os
import pkgutil
import sys
import time
import traceback
from pathlib import Path

from sagebench import commands, subcommands
from sagebench.errors import BenchError, limit_of_machine

# One thread per job: Snakemake runs the jobs side by side, and a fixed number of threads keeps
# floating-point sums in the same order whatever the machine. Set before any library loads.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_MININTERVAL": "5",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}


# Commands that may use a network; the others read what these fetched.
_ONLINE = ("fetch", "mirror", "snapshot")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; its exit code.

    0 = done, 2 = an error the user can act on (its text is the message), 1 = a defect; a command
    may return a code of its own above these, as its help says.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] not in _ONLINE:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    options = _parser(arguments[:1]).parse_args(arguments)
    log = options.log
    started = time.perf_counter()
    try:
        code: int | None = options.run(options)
    except BenchError as error:
        _say(f"error: {error}", log)
        return 2
    except Exception as error:
        if told := limit_of_machine(error) or _missing_library(error):
            _say(f"error: {told}", log)
            return 2
        _say(traceback.format_exc(), log, stderr=log is None)
        if log:
            last = traceback.format_exc().strip().splitlines()[-1]
            sys.stderr.write(f"error: {last}\n  This is a defect; the traceback is in {log}\n")
        return 1
    _say(f"{options.command}: done in {time.perf_counter() - started:.1f} s", log, stderr=False)
    return code or 0


def _missing_library(error: Exception) -> str | None:
    """What to tell someone whose `python` is not the one with the libraries; else None."""
    if not isinstance(error, ModuleNotFoundError) or (error.name or "").startswith("sagebench"):
        return None
    return (
        f"{error.name} is not installed for {sys.executable}: activate the environment that has it "
        "(after `make results`: `source .venv/bin/activate`), or install requirements.lock"
    )


def _say(text: str, log: Path | None, stderr: bool = True) -> None:
    if stderr:
        sys.stderr.write(text.rstrip() + "\n")
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text.rstrip() + "\n")


def _parser(first: list[str]) -> argparse.ArgumentParser:
    """The parser; only the command that is asked for is imported (all of them for --help)."""
    modules = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    names = [name.replace("_", "-") for name in modules]
    wanted = first if first and first[0] in names else names
    parser = argparse.ArgumentParser(prog="sagebench", description=__doc__)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in wanted:
        module = importlib.import_module(f"sagebench.commands.{name.replace('-', '_')}")
        sub = subcommands.add(subparsers, name, module)
        sub.add_argument("--log", type=Path, help="also write messages and tracebacks here")
    return parser


if __name__ == "__main__":
    sys.exit(main())
