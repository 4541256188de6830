"""The written Markdown as parts of a page: markup is only what our own writers put there.

Text that came from data was made inert when the Markdown was written; whatever HTML is left in
it, apart from the four tags that mark footnotes and intervals, is shown as text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

_TAGS = {
    "<sup>": Markup("<sup>"),
    "</sup>": Markup("</sup>"),
    "<sub>": Markup('<span class="interval">'),
    "</sub>": Markup("</span>"),
}


@dataclass(frozen=True)
class Cell:
    """A cell as HTML, its plain text (footnote marks and intervals aside), where it links to."""

    html: Markup
    text: str
    link: str = ""


@dataclass(frozen=True)
class Line:
    """A row of a table; a `group` row is the title of those beneath it."""

    cells: list[Cell]
    group: bool = False
    system: str = ""


@dataclass(frozen=True)
class Grid:
    """A table: its header and rows."""

    header: list[Cell]
    lines: list[Line]


@dataclass(frozen=True)
class Printed:
    """A written table: title, caption, and its panels and footnotes in order."""

    title: str
    caption: Markup
    parts: list[Grid | Markup]


def parse(markdown: str) -> Printed:
    """A table as `tables.markdown.render` wrote it."""
    blocks = list(_blocks(_reader().parse(markdown)))
    title, caption, *parts = blocks
    return Printed(_plain(title), _paragraph(caption), [_part(block) for block in parts])


def html(markdown: str) -> Markup:
    """Any other Markdown of ours as HTML; headings go one level down, tables may scroll."""
    tokens = _reader().parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{int(token.tag[1]) + 1}"
    return _render(tokens)


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    rules: dict[str, Any] = _renderer(reader).rules
    rules["html_inline"] = lambda tokens, index, *_: _tag(tokens[index].content)
    rules["html_block"] = lambda tokens, index, *_: escape(tokens[index].content)
    # No style attributes: the page's own rules forbid them.
    rules["table_open"] = lambda *_: '<div class="scroll" tabindex="0" role="group" ' \
        'aria-label="table"><table>\n'  # fmt: skip
    rules["table_close"] = lambda *_: "</table></div>\n"
    for kind in ("th_open", "td_open"):
        rules[kind] = lambda tokens, index, *_: f"<{tokens[index].tag}{_side(tokens[index])}>"
    return reader


def _tag(content: str) -> str:
    return _TAGS.get(content, escape(content))


def _side(cell: Token) -> str:
    return ' class="number"' if "right" in str(cell.attrGet("style") or "") else ""


def _render(tokens: Sequence[Token]) -> Markup:
    reader = _reader()
    return Markup(reader.renderer.render(tokens, reader.options, {}))  # noqa: S704 (escaped above)


def _blocks(tokens: list[Token]) -> Iterator[list[Token]]:
    """The top-level blocks."""
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _part(block: list[Token]) -> Grid | Markup:
    if block[0].type != "table_open":
        return _render(block)
    rows: list[list[Cell]] = []
    for token in block:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_cell(token))
    header, *body = rows
    return Grid(header, [Line(cells, _is_group(cells)) for cells in body])


def _is_group(cells: list[Cell]) -> bool:
    """A title spans its row: italics, and nothing in the other cells."""
    first, *others = cells
    return first.html.startswith("<em>") and bool(others) and not any(c.text for c in others)


def _cell(inline: Token) -> Cell:
    return Cell(_inline(inline.children or []), _plain([inline]))


def _inline(tokens: Sequence[Token]) -> Markup:
    reader = _reader()
    return Markup(_renderer(reader).renderInline(tokens, reader.options, {}))  # noqa: S704


def _renderer(reader: MarkdownIt) -> RendererHTML:
    assert isinstance(reader.renderer, RendererHTML)  # MarkdownIt's default
    return reader.renderer


def _plain(tokens: list[Token]) -> str:
    """Text outside footnote marks and intervals."""
    found, inside = [], 0
    for token in (child for each in tokens for child in each.children or []):
        if token.type == "html_inline" and token.content in _TAGS:
            inside += -1 if token.content.startswith("</") else 1
        elif not inside:
            found.append(token.content)
    return "".join(found).strip()


def _paragraph(block: list[Token]) -> Markup:
    return _inline([child for token in block for child in token.children or []])
