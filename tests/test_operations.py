"""docs/operations.md explains every message that a user may meet, and none that there is not."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from conftest import ROOT

PACKAGE = ROOT / "workflow" / "sagebench"
PAGE = ROOT / "docs" / "operations.md"
# Messages that are no BenchError, where they are made.
OTHERS = {
    "workflow/rules/common.smk": "another run is at work in",
    "workflow/sagebench/errors.py": "and run again; what is finished is kept",
    "workflow/sagebench/__main__.py": "This is a defect; the traceback is in",
    "workflow/sagebench/embeddings/store.py": "was damaged",
    "workflow/sagebench/corpora/cache.py": "taken from another place, since",
    "workflow/sagebench/lineage/handover.py": "Not given to DVC:",
}


def fixed(node: ast.expr) -> str:
    """A message's fixed words, an ellipsis for each value."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(fixed, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return fixed(left) + fixed(right)
    return "…"


def error_classes(trees: list[ast.Module]) -> set[str]:
    """BenchError and what is derived from it, by name."""
    found = {"BenchError"}
    while True:
        derived = {
            node.name
            for tree in trees
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            and found & {getattr(base, "id", getattr(base, "attr", "")) for base in node.bases}
        }
        if derived <= found:
            return found
        found |= derived


def messages() -> Iterator[tuple[str, str]]:
    """(place in the code, fixed words) of every error that is made somewhere."""
    paths = sorted(PACKAGE.rglob("*.py"))
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    classes = error_classes(trees)
    for path, tree in zip(paths, trees, strict=True):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                text = fixed(node.args[0]).replace("`", "")
                # Without a word of its own it hands on another message.
                if name in classes and re.search(r"[a-z]{2}", text):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def rows() -> Iterator[tuple[str, list[str]]]:
    """(anchor, message patterns) of every row of the page's tables of messages."""
    section = PAGE.read_text(encoding="utf-8").split("\n## Messages\n")[1]
    for line in section.splitlines():
        if line.startswith("| ") and not line.startswith("| message "):
            cells = line.strip("| ").split(" | ")
            assert len(cells) == 3, line
            (anchor,) = re.findall(r'<a id="([a-z0-9-]+)"></a>', cells[0])
            yield anchor, re.findall(r"`([^`]+)`", cells[0])


def expression(pattern: str) -> re.Pattern[str]:
    """A pattern that begins with an ellipsis is a whole message, any other a part of one."""
    words = ".*".join(map(re.escape, pattern.split("…")))
    return re.compile(rf"\A{words}\Z" if pattern.startswith("…") else words, re.DOTALL)


def test_every_message_is_explained_and_every_explained_message_exists() -> None:
    patterns = {pattern: expression(pattern) for _, found in rows() for pattern in found}
    texts = dict(messages()) | {path: f"{text} …" for path, text in OTHERS.items()}
    lost = {
        place: text
        for place, text in texts.items()
        if not any(each.search(text) for each in patterns.values())
    }
    assert not lost, "give these a row in docs/operations.md"
    stale = [p for p, each in patterns.items() if not any(map(each.search, texts.values()))]
    assert not stale, "no message of the code is like these"
    assert len(texts) > 150


def test_the_messages_that_are_no_errors_are_in_the_code() -> None:
    for path, text in OTHERS.items():
        assert text in (ROOT / path).read_text(encoding="utf-8"), path


def test_a_pattern_says_enough_and_every_row_has_its_own_anchor() -> None:
    found = list(rows())
    anchors = [anchor for anchor, _ in found]
    assert len(anchors) == len(set(anchors)) > 30
    for anchor, patterns in found:
        assert patterns, anchor
        for pattern in patterns:
            letters = len(re.findall(r"[a-zA-Z]", pattern))
            assert letters >= (4 if pattern.startswith("…") else 7), pattern


def test_commands_and_variables_of_the_page_exist() -> None:
    page = PAGE.read_text(encoding="utf-8")
    commands = {path.stem.replace("_", "-") for path in (PACKAGE / "commands").glob("*.py")}
    used = set(re.findall(r"python -m sagebench ([a-z-]+)", page))
    assert used
    assert used <= commands
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", page)) <= targets
    code = "".join(
        path.read_text(encoding="utf-8")
        for folder in (PACKAGE, ROOT / "tests", ROOT / "workflow" / "rules")
        for path in Path(folder).rglob("*")
        if path.suffix in {".py", ".smk"}
    )
    for name in set(re.findall(r"SAGEBENCH_[A-Z_]+", page)):
        assert name in code, name
