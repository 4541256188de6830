"""The report as a reader's program sees it, and a made-up project to make one of."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import fake_scores

from sagebench import figures, params, tables
from sagebench.corpora.card import render as card
from sagebench.corpora.catalogue import Catalogue
from sagebench.params import Params
from sagebench.plan import Plan
from sagebench.report import planned

ROOT = Path(__file__).resolve().parents[1]
VOID = {"meta", "link", "br", "img", "input", "hr", "line", "circle"}


@dataclass
class Number:
    """A number that says which row of a CSV file it is."""

    cell: str
    value: str
    text: str = ""
    interval: str = ""


@dataclass
class Page(HTMLParser):
    """What is on the page; reading fails where tags are not closed in order."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    tags: Counter[str] = field(default_factory=Counter)
    attributes: set[str] = field(default_factory=set)
    numbers: list[Number] = field(default_factory=list)
    tables: dict[str, list[list[list[str]]]] = field(default_factory=dict)
    text: str = ""
    scripts: list[str] = field(default_factory=list)
    _open: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    _fresh: bool = False

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    @classmethod
    def of(cls, html: str) -> "Page":
        page = cls()
        page.feed(html)
        page.close()
        assert not page._open, page._open
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags[tag] += 1
        self.attributes |= found.keys()
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        self.loads += [found[name] for name in ("src", "srcset", "action", "data") if name in found]
        self.loads += [found["href"]] if tag in ("link", "use", "image") else []
        # An interval belongs to the number right before it.
        self._fresh = "data-cell" in found or (self._fresh and found.get("class") == "interval")
        if "data-cell" in found:
            self.numbers.append(Number(found["data-cell"], found["value"]))
        if table := self._table():
            if tag == "table":
                self.tables.setdefault(table, []).append([])
            elif tag == "tr":
                self.tables[table][-1].append([])
            elif tag in ("td", "th"):
                self.tables[table][-1][-1].append("")
        if tag not in VOID:
            self._open.append((tag, found))
        if tag == "script":
            self.scripts.append("")

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ("", {})
        if inside[0] == "script":
            self.scripts[-1] += data
        if inside[0] in ("script", "style"):
            return
        self.text += data
        if "data-cell" in inside[1]:
            self.numbers[-1].text += data
        elif inside[1].get("class") == "interval" and self._fresh:
            self.numbers[-1].interval = data
        if (table := self._table()) and any(tag in ("td", "th") for tag, _ in self._open):
            self.tables[table][-1][-1][-1] += data

    def _table(self) -> str:
        """The printed table that is open: its name."""
        names = [found.get("id", "") for tag, found in self._open if tag == "details"]
        return next((name[6:] for name in names if name.startswith("table-")), "")


@contextmanager
def project(folder: Path, entries: Catalogue, overlay: dict[str, Any]) -> Iterator[Plan]:
    """A folder with the results of made-up scores, the working folder while it is open.

    Files that the report only takes digests of hold their own names.
    """
    given: Params = params.load(params.merge(_yaml(ROOT / "params.yaml"), overlay))
    plan, before = Plan(given, entries), Path.cwd()
    os.chdir(folder)
    try:
        fake_scores.write_scores(Path("data"), given)
        fake_scores.write_embeddings(Path("data"), given)
        fake_scores.write_perturbed(Path("data"), given)
        for name in tables.TABLES:
            tables.write(name, given, Path("data"), Path("results/tables"), entries)
        for name in figures.FIGURES:
            figures.draw(name, Path("results/tables"), Path("results/figures"))
        Path("results/corpora.md").write_text(card(_cards(plan)), encoding="utf-8")
        for path in planned.inputs(plan):
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(str(path), encoding="utf-8")
        yield plan
    finally:
        os.chdir(before)


def _yaml(path: Path) -> dict[str, Any]:
    import yaml

    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def _cards(plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "corpus": name, "role": plan.role(name), "title": entry.title, "domain": entry.domain,
            "rows_read": 1, "rows": 1, "counts": {"texts": 1}, "texts_repaired": 0,
            "texts_with_lost_characters": 0, "stands_for": None, "dropped": {entry.title: 1},
            "conflicts": 0, "queries_left_out": {}, "words": {"text": [1] * 7},
            "quirks": [entry.title, *entry.quirks], "licence": entry.licence,
            "citation": entry.citation, "sources": [],
        }
        for name in plan.corpora()
        if (entry := plan.catalogue.corpus(name))
    ]  # fmt: skip
