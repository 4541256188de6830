"""What the fuzz targets start from: a small valid corpus for every parser, and ways to spoil it."""

import io
import json
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from hypothesis import strategies as st

TEXT = "Rivers are long. They can be read in two ways, and nobody minds.\nA second line."
OTHER = "Engines get hot 🙂; good people buy 25 of them on Monday, é and so on."
# Values that JSON may hold where a parser expects another.
ODD: list[Any] = [
    None, True, False, 0, -1, 2**70, 10**400, 1e308, float("nan"), float("inf"), -0.0, "", " ",
    "\x00", "\ud800", "../../etc/passwd", "a" * 3000, "1e999", [], [[]], {}, {"": None}, [None],
    {"text": None}, ["x", 1],
]  # fmt: skip


@dataclass(frozen=True)
class Seed:
    """A valid corpus for one parser: files as data, how they are written, and its options."""

    role: str
    files: list[Any]
    write: Callable[[Any], bytes]
    options: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ("a.jsonl", "b.jsonl", "c.jsonl")


def as_json(value: Any) -> bytes:
    """One JSON document; lone surrogates stay escaped."""
    return json.dumps(value).encode()


def as_lines(rows: Any) -> bytes:
    """One JSON document a line."""
    rows = rows if isinstance(rows, list) else [rows]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def as_text(lines: Any) -> bytes:
    """Lines of text."""
    lines = lines if isinstance(lines, list) else [lines]
    return "\n".join(map(str, lines)).encode("utf-8", "replace")


def as_zip(contents: Any) -> bytes:
    """A zip of JSON values (text stays text); what is no mapping becomes one member."""
    contents = contents if isinstance(contents, dict) else {"one.json": contents}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, value in contents.items():
            body = value if isinstance(value, str) else json.dumps(value)
            valid = name.encode("utf-8", "replace").decode().replace("\0", "") or "_"
            target.writestr(zipfile.ZipInfo(valid), body.encode("utf-8", "replace"))
    return buffer.getvalue()


def as_parquet(rows: Any) -> bytes:
    """Rows as Parquet where they fit into a table, else as JSON lines."""
    try:
        buffer = io.BytesIO()
        pl.DataFrame(rows, strict=False).write_parquet(buffer)
        return buffer.getvalue()
    except Exception:  # any value may come here, and polars refuses many
        return as_lines(rows)


def _scored(text: str, summary: str, *scores: float) -> dict[str, Any]:
    aspects = {"Fluency": {"scores": list(scores)}}
    return {"text": text, "summary": summary, "scores": list(scores), "map_quality_scores": aspects}


def _comparison(choice: int) -> dict[str, Any]:
    info = {"post": TEXT, "article": None}
    return {"info": info, "summaries": [{"text": "rivers"}, {"text": "ways"}], "choice": choice,
            "split": "train"}  # fmt: skip


_SCORED = [[_scored(TEXT, "rivers", 1, 2), _scored(TEXT, "ways", 4.5, 3), _scored(OTHER, "hot", 2)]]
_ARTICLES = {
    "A.csv": f'article_id,subtitle,text\n1,rivers in two ways,"{TEXT}"\n2,hot engines now,"{OTHER}"'
}
_RATED = {
    "info": {"post": TEXT, "article": None},
    "split": "test",
    "summary": {"text": "rivers", "axes": {"overall": 5, "accuracy": 7, "coverage": None}},
}
_CLUSTERS = [{"sentences": [TEXT, OTHER, "cats"], "labels": ["a", "b", "a"]}]
_COLUMNS = [{"text": TEXT, "summary": "rivers"}, {"text": OTHER, "summary": None}]
_PAPER = {"id": "p1", "sentences": {"conclusion": [TEXT, OTHER]}, "summary": {"outcome": "hot"}}
_BEIR = [
    [{"_id": "1", "title": "Rivers", "text": TEXT}, {"_id": "2", "text": OTHER}],
    [{"_id": "q", "text": "how long"}, {"_id": "r", "text": "how hot"}],
    [{"query-id": "q", "corpus-id": "1", "score": 1}, {"query-id": "r", "corpus-id": "2",
                                                       "score": "0"}],
]  # fmt: skip
_REALSUMM = [
    [{"doc_id": 1, "document": TEXT}],
    [{"doc_id": 1, "system_type": "ext", "system": name, "summary": name,
      "litepyramid_recall": score} for name, score in (("one", 0.5), ("two", 0.25))],
]  # fmt: skip
_S2ORC = {"p1.json": {"pdf_parse": {"body_text": [{"text": TEXT}]}, "abstract": "rivers"}}
_TAGGED = [
    [{"arxiv_num": str(i), "arxiv_title": f"T{i}", "arxiv_summary": TEXT + str(i), "tag": ["x/tag"]}
     for i in (1, 2)],
    {"x/tag": {"prefLabel": ["a tag"]}},
]  # fmt: skip

