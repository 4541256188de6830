"""Texts with a gold class: a folder a class, or a tab-separated table."""

from pathlib import Path

from sagebench.corpora import archive
from sagebench.corpora.records import Labelled, Parsed
from sagebench.registry import register


@register("parser", "labelled_folders")
def labelled_folders(files: list[Path], encoding: str) -> Parsed[Labelled]:
    """Role labelled: a zip of <class>/<name>.txt; the id is <class>-<name>."""
    rows = [
        Labelled(content.decode(encoding), (parts := name.split("/"))[0], _stem(parts))
        for path in files
        for name, content in archive.members(path, ["*/*.txt"])
    ]
    return Parsed(len(rows), rows)


@register("parser", "labelled_table")
def labelled_table(files: list[Path], header_lines: int) -> Parsed[Labelled]:
    """Role labelled: lines of class, tab, text, after `header_lines` lines of each file."""
    parsed = Parsed[Labelled](0)
    for path in files:
        # Not splitlines(): characters such as U+2028 may stand inside a text.
        lines = path.read_text(encoding="utf-8").split("\n")[header_lines:]
        for line in filter(str.strip, lines):
            parsed.read += 1
            label, _, text = line.partition("\t")
            parsed.rows.append(Labelled(text, label.strip()))
    return parsed


def _stem(parts: list[str]) -> str:
    return "-".join(parts).removesuffix(".txt")
