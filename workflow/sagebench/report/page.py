"""The page: everything that the template shows, gathered and rendered."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from sagebench import figures, tables
from sagebench.audit import picture, sources
from sagebench.corpora import catalogue
from sagebench.corpora.files import write_bytes
from sagebench.errors import BenchError
from sagebench.params import Params
from sagebench.plan import Plan
from sagebench.report import TEMPLATES, planned, printed
from sagebench.report.answers import answers
from sagebench.report.linked import Links
from sagebench.report.rows import Row, Scale, Scores, reference
from sagebench.report.systems import systems
from sagebench.report.traces import Traces
from sagebench.tables.context import KINDS, TASKS
from sagebench.tables.panels import share_text
from sagebench.tables.picks import NEEDS
from sagebench.tables.summary import COLUMNS

_READ = (
    "summary", "picks", "human_preference", "robustness", "sensitivity_insertion",
    "sensitivity_removal", "clustering", "retrieval",
)  # fmt: skip
# Task -> the figures that show it; the others belong to the summary.
_FIGURES = {
    "robustness": ["condition_rates"],
    "sensitivity": ["sensitivity_curves"],
    "retrieval": ["retention"],
}
LIMIT = 5_000_000  # bytes: what a mail takes, a browser opens at once


def write(params: Params, software: Mapping[str, str], results: Path, out: Path) -> None:
    """Write the page of the run in the working folder; `software`: package -> version.

    Equal files and parameters give equal bytes. BenchError if a file is missing, or the page
    would be larger than `LIMIT`.
    """
    page = render(Plan(params, catalogue.load()), software, results).encode(
        "utf-8", "backslashreplace"
    )
    if len(page) > LIMIT:
        raise BenchError(f"{out} would have {len(page):,} bytes, more than {LIMIT:,}")
    write_bytes(out, page)


def render(plan: Plan, software: Mapping[str, str], results: Path) -> str:
    """The page as HTML."""
    history = planned.history(plan)
    found = {name: Scores(results / "tables", name) for name in _READ}
    traces = Traces(plan, history)
    shown = list(systems(plan, found, traces))
    anchors = {score.trace.anchor for each in shown for score in each.scores}
    anchors |= {trace.anchor for each in shown for trace in each.checks}
    links = Links({each.name: each.title for each in shown}, anchors)
    script, style = (_read(f"page/{name}") for name in ("script.js", "style.css"))
    return _environment().get_template("page.html").render(
        script=Markup(script), style=Markup(style),  # noqa: S704  (ours)
        hashes={"script": _hash(script), "style": _hash(style)},
        params=plan.params,
        # Sorted: the order of mappings says nothing, and a rule's parameters come without it.
        parameters=yaml.safe_dump(plan.params.model_dump(mode="json")),
        software=software,
        kinds=KINDS, tasks=TASKS, columns=COLUMNS, needs=NEEDS,
        answers=answers(found["picks"]),
        summary=found["summary"],
        systems=shown,
        texts=list(traces.texts()),
        tables=[(name, links.table(name, _table(results, name))) for name in tables.TABLES],
        cards=printed.html(_text(results / "corpora.md")),
        sources=sources.rows(history),
        corpora=plan.corpora(),
        figures={name: _figure(results, name) for name in figures.FIGURES},
        task_figures=_FIGURES,
        dag=_image(picture.svg(history)),
    )  # fmt: skip


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES / "page"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.globals |= {"around": Scale.around, "best": _best, "reference": reference}
    environment.filters |= {"share": share_text, "ranked": _ranked}
    return environment


def _ranked(rows: list[Row]) -> list[Row]:
    """Highest first, in row order where equal."""
    return sorted(rows, key=lambda row: -(row.value or 0.0))


def _best(rows: list[Row]) -> str:
    """The highest value of a column as it is printed, reference rows aside."""
    values = [row for row in rows if row.kind != "reference"]
    return max(values, key=lambda row: row.value or 0.0).text if values else ""


def _table(results: Path, name: str) -> printed.Printed:
    return printed.parse(_text(results / "tables" / f"{name}.md"))


def _figure(results: Path, name: str) -> dict[str, Any]:
    job = SimpleNamespace(wildcards=SimpleNamespace(figure=name))
    caption = Template(_read("figure.rst")).render(snakemake=job)
    content = _text(results / "figures" / f"{name}.svg")
    return {"caption": " ".join(caption.split()), "image": _image(content.encode())}


def _image(svg: bytes) -> str:
    """A picture as a data URI: inside an image nothing of it runs or loads."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()


def _hash(text: str) -> str:
    """What a content security policy allows: this text and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BenchError(f"{path} cannot be read ({error.strerror}); run again") from None
