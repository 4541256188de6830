"""What every phase shares: the checked plan, the interpreter, the store of records, DVC's part.

in:  params.yaml, workflow/catalogue, data/provenance (the records that travel with the data)
out: nothing; after a whole run the finished files are in DVC's cache, `dvc status` is clean
"""

import atexit
import fcntl
import json
import os
import shlex
import sys

from snakemake.exceptions import WorkflowError

# This folder's own code, also where another checkout's is the installed one.
CODE = os.path.join(workflow.basedir, "workflow")
sys.path.insert(0, CODE)

import sagebench.tables.metrics
from sagebench import figures, layout, tables
from sagebench.corpora import catalogue, mirror
from sagebench.corpora.hub import listing
from sagebench.demand import Demand
from sagebench.embeddings import snapshots
from sagebench.errors import BenchError
from sagebench.jobs import Jobs
from sagebench.lineage import clocks, handover, persistence
from sagebench.params import load
from sagebench.plan import DATA, RESULTS, Plan
from sagebench.report import planned
from sagebench.results import results_files

try:
    persistence.install()
    plan = Plan(load(config), catalogue.load())
except BenchError as error:
    raise WorkflowError(str(error)) from None
jobs = Jobs(plan)
demand = Demand(plan)

# Jobs run in the interpreter that runs Snakemake, also when its environment is not activated.
# Where files come from is no job's parameter: the same bytes from elsewhere are the same.
places = {
    mirror.VARIABLE: plan.params.mirror,
    listing.FOLDERS_VARIABLE: plan.params.folders and json.dumps(plan.params.folders),
}
prefix = (
    f'export PATH={shlex.quote(os.path.dirname(sys.executable))}:"$PATH"'
    f" PYTHONPATH={shlex.quote(os.pathsep.join(filter(None, (CODE, os.getenv('PYTHONPATH')))))}"
)
for name, value in places.items():
    prefix += f" {name}={shlex.quote(value)}" if value else ""
# The store of vectors is for processes of one machine (SQLite's log needs their common memory),
# so on a cluster, where nodes share the folder, each node has its own.
if workflow.remote_exec:
    prefix += ' SAGEBENCH_STORE="${SAGEBENCH_STORE:-.cache/embeddings/$(uname -n)}"'
# Snakemake takes braces for its own.
shell.prefix(prefix.replace("{", "{{").replace("}", "}}") + "; ")


def together(name):
    """A group of jobs that a cluster gets as one: most are shorter than their submission.

    None of it shows in a local run, nor in its dry run.
    """
    return lambda wildcards: None if workflow.local_exec else name


wildcard_constraints:
    task="|".join(plan.tasks),
    corpus="|".join(plan.corpora()),
    system="|".join(plan.systems),
    model="|".join(plan.models) or "none",
    perturbation="[a-z0-9_]+",


# Snakemake's own lock outlives a killed run and then refuses the next one. This one is held by
# the process itself, so it ends with it (the profiles switch Snakemake's off). Jobs on a cluster
# start Snakemake again on their node, without these hooks.
onstart:
    run_lock = open(".snakemake/sagebench.lock", "w")
    try:
        fcntl.flock(run_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WorkflowError(
            f"another run is at work in {os.getcwd()}: wait for it or end it first"
        )
    atexit.register(run_lock.close)
    clocks.bring_back(DATA)
    # Snakemake's limit on job starts leaves a timer behind for every job that ends, and each looks
    # at all waiting jobs again and again: a fifth of a core after some hundred jobs.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    handover.after_run(workflow.dag_settings, workflow.touch)
