"""What there is: models, metrics, tasks, sizes, corpora, perturbations.

examples:
  sage-bench list models
  sage-bench list corpora --json
"""

import argparse

from sagebench.cli import output

KINDS = ("models", "metrics", "tasks", "sizes", "corpora", "perturbations")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("kind", choices=KINDS, help="what to list")
    output.configure(parser)


def run(options: argparse.Namespace) -> None:
    """Look up, print."""
    import polars as pl

    rows = _rows(options.kind)
    output.write(pl.DataFrame(rows, orient="row"), options, output.plain_table)


def _rows(kind: str) -> list[dict[str, str]]:
    from sagebench import registry
    from sagebench.corpora import catalogue
    from sagebench.evaluation import sizes

    if kind == "models":
        models = catalogue.load().models
        return [{"name": n, "title": m.title, "licence": m.licence} for n, m in models.items()]
    if kind == "corpora":
        corpora = catalogue.load().corpora
        return [
            {"name": n, "role": c.role, "title": c.title, "licence": c.licence}
            for n, c in corpora.items()
        ]
    if kind == "sizes":
        return [{"name": name} for name in sizes.names()]
    single = kind.removesuffix("s")
    return [
        {"name": name, "about": (registry.load(single, name).__doc__ or "").partition("\n")[0]}
        for name in registry.entries(single)
    ]
