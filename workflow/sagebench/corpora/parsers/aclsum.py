"""ACLSum: papers of the ACL Anthology with summaries that experts wrote, aspect by aspect."""

import json
from pathlib import Path
from typing import Any

from sagebench.corpora import archive
from sagebench.corpora.records import Document, Parsed, Query
from sagebench.errors import BenchError
from sagebench.registry import register


@register("parser", "s2orc_papers")
def s2orc_papers(files: list[Path]) -> Parsed[Document]:
    """Role documents: body paragraphs of S2ORC papers (a zip of JSON), the abstract as summary.

    Paragraphs are joined by blank lines; section titles, captions, footnotes and references are
    left out. The file's name is the document's id (`paper_id` is cut short in the source).
    """
    parsed = Parsed[Document](0)
    for path in files:
        for name, content in archive.members(path, ["*.json"]):
            paper = json.loads(content)
            body = "\n\n".join(part["text"] for part in paper["pdf_parse"]["body_text"])
            parsed.rows.append(Document(body, paper["abstract"], name.removesuffix(".json")))
    parsed.read = len(parsed.rows)
    return parsed


@register("parser", "aspect_summaries")
def aspect_summaries(
    files: list[Path], aspects: list[str], sections: list[str]
) -> Parsed[Document]:
    """Role retrieval: an aspect's summary as the query, the paper's sections as the documents.

    All `sections` of a paper are relevant to the queries from that paper: each of them is about
    what the summary says, and counting a paper's own abstract as wrong would punish a good
    ranking.
    """
    parsed = Parsed[Document](0)
    for line in (line for path in files for line in path.open(encoding="utf-8")):
        paper = json.loads(line)
        doc_ids = tuple(f"{paper['id']}.{section}" for section in sections)
        for section, doc_id in zip(sections, doc_ids, strict=True):
            text = " ".join(_part(paper["sentences"], section, "section"))
            parsed.rows.append(Document(text, doc_id=doc_id))
        for aspect in aspects:
            text = _part(paper["summary"], aspect, "aspect")
            parsed.queries.append(Query(f"{paper['id']}.{aspect}", text, doc_ids))
    parsed.read = len(parsed.rows)
    return parsed


def _part(parts: dict[str, Any], name: str, what: str) -> Any:
    if name not in parts:
        raise BenchError(f"no {what} {name!r} in the papers; there are {', '.join(sorted(parts))}")
    return parts[name]
