"""Pages of the site that are not files of docs/: README, changelog, how to contribute, reference.

The reference has a page for each room of the library and a section for each module, found by
looking, so that a new module is documented by being there.
"""

import os
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "workflow" / "sagebench"
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, and the pictures that they show."""
    for source, page in PAGES.items():
        if (ROOT / source).is_file():
            text = (ROOT / source).read_text(encoding="utf-8")
            files.append(File.generated(config, page, content=text))
            for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
                if (ROOT / picture).is_file() and not files.get_file_from_path(picture):
                    content = (ROOT / picture).read_bytes()
                    files.append(File.generated(config, picture, content=content))
    for name, text in reference():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Links between files of the project become links of the site, or the names of the files."""
    source = {page: name for name, page in PAGES.items()}.get(page.file.src_uri)
    here = Path(source).parent if source else Path("docs", page.file.src_uri).parent

    def replace(link: re.Match[str]) -> str:
        picture, text, target, anchor = link.groups()
        if not target or ":" in target:
            return link[0]
        path = os.path.normpath(here / target)
        found = PAGES.get(path, path.removeprefix("docs/"))
        if files.get_file_from_path(found):
            relative = os.path.relpath(found, Path(page.file.src_uri).parent)
            return f"{picture}[{text}]({relative}{anchor or ''})"
        if not (ROOT / path).exists():
            return link[0]  # reported as a broken link
        return text if text.strip("`") in (path, Path(path).name) else f"{text} (`{path}`)"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.DOTALL | re.MULTILINE)
    return "".join(p if p.startswith("```") else _LINK.sub(replace, p) for p in parts)


def reference() -> Iterator[tuple[str, str]]:
    """(page, Markdown) of each room: its modules, their public names and docstrings."""
    rooms = {"index": ["sagebench"], "others": []}
    for module in pkgutil.walk_packages([str(LIBRARY)], "sagebench."):
        room = module.name.split(".")[1]
        if (LIBRARY / room).is_dir():
            rooms.setdefault(room, []).append(module.name)
        elif not room.startswith("_"):
            rooms["others"].append(module.name)
    for room, modules in rooms.items():
        title = {"index": "The library", "others": "Single modules"}.get(room, f"sagebench.{room}")
        blocks = "\n\n".join(f"::: {name}" for name in modules)
        yield room, f"# {title}\n\n{blocks}\n"
