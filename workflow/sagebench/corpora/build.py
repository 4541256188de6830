"""From fetched files to a normalised corpus and its data card."""

import inspect
import json
import traceback
from pathlib import Path
from typing import Any

import polars as pl

from sagebench import layout, registry
from sagebench.corpora import catalogue, pool
from sagebench.corpora.catalogue import RECORD, Catalogue, Corpus, Hub, Own
from sagebench.corpora.files import write_bytes
from sagebench.corpora.normalise import Normalised, normalise
from sagebench.corpora.pool import Draw
from sagebench.corpora.records import Parsed, Stream
from sagebench.errors import BenchError

# What reading data in another form than the expected one raises, far from where it is noticed.
_OTHER_LAYOUT = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    pl.exceptions.PolarsError,
)
_SHOWN = 300  # characters of an error that may quote a text
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def build(corpus_name: str, raw: Path, out: Path, draw: Draw | None = None) -> None:
    """Write the corpus to `out` (Parquet; retrieval also queries and qrels) with its data card.

    `raw` is data/raw, in which the corpus's sources were fetched. The same files give the same
    bytes. Of a corpus too big to keep, only what `draw` asks for is kept. BenchError if a file is
    missing, an option is wrong, or nothing is left.
    """
    known = catalogue.load()
    corpus = known.corpus(corpus_name)
    parsed, result = read(corpus_name, corpus, raw, draw)
    for name, frame in result.frames.items():
        if frame.is_empty():
            raise BenchError(
                f"corpus {corpus_name!r} has no {name} left of {parsed.read} records "
                f"(dropped: {dict(result.dropped)}, queries left out: {dict(result.left_out)}); "
                "check its options in workflow/catalogue/corpora.yaml"
            )
    layout.write_corpus(result.frames, out, corpus.role)
    card = _card(corpus_name, known, raw, parsed, result)
    text = json.dumps(card, ensure_ascii=False, indent=2, sort_keys=True)
    write_bytes(out.with_suffix(".card.json"), f"{text}\n".encode())


def read(
    name: str, corpus: Corpus, raw: Path, draw: Draw | None = None
) -> tuple[Parsed[Any], Normalised]:
    """The corpus's records, and its frames; BenchError if its files are not as the parser knows."""
    try:
        parsed = _parse(name, corpus, raw)
        if isinstance(parsed, Stream):
            parsed = pool.draw(parsed, draw) if draw else pool.everything(parsed)
        return parsed, normalise(corpus.role, parsed)
    except _OTHER_LAYOUT as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise BenchError(
            f"corpus {name!r}: the files {', '.join(corpus.inputs)} are not laid out as parser "
            f"{corpus.parser!r} expects: {type(error).__name__}: {str(error)[:_SHOWN]} (at "
            f"{Path(place.filename).name}:{place.lineno}). Fetch them again, or pin the revision "
            "that the parser knows"
        ) from error


def _parse(name: str, corpus: Corpus, raw: Path) -> Parsed[Any] | Stream:
    files = [raw / given for given in corpus.inputs]
    for path, given in zip(files, corpus.inputs, strict=True):
        if not path.is_file():
            source = given.partition("/")[0]
            raise BenchError(f"corpus {name!r}: {path} is missing; fetch source {source!r} first")
    parser = registry.load("parser", corpus.parser)
    try:
        inspect.signature(parser).bind(files, **corpus.options)
    except TypeError as error:
        takes = [key for key in inspect.signature(parser).parameters if key != "files"]
        raise BenchError(
            f"corpus {name!r}: parser {corpus.parser!r}: {error}; its options are "
            f"{', '.join(takes) or 'none'}"
        ) from None
    parsed: Parsed[Any] | Stream = parser(files, **corpus.options)
    return parsed


def _card(
    name: str, known: Catalogue, raw: Path, parsed: Parsed[Any], result: Normalised
) -> dict[str, Any]:
    corpus = known.corpus(name)
    sources = sorted({given.partition("/")[0] for given in corpus.inputs})
    described = corpus.model_dump(include={"role", "title", "domain", "licence", "citation"})
    return {
        "corpus": name,
        **described,
        "quirks": list(corpus.quirks),
        "stands_for": corpus.stands_for.model_dump() if corpus.stands_for else None,
        **({"notes": parsed.notes} if parsed.notes else {}),
        "sources": [_source(known, raw, source) for source in sources],
        "rows_read": parsed.read,
        "rows": result.frames["sample"].height,
        "dropped": dict(sorted(result.dropped.items())),
        "conflicts": result.conflicts,
        "queries_left_out": dict(sorted(result.left_out.items())),
        "texts_repaired": result.clean.repaired,
        "texts_with_lost_characters": result.clean.lost_characters,
        "counts": _counts(result.frames),
        "words": _word_quantiles(result.frames),
    }


def _source(known: Catalogue, raw: Path, name: str) -> dict[str, Any]:
    """The pinned archive or folder; or what the fetch of picked files recorded."""
    source = known.source(name)
    if not isinstance(source, Hub | Own):
        return source.model_dump(include={"package", "version", "archive", "sha256", "folder"})
    record: dict[str, Any] = json.loads((raw / name / RECORD).read_text(encoding="utf-8"))
    return record


def _counts(content: dict[str, pl.DataFrame]) -> dict[str, int]:
    """Distinct things of the corpus: classes, texts, queries, judgements, whatever it has."""
    sample = content["sample"]
    counts = {
        title: sample[column].n_unique()
        for column, title in (
            ("label", "classes"),
            ("aspect", "aspects"),
            ("item_id", "items"),
            ("doc_id", "texts"),
        )
        if column in sample.columns
    }
    if "queries" in content:
        counts["queries"] = content["queries"].height
        counts["judgements"] = content["qrels"].height
    return counts


def _word_quantiles(content: dict[str, pl.DataFrame]) -> dict[str, list[int]]:
    """Per kind of text, words (between white space) of the distinct texts at QUANTILES."""
    sample = content["sample"]
    columns = {
        "text": ["text", "text_a"],
        "summary": ["summary", "summary_1", "summary_2"],
        "second text": ["text_b"],
    }
    texts: dict[str, set[str]] = {}
    for kind, names in columns.items():
        found = {t for n in names if n in sample.columns for t in sample[n].drop_nulls()}
        if found:
            texts[kind] = found
    if "queries" in content:
        texts["query"] = set(content["queries"]["text"])
    return {kind: _quantiles([len(t.split()) for t in found]) for kind, found in texts.items()}


def _quantiles(values: list[int]) -> list[int]:
    ordered = sorted(values)
    return [ordered[round(q * (len(ordered) - 1))] for q in QUANTILES]
