"""The report: its numbers are the tables', its traces the records', its texts inert."""

import csv
import re
import shutil
import sys
from pathlib import Path

import pytest
from report_support import ROOT, Page, project

from sagebench import tables
from sagebench.corpora import catalogue
from sagebench.errors import BenchError
from sagebench.report import page as page_module
from sagebench.report import printed
from sagebench.report.answers import answers
from sagebench.report.rows import Scores
from sagebench.tables.context import AGREEMENT, TASKS
from sagebench.tables.panels import share_text
from sagebench.tables.picks import NEEDS
from sagebench.tables.plain import one_line

HOSTILE = "<script>alert('x')</script> \"q\" 'a' &amp; </style></data> \u202eRTL \x1b[31mred"
FEW = {"models": ["minilm", "glove"], "bootstrap": {"resamples": 100}}
SOFTWARE = {"polars": "2.1.0", "numpy": "2.4.0"}


def rows_of(folder: Path, name: str) -> list[dict[str, str]]:
    with open(folder / "results/tables" / f"{name}.csv", encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(folder, plan, HTML) of a project whose every title is hostile."""
    entries = catalogue.load()
    title = {"title": HOSTILE, "citation": HOSTILE}
    corpora = {n: c.model_copy(update=title | {"title": f"{n} {HOSTILE}"})
               for n, c in entries.corpora.items()}  # fmt: skip
    models = {n: m.model_copy(update={"title": f"{n} {HOSTILE}", "note": HOSTILE})
              for n, m in entries.models.items()}  # fmt: skip
    sources = {n: s.model_copy(update={"licence": HOSTILE, "citation": HOSTILE})
               for n, s in entries.sources.items()}  # fmt: skip
    entries = entries.model_copy(update={"corpora": corpora, "models": models, "sources": sources})
    folder = tmp_path_factory.mktemp("hostile")
    with project(folder, entries, FEW) as plan:
        summary = folder / "results/tables/summary.csv"
        notes = summary.read_text(encoding="utf-8").splitlines(keepends=True)
        notes[1] = notes[1].rstrip("\n") + '"' + HOSTILE.replace('"', '""') + '"\n'
        summary.write_text("".join(notes), encoding="utf-8")
        yield folder, plan, page_module.render(plan, SOFTWARE, Path("results"))


# --- numbers ----------------------------------------------------------------------------------


def check_numbers(folder: Path, html: str) -> int:
    """Every marked number against its row of its CSV file; how many there are."""
    found = Page.of(html).numbers
    known = {
        f"{name}.csv: {row['system']}, {row['corpus']}, {row['measure']}": row
        for name in tables.TABLES
        for row in rows_of(folder, name)
        if "system" in row
    }
    for number in found:
        row = known[number.cell]
        assert float(number.value) == float(row["value"]), number
        value = float(row["value"])
        assert number.text in (f"{value:.3f}", share_text(value)), number
        if number.interval:
            assert number.interval == f"[{float(row['low']):.3f}, {float(row['high']):.3f}]", number
    return len(found)


def check_printed(folder: Path, html: str) -> int:
    """Every cell of a printed table that follows a system's name, against that system's rows."""
    checked = 0
    for name, grids in Page.of(html).tables.items():
        rows = rows_of(folder, name)
        if "system" not in rows[0]:
            continue
        forms: dict[str, set[str]] = {}
        for row in rows:
            forms.setdefault(one_line(row["title"]), set()).update(_forms(row))
        for cells in (cells for grid in grids for cells in grid):
            label = next((c for c in map(_bare, cells[:2]) if c in forms), None)
            if name == "picks":  # its last column is another system's
                forms["any"], label = set().union(*forms.values()), "any"
            for cell in cells[1:] if label else ():
                text = _bare(cell).replace("\u2212", "-")
                if re.fullmatch(r"[-+<]?[\d., ]+%?( \(.*\))?( \[.*\])?", text):
                    known = {_zero(form) for form in forms[label]}
                    assert _zero(text) in known, (name, label, text)
                    checked += 1
    return checked


def _zero(text: str) -> str:
    """Without the sign of what is rounded to nothing: a difference may be told from either side."""
    return re.sub(r"[-+](?=0\.000(?!\d))", "", text)


def _bare(cell: str) -> str:
    """A cell without footnote marks: letters behind a name or before an interval."""
    cell = cell.replace("\u00a0", " ")
    cell = re.sub(r"(?<=[\d%])([a-z](,[a-z])*)(?= \[|$)", "", cell)
    return cell.strip()


def _forms(row: dict[str, str]) -> set[str]:
    """How a row's number may be printed."""
    if not row["value"]:
        return set()
    value = float(row["value"])
    found = {f"{value:.3f}", f"{value:+.3f}", share_text(value), f"{value:,.0f}", f"{value:.2f}"}
    if row["low"]:
        # The file has six digits: of what ends in a 5 there, they do not say how it is rounded.
        lows, highs = (
            {f"{float(row[end]) + nudge:.3f}" for nudge in (-5e-7, 5e-7)} for end in ("low", "high")
        )
        found |= {f"{form} [{low}, {high}]" for form in found for low in lows for high in highs}
        found.add(f"{value:.0f} [{float(row['low']):.0f}\u2013{float(row['high']):.0f}]")
    if row["n"]:
        of = f"({round(value * int(row['n'])):,} of {int(row['n']):,})"
        found.add(f"{share_text(value)} {of}")
    return found


def test_every_number_is_that_of_a_csv_file(made):
    folder, plan, html = made
    assert check_numbers(folder, html) > 8 * len(plan.systems)


def test_a_wrong_number_is_noticed(made):
    folder, _, html = made
    value = re.search(r'data-cell="summary\.csv[^"]*">(\d\.\d{3})<', html)
    assert value
    place = value.start(1)
    wrong = html[:place] + "9" + html[place + 1 :]
    with pytest.raises(AssertionError):
        check_numbers(folder, wrong)


@pytest.mark.workflow
@pytest.mark.timeout(900)
def test_every_number_of_a_real_build_is_that_of_a_csv_file(built):
    html = (built.folder / "results/report.html").read_text(encoding="utf-8")
    assert check_numbers(built.folder, html) > 300
    assert check_printed(built.folder, html) > 500
    wrong = re.sub(r'(<td><a href="#trace-jaccard-clustering">0\.)\d', r"\1x", html, count=1)
    wrong = wrong.replace("0.x", "7.")
    with pytest.raises(AssertionError):
        check_printed(built.folder, wrong)


def test_all_tables_figures_systems_and_parameters_are_there(made):
    folder, plan, html = made
    page = Page.of(html)
    assert set(page.tables) == set(tables.TABLES)
    for name in tables.TABLES:
        written = printed.parse((folder / f"results/tables/{name}.md").read_text("utf-8"))
        grids = [part for part in written.parts if isinstance(part, printed.Grid)]
        assert [len(grid.lines) + 1 for grid in grids] == [len(g) for g in page.tables[name]]
    anchors = {f"trace-{s}-{t}" for s in plan.systems for t in TASKS}
    anchors |= {f"trace-{s}-{t}" for t in AGREEMENT for s in plan.tasks[t].systems}
    anchors |= {f"system-{s}" for s in plan.systems} | {f"task-{t}" for t in TASKS}
    assert anchors <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link != "#top"} <= set(page.ids)
    assert page.tags["img"] == 5 + 1
    assert "resamples: 100" in page.text
    assert "polars 2.1.0" in page.text
    assert len(html.encode("utf-8", "backslashreplace")) < page_module.LIMIT


