"""results/audit/index.md: where a reader begins."""

from collections import Counter
from collections.abc import Mapping

from sagebench.audit import sources
from sagebench.audit.checksums import Checksum
from sagebench.audit.history import ORDER, History

_SHOWN = 4  # readers of a source; sources.csv names all
_PAGE = """\
# Audit: what these results were made from

Size `{size}`, seed `{seed}`. {artifacts} artifacts ({megabytes} MB) of {jobs} jobs, from \
{sources} pinned archives; {locked}.

![The jobs behind the results, by phase and task](dag.svg)

| file | answers |
|---|---|
| [artifacts.csv](artifacts.csv) | For each file: its digests (`md5` as in `dvc.lock`), the rule, \
parameters and code behind it, the digests of what it was made from, packages, wall time |
| [sources.csv](sources.csv) | For each source: package, version, archive, sha256, licence, \
citation, what reads it |
| [software.csv](software.csv) | For each package: installed and locked version; {software} |
| [ro-crate-metadata.json](ro-crate-metadata.json) | The same for machines: a Workflow Run \
RO-Crate |

## Ask for one number, check all of them

```sh
python -m sagebench trace results/tables/summary.csv {system} robustness   # back to the archives
python -m sagebench verify --sample 0    # every byte against records, catalogue and dvc.lock
python -m sagebench verify --sample 20   # and 20 random jobs run again, bytes compared
```

## Jobs

{jobs_table}

## Sources and licences

{sources_table}
"""


def render(
    history: History,
    known: Mapping[str, Checksum],
    locked: Mapping[str, str],
    pins: list[dict[str, str]],
) -> str:
    """The page; nothing in it depends on when or where it was written."""
    settings = next(job for job in history.all_jobs if job.name == "table").spec
    size = sum(known[path].size for path in history.jobs)
    differing = [row["package"] for row in pins if row["state"] in ("differs", "not installed")]
    rows = sources.rows(history)
    in_lock = sum(path in locked for path in history.jobs)
    return _PAGE.format(
        size=settings["size"],
        seed=settings["seed"],
        artifacts=len(history.jobs),
        megabytes=round(size / 1e6),
        jobs=len(history.all_jobs),
        sources=len(rows),
        locked=f"{'all' if in_lock == len(history.jobs) else in_lock} are as in `dvc.lock`",
        software=f"not as locked: {', '.join(differing)}" if differing else "all as locked",
        system=next(job.place.rpartition("/")[2] for job in history.all_jobs
                    if job.name == "similarity"),
        jobs_table=_jobs(history, known),
        sources_table=_sources(rows),
    )  # fmt: skip


def _jobs(history: History, known: Mapping[str, Checksum]) -> str:
    jobs, files, sizes = Counter[str](), Counter[str](), Counter[str]()
    for job in history.all_jobs:
        jobs[job.name] += 1
        files[job.name] += len(job.outputs)
        sizes[job.name] += sum(known[path].size for path in job.outputs)
    lines = ["| command | jobs | files | MB |", "|---|--:|--:|--:|"]
    lines += [
        f"| {name} | {jobs[name]} | {files[name]} | {sizes[name] / 1e6:.1f} |"
        for name in ORDER
        if jobs[name]
    ]
    return "\n".join(lines)


def _sources(rows: list[dict[str, str]]) -> str:
    lines = ["| source | archive | licence | read by |", "|---|---|---|---|"]
    for row in rows:
        archive = row["archive"] or "a folder of the user's"
        archive += f" `{row['sha256'][:12]}…`" if row["sha256"] else ""
        readers = row["used_by"].split("; ")
        more = f"; and {len(readers) - _SHOWN} more" if len(readers) > _SHOWN else ""
        cells = (row["source"], archive, row["licence"], "; ".join(readers[:_SHOWN]) + more)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)