SEEDS = {
    "aspect_scored_summaries": Seed("ratings", _SCORED, as_json),
    "aspect_summaries": Seed(
        "retrieval", [[_PAPER]], as_lines, {"aspects": ["outcome"], "sections": ["conclusion"]}
    ),
    "beir": Seed("retrieval", _BEIR, as_lines),
    "clustering_sets": Seed("labelled", [_CLUSTERS], as_lines),
    "csv_article_retrieval": Seed(
        "retrieval", [_ARTICLES], as_zip,
        {"member": "A.csv", "min_text_words": 3, "min_query_words": 2}, ("a.zip",),
    ),
    "csv_articles": Seed(
        "documents", [_ARTICLES], as_zip,
        {"member": "A.csv", "min_text_words": 3, "min_summary_words": 2}, ("a.zip",),
    ),
    "feedback_choices": Seed(
        "preferences", [[_comparison(0), _comparison(1), _comparison(1)]], as_lines,
        {"split": "train"},
    ),
    "feedback_ratings": Seed("ratings", [[_RATED]], as_lines, {"source": "post"}),
    "json_line_documents": Seed(
        "documents", [[{"id": 1, "t": TEXT, "s": "rivers"}]], as_lines,
        {"doc_id": "id", "text": "t", "summary": "s"},
    ),
    "json_object_documents": Seed(
        "documents", [{"one": {"t": TEXT, "s": "rivers"}}], as_json, {"text": "t", "summary": "s"}
    ),
    "labelled_folders": Seed(
        "labelled", [{"a/1.txt": TEXT, "b/2.txt": OTHER}], as_zip, {"encoding": "utf-8"}, ("a.zip",)
    ),
    "labelled_table": Seed(
        "labelled", [["head", f"a\t{OTHER}", "b\tcats"]], as_text, {"header_lines": 1}
    ),
    "realsumm_choices": Seed("preferences", _REALSUMM, as_lines),
    "realsumm_ratings": Seed("ratings", _REALSUMM, as_lines),
    "s2orc_papers": Seed("documents", [_S2ORC], as_zip, names=("a.zip",)),
    "scored_summaries": Seed("ratings", _SCORED, as_json),
    "scored_summary_choices": Seed("preferences", _SCORED, as_json),
    "similarity_matrix": Seed(
        "ratings", [["cats", "dogs", "hot"], ["1 .5 .2", ".5 1 .3", ".2 .3 1"]], as_text,
        {"encoding": "utf-8"},
    ),
    "single_summary_documents": Seed("documents", _SCORED, as_json),
    "table_documents": Seed(
        "documents", [_COLUMNS], as_parquet, {"text": "text", "summary": "summary"}
    ),
    "tagged_papers": Seed(
        "retrieval", _TAGGED, as_json, {"min_papers": 1, "max_papers": 9, "not_topics": []}
    ),
}  # fmt: skip


def spoil(value: Any, chance: random.Random) -> Any:
    """A copy of the data in which one place is replaced, missing, doubled or deeply nested."""
    if isinstance(value, (list, dict)) and value and chance.random() < 0.85:
        copy = list(value) if isinstance(value, list) else dict(value)
        key: Any = chance.choice(range(len(copy)) if isinstance(copy, list) else list(copy))
        match chance.randrange(8):
            case 0:
                del copy[key]
            case 1 if isinstance(copy, list):
                copy.insert(key, copy[key])
            case 1 if isinstance(copy, dict):
                copy[chance.choice(["x", "", "../y", "\ud800"])] = copy.pop(key)
            case _:
                copy[key] = spoil(copy[key], chance)
        return copy
    if chance.random() < 0.05:
        nested: Any = value
        for _ in range(chance.choice([3, 300])):
            nested = [nested]
        return nested
    return chance.choice(ODD)


def damage(content: bytes, chance: random.Random) -> bytes:
    """The bytes with one piece cut out, changed, repeated, inserted, or the rest cut off."""
    at = chance.randrange(len(content) + 1)
    to = min(len(content), at + chance.choice([1, 1, 2, 4, 16, 200]))
    piece = content[at:to]
    match chance.randrange(6):
        case 0:
            piece = b""
        case 1:
            piece = bytes(byte ^ (1 << chance.randrange(8)) for byte in piece)
        case 2:
            piece = chance.choice([b"\x00", b"\xff" * 8, b"\xff\xff\xff\x7f"]) * len(piece)
        case 3:
            piece = piece * chance.choice([2, 50])
        case 4:
            piece += chance.choice(
                [b"\n", b"\r", b'"', b"\t", b"[" * 5000, b'{"a":' * 5000, b"\xd8"]
            )
        case _:
            return content[:at]
    return content[:at] + piece + content[to:]


def spoiled(data: Any, write: Callable[[Any], bytes]) -> st.SearchStrategy[bytes]:
    """`data` written after up to three changes to it and up to three to its bytes."""

    def make(seed: int, deep: int, flat: int) -> bytes:
        chance = random.Random(seed)
        value = data
        for _ in range(deep):
            value = spoil(value, chance)
        try:
            content = write(value)
        except RecursionError:
            content = b"[" * 100_000
        for _ in range(flat):
            content = damage(content, chance)
        return content

    return st.builds(make, st.integers(0, 2**32), st.integers(0, 3), st.integers(0, 3))