def test_numbers_of_ours_link_to_their_traces_and_the_papers_do_not(made):
    folder, plan, _ = made
    from sagebench.report.linked import Links

    written = printed.parse((folder / "results/tables/clustering.md").read_text("utf-8"))
    titles = {row["system"]: row["title"] for row in rows_of(folder, "clustering")}
    links = Links(titles, {f"trace-{name}-clustering" for name in titles})
    grid = next(p for p in links.table("clustering", written).parts if isinstance(p, printed.Grid))
    paper = [i for i, cell in enumerate(grid.header) if cell.text.startswith("Paper")]
    assert paper
    lines = {line.system: line for line in grid.lines if line.system}
    assert set(lines) == set(plan.systems)
    for name, line in lines.items():
        for place, cell in enumerate(line.cells[1:], 1):
            expected = f"trace-{name}-clustering" if cell.text and place not in paper else ""
            assert cell.link == expected, (name, grid.header[place].text)


def test_the_same_files_give_the_same_bytes(made):
    _, plan, html = made
    assert page_module.render(plan, dict(reversed(SOFTWARE.items())), Path("results")) == html


def test_a_missing_file_is_named(made, tmp_path, monkeypatch):
    folder, plan, _ = made
    copied = shutil.copytree(folder, tmp_path / "copy")
    monkeypatch.chdir(copied)
    for path, message in (
        ("data/similarity/clustering/bbc/jaccard.parquet", "jaccard.parquet cannot be read"),
        ("results/figures/retention.svg", "retention.svg cannot be read"),
        ("results/tables/summary.csv", "summary.csv cannot be read"),
    ):
        (copied / path).rename(copied / "away")
        with pytest.raises(BenchError, match=message):
            page_module.render(plan, SOFTWARE, Path("results"))
        (copied / "away").rename(copied / path)


# --- answers ----------------------------------------------------------------------------------


