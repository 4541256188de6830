"""Finished files given to DVC, so that `dvc status` is clean after a run of Snakemake alone."""

import os
import re
import subprocess
import sys
from pathlib import Path

from snakemake.settings.types import DAGSettings

from sagebench import dvc_stages
from sagebench.errors import BenchError
from sagebench.phases import stages
from sagebench.plan import Plan

SWITCH = "SAGEBENCH_DVC"  # set to 0: Snakemake leaves DVC alone
_NOTHING_TO_DO = "Nothing to be done"


def after_run(settings: DAGSettings, touched: bool) -> None:
    """Hand over at the end of a successful run, if it was a whole one outside DVC.

    A failure is told and does not fail the run: its files are good, DVC just lacks them.
    """
    partial = settings.targets or settings.until or settings.omit_from or settings.allowed_rules
    switched_off = os.environ.get(SWITCH) == "0" or "DVC_STAGE" in os.environ
    if partial or touched or switched_off or not _is_repository():
        return
    try:
        hand_over()
    except (BenchError, OSError) as error:
        sys.stderr.write(f"Not given to DVC: {error}\n")


def hand_over() -> None:
    """Write all records beside the data and let DVC take every stage's outputs as they are.

    DVC trusts what it is told here, so a fresh dry run must first find nothing to do: after a
    run of other parameters, of a part, or with files edited meanwhile, it is refused (BenchError).
    Snakemake's store gets the records that it was judged by, for quicker answers from now on.
    """
    from sagebench.lineage.stages import Store

    _check_nothing_to_do()
    _drop_half_lock(Path("dvc.lock"))
    plan = Plan.read("params.yaml")
    dvc_stages.check(plan, *stages(plan))
    store = Store()
    for stage in stages(plan):
        store.prune(stage)
        store.collect(stage)
    _run("dvc", "commit", "--force", "--no-relink")
    store.restore(stages(plan))


def pull() -> None:
    """`dvc pull`, if a remote is configured."""
    if _run("dvc", "remote", "list").strip():
        _run("dvc", "pull")


def remote(name: str | None = None) -> str:
    """The address of the remote `name`, or of the default one; BenchError if there is none."""
    lines = _run("dvc", "config", "--list").splitlines()
    settings = dict(line.split("=", 1) for line in lines if "=" in line)
    chosen = name or settings.get("core.remote")
    if url := settings.get(f"remote.{chosen}.url"):
        return url
    known = sorted(key.split(".")[1] for key in settings if re.fullmatch(r"remote\..*\.url", key))
    raise BenchError(f"DVC has no remote {chosen!r}; it has {', '.join(known) or 'none'}")


def push(name: str | None = None) -> None:
    """`dvc push` to the remote `name`, or to the default one."""
    _run("dvc", "push", "--quiet", *(["--remote", name] if name else []))


def _is_repository() -> bool:
    """Whether DVC works here: with Git around, or told to do without (`dvc init --no-scm`)."""
    configs = [path for path in Path(".dvc").glob("config*") if path.is_file()]
    alone = any("no_scm" in path.read_text(encoding="utf-8") for path in configs)
    here = Path.cwd()
    return bool(configs) and (alone or any((f / ".git").exists() for f in (here, *here.parents)))


def _drop_half_lock(lock: Path) -> None:
    """Remove a lock that a killed DVC left half-written: it writes in place, and refuses half a
    file for ever after. Each stage's entry is written anew from the files that are there.
    """
    import yaml
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA
    from voluptuous import Invalid

    try:
        COMPILED_LOCKFILE_SCHEMA(yaml.safe_load(lock.read_text(encoding="utf-8")) or {})
    except FileNotFoundError:
        return
    except (yaml.YAMLError, UnicodeDecodeError, Invalid, TypeError, AttributeError):
        lock.unlink()
        sys.stderr.write(f"{lock} was cut off in the middle: it is written anew\n")


def _check_nothing_to_do() -> None:
    if _NOTHING_TO_DO not in _run("snakemake", "--dry-run"):
        raise BenchError(
            "the files are not all up to date with params.yaml and the code as they are now; "
            "`snakemake -n` lists what is to do"
        )


def _run(module: str, *arguments: str) -> str:
    """Run a tool of this interpreter; its output."""
    done = subprocess.run(  # noqa: S603  (fixed programs, no shell)
        [sys.executable, "-m", module, *arguments], text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        lines = done.stdout.strip().splitlines() or ["no message"]
        # DVC ends every error with an invitation to its support, and is silent with --quiet.
        reason = next((line for line in lines if line.startswith("ERROR: ")), lines[-1])
        raise BenchError(f"`{module} {arguments[0]}` failed: {reason}")
    return done.stdout
