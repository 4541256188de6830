"""Papers that one curator tagged: the tags are queries, what carries a tag is relevant."""

import json
from pathlib import Path

from sagebench.corpora.records import Document, Parsed, Query
from sagebench.errors import BenchError
from sagebench.registry import register


@register("parser", "tagged_papers")
def tagged_papers(
    files: list[Path], min_papers: int, max_papers: int, not_topics: list[str]
) -> Parsed[Document]:
    """Role retrieval: tag label -> title and abstract of the papers (Semanlink's two files).

    A tag counts as a query when it is on `min_papers` to `max_papers` papers and is not in
    `not_topics`, the last parts of the addresses of tags for people, places and genres. Line
    breaks of abstracts are those of a page's width and become spaces.
    """
    papers, tags = (json.loads(path.read_text(encoding="utf-8")) for path in files)
    carriers: dict[str, list[str]] = {}
    parsed = Parsed[Document](len(papers))
    for paper in papers:
        abstract = " ".join(paper["arxiv_summary"].split())
        text = f"{paper['arxiv_title']}\n{abstract}"
        parsed.rows.append(Document(text, doc_id=paper["arxiv_num"]))
        for tag in paper["tag"]:
            carriers.setdefault(tag, []).append(paper["arxiv_num"])
    names = {tag: tag.rpartition("/")[2] for tag in carriers}
    if unused := sorted(set(not_topics) - set(names.values())):
        raise BenchError(f"not_topics names {unused[0]!r}, which is on no paper")
    for tag, relevant in carriers.items():
        if not min_papers <= len(relevant) <= max_papers:
            parsed.left_out[f"not on {min_papers} to {max_papers} papers"] += 1
        elif names[tag] in not_topics:
            parsed.left_out["not a topic"] += 1
        else:
            parsed.queries.append(Query(names[tag], tags[tag]["prefLabel"][0], tuple(relevant)))
    return parsed