def picks(tmp_path: Path, **systems: tuple[str, float, float, float, float]) -> Scores:
    """System = (kind, value, share of leads, behind, lower end of behind), for one need."""
    lines = ["system,title,kind,corpus,measure,value,low,high,n,note"]
    for name, (kind, value, first, behind, low) in systems.items():
        head = f"{name},{name},{kind},all corpora"
        lines.append(f"{head},clustering,{value},{value - 0.1},{value + 0.1},9,")
        if kind != "reference":
            lines.append(f"{head},first:clustering,{first},,,,")
        lines.append(f"{head},behind:clustering,{behind},{low},{behind + 0.1},9,")
    (tmp_path / "picks.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Scores(tmp_path, "picks")


@pytest.mark.parametrize(
    ("second", "blind", "verdict"),
    [
        (("classical", 0.5, 0.0, 0.2, 0.1), ("reference", 0.1, 0, 0.6, 0.5), "clear"),
        (("classical", 0.68, 0.15, 0.02, -0.01), ("reference", 0.1, 0, 0.6, 0.5), "likely"),
        (("classical", 0.68, 0.45, 0.02, -0.01), ("reference", 0.1, 0, 0.6, 0.5), "draw"),
        (("classical", 0.5, 0.0, 0.2, 0.1), ("reference", 0.69, 0, 0.01, -0.1), "none"),
        (("classical", 0.5, 0.0, 0.2, 0.1), ("reference", 0.9, 0, -0.2, -0.3), "none"),
        (("classical", 0.7, 0.5, 0.0, 0.0), ("reference", 0.1, 0, 0.6, 0.5), "clear"),  # equal
    ],
)
def test_a_verdict_follows_from_the_differences(second, blind, verdict, tmp_path):
    best = ("embedding", 0.7, 1 - second[2], 0.0, 0.0)
    (found,) = answers(picks(tmp_path, best=best, second=second, blind=blind))
    assert found.verdict == verdict
    assert found.best[0].system == "best"
    equal = second[1] == 0.7
    assert [row.system for row in found.best] == ["best", "second"][: 1 + equal]
    level = verdict in ("likely", "draw")
    assert [row.system for row in found.level] == ["second"] * level
    assert (found.next is None) == (level or equal)


def test_an_answer_for_every_need_is_on_the_page(made):
    page = Page.of(made[2])
    assert {f"pick-{need}" for need in NEEDS} <= set(page.ids)
    assert all(title in page.text for title, _ in NEEDS.values())


# --- hostile text -----------------------------------------------------------------------------


def test_hostile_text_is_text(made):
    html = made[2]
    page = Page.of(html)
    assert page.tags["script"] == page.tags["style"] == 1
    script = (ROOT / "workflow/report/page/script.js").read_text(encoding="utf-8")
    assert page.scripts == [script]
    assert not {name for name in page.attributes if name.startswith("on") or name == "style"}
    # In names and notes from CSV files, from Markdown, from the catalogue: shown as it is.
    assert page.text.count("<script>alert('x')</script>") > 50
    assert "&lt;/script&gt;" in html
    for number in page.numbers:
        float(number.value)
    assert set(page.tags) <= {
        "html", "head", "meta", "title", "link", "style", "script", "body", "a", "header", "div",
        "nav", "button", "main", "h1", "h2", "h3", "h4", "h5", "p", "em", "strong", "section",
        "article", "span", "data", "ul", "li", "details", "summary", "form", "label", "input",
        "fieldset", "legend", "output", "table", "caption", "thead", "tbody", "tr", "th", "td",
        "svg", "line", "circle", "figure", "img", "figcaption", "dl", "dt", "dd", "code", "br",
        "sup", "pre", "footer", "cite",
    }  # fmt: skip


def test_nothing_is_loaded_and_only_our_script_may_run(made):
    html = made[2]
    page = Page.of(html)
    assert all(load.startswith("data:") for load in page.loads)
    assert all(link.startswith("#") for link in page.links)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy
    assert policy[1].startswith("default-src 'none'; img-src data:;")
    assert f"script-src '{page_module._hash(page.scripts[0])}'" in policy[1].replace("&#39;", "'")
    assert "unsafe" not in policy[1]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("a<sup onclick=x>b", "a&lt;sup onclick=x&gt;b"),
        ("<sup>a</sup>", "<sup>a</sup>"),
        ("<!-- x --><img src=y>", "&lt;!-- x --&gt;&lt;img src=y&gt;"),
    ],
)
def test_markdown_keeps_no_html_but_our_four_tags(text, shown):
    assert shown in printed.html(text)


# --- the rule --------------------------------------------------------------------------------


@pytest.mark.workflow
@pytest.mark.timeout(900)
def test_the_report_is_made_by_its_rule_alone_and_again_the_same(built, tmp_path):
    before = (built.folder / "results/report.html").read_bytes()
    built.run(
        sys.executable, "-m", "sagebench", "report", str(tmp_path / "again.html"),
        "--params", "params.yaml", PYTHONHASHSEED="7", LC_ALL="C",
    )  # fmt: skip
    assert (tmp_path / "again.html").read_bytes() == before
    assert "Nothing to be done" in built.snakemake("-n", "results/report.html")


@pytest.mark.workflow
@pytest.mark.timeout(900)
def test_snakemakes_own_report_holds_the_page(built, tmp_path):
    target = tmp_path / "snakemake.zip"
    built.snakemake("--report", str(target))
    import zipfile

    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
        ours = [name for name in names if name.endswith("report.html") and "data" in name]
        assert len(ours) == 1, names
        assert archive.read(ours[0]) == (built.folder / "results/report.html").read_bytes()
