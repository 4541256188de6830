"""The data card: what every corpus holds, what was left out of it and why, under which licence."""

import re
from typing import Any

from sagebench.corpora.build import QUANTILES

_ROLES = {
    "documents": "Documents with a reference summary",
    "preferences": "Choices between two summaries",
    "ratings": "Rated pairs",
    "labelled": "Labelled texts",
    "retrieval": "Retrieval",
}
_MARKUP = re.compile(r"([\\`*_\[\]#|<>&~$])")
_MIDDLE = [f"{q:.0%}" for q in QUANTILES]


def render(cards: list[dict[str, Any]]) -> str:
    """Markdown of the cards that `build` wrote: a table per role, then a paragraph per corpus."""
    parts = [
        "# Corpora\n",
        "Rows are what a task can draw from. Words are counted between white space over the "
        f"distinct texts; quantiles are {', '.join(_MIDDLE)}.\n",
    ]
    for role, title in _ROLES.items():
        chosen = sorted((c for c in cards if c["role"] == role), key=lambda c: c["corpus"])
        if chosen:
            parts += [f"## {title}\n", _table(chosen), *map(_section, chosen)]
    return "\n".join(parts)


def _table(cards: list[dict[str, Any]]) -> str:
    head = ["corpus", "domain", "read", "rows", "holds", "repaired", "lost characters"]
    rows = [
        [
            f"{escape(card['title'])} (`{card['corpus']}`)",
            escape(card["domain"]),
            f"{card['rows_read']:,}",
            f"{card['rows']:,}",
            _amounts(card["counts"], "{} {}"),
            f"{card['texts_repaired']:,}",
            f"{card['texts_with_lost_characters']:,}",
        ]
        for card in cards
    ]
    rule = ["---", "---", *["---:"] * 2, "---", *["---:"] * 2]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *rows]) + "\n"


def _section(card: dict[str, Any]) -> str:
    lines = [f"### {escape(card['title'])}\n"]
    if (stands_for := card["stands_for"]) is not None:
        relation = "Is the paper's" if stands_for["same"] else "Stands in for the paper's"
        lines.append(f"- {relation} {escape(stands_for['dataset'])}.")
    if dropped := card["dropped"]:
        lines.append(f"- Rows left out: {_amounts(dropped, '{} ({})')}.")
    if card["conflicts"]:
        lines.append(f"- Duplicates that disagree with the one kept: {card['conflicts']:,}.")
    if card["queries_left_out"]:
        lines.append(f"- Queries left out: {_amounts(card['queries_left_out'], '{} ({})')}.")
    for kind, values in card["words"].items():
        numbers = ", ".join(f"{value:,}" for value in values)
        lines.append(f"- Words of a {escape(kind)}: {numbers}.")
    lines += [f"- {escape(quirk)}" for quirk in card["quirks"]]
    lines.append(f"- Licence: {escape(card['licence'])}. Cite: {escape(card['citation'])}.")
    lines += [f"- {escape(note)}." for note in card.get("notes", [])]
    lines += [line for source in card["sources"] for line in _source(source)]
    return "\n".join(lines) + "\n"


def _source(source: dict[str, Any]) -> list[str]:
    """The archive, or each file that was picked of a repository or folder."""
    if "archive" in source:
        return [
            f"- Source: `{source['archive']}` ({escape(source['package'])} "
            f"{escape(source['version'])}), sha256 `{source['sha256']}`."
        ]
    if "folder" in source:
        return [f"- Source: `{source['folder']}`, a folder of the user's."]
    where = "a folder of the user's"
    if "hub" in source:
        commit = f"`{source['commit']}`" if source["commit"] else "not known (a mirror's folder)"
        asked = source["revision"]
        moving = "" if asked == source["commit"] else f", for `{asked}`"
        where = f"Hugging Face Hub `{source['hub']}`, commit {commit}{moving}"
    return [
        f"- Source: {where}, file `{file['name']}` ({file['size']:,} bytes), sha256 "
        f"`{file['sha256']}`" + (", unchecked." if file["checked"] == "nothing" else ".")
        for _, file in sorted(source["files"].items())
    ]


def _amounts(counts: dict[str, int], form: str) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(form.format(f"{count:,}", escape(name)) for name, count in ordered)


def escape(text: str) -> str:
    """`text` on one line, with nothing left that Markdown or HTML would read as markup."""
    return (
        _MARKUP.sub(r"\\\1", " ".join(text.split())).replace("\\<", "&lt;").replace("\\&", "&amp;")
    )
