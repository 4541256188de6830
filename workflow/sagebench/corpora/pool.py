"""From a stream of documents to the few that a run draws, by the very rule of `sample`.

Two readings: the first keeps 16 bytes a document (a digest of its text, its place in the seeded
order), the second only the texts that were drawn. What `sample` draws later from the pool is what
it would have drawn from the whole corpus; a text that came before counts as a duplicate here, too.
"""

import hashlib
from array import array
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sagebench import rng
from sagebench.corpora.clean import has_word, repair
from sagebench.corpora.normalise import DUPLICATE, NO_TEXT, content_id
from sagebench.corpora.records import Document, Parsed, Query, Stream
from sagebench.corpora.sample import alternate

NOT_DRAWN = "not drawn"
NO_SUMMARY = "no summary"


@dataclass(frozen=True)
class Draw:
    """The largest sample that a run takes of a corpus; `judged` as in `sample`."""

    n: int
    seed: int
    corpus: str
    judged: bool = False


@dataclass
class _Seen:
    """What the first reading keeps: one entry per document, in the source's order."""

    texts: "array[int]" = field(default_factory=lambda: array("Q"))  # 64-bit digests
    ranks: "array[int]" = field(default_factory=lambda: array("Q"))  # leading bits of the order
    # Reason -> positions of documents that do not count.
    without: dict[str, list[int]] = field(default_factory=lambda: {NO_TEXT: [], NO_SUMMARY: []})
    judged: dict[str, int] = field(default_factory=dict)  # doc_id -> position


def draw(stream: Stream, wanted: Draw) -> Parsed[Document]:
    """The `wanted.n` first documents of the seeded order, with all queries.

    Relevance of a duplicate goes to the document that was kept. Memory: 16 bytes a document and
    a few times that while they are sorted, plus the drawn texts.
    """
    queries = [query for query in stream.queries if has_word(_cleaned(query.text))]
    relevant = {doc_id for query in queries for doc_id in query.relevant}
    seen = _first_reading(stream, wanted, relevant)
    texts = np.frombuffer(seen.texts, np.uint64)
    first = _first_of_equal(texts)  # (n,) position of the first document with the same text
    kept_of = {doc_id: int(first[position]) for doc_id, position in seen.judged.items()}
    is_kept = first == np.arange(len(first))
    for positions in seen.without.values():
        is_kept[positions] = False
    kept = np.flatnonzero(is_kept)
    order = kept[np.argsort(np.frombuffer(seen.ranks, np.uint64)[kept], kind="stable")]
    if wanted.judged:
        is_judged = np.isin(order, np.fromiter(kept_of.values(), np.int64, len(kept_of)))
        turns = (order[is_judged][: wanted.n].tolist(), order[~is_judged][: wanted.n].tolist())
        chosen = set(list(alternate(*turns))[: wanted.n])
    else:
        chosen = set(order[: wanted.n].tolist())
    rows, names = _second_reading(stream, chosen, set(kept_of.values()))
    renamed = {doc_id: names[position] for doc_id, position in kept_of.items()}
    without = {reason: len(positions) for reason, positions in seen.without.items()}
    dropped = {
        **without,
        DUPLICATE: len(texts) - sum(without.values()) - len(kept),
        NOT_DRAWN: len(kept) - len(rows),
    }
    return Parsed(
        len(texts),
        rows,
        [_renamed(query, renamed) for query in stream.queries],
        Counter({reason: count for reason, count in dropped.items() if count}),
        Counter(stream.left_out),
    )


def everything(stream: Stream) -> Parsed[Document]:
    """All documents of the stream, in memory: for corpora that are small enough."""
    parsed = Parsed[Document](0, [], list(stream.queries), left_out=Counter(stream.left_out))
    for record in stream.rows():
        parsed.read += 1
        if _lacks(stream, record, _cleaned(record.text)) == NO_SUMMARY:
            parsed.dropped[NO_SUMMARY] += 1
        else:
            parsed.rows.append(record)
    return parsed


def _cleaned(text: str) -> str:
    """As `normalise` cleans it."""
    return repair(text.strip()).strip()


def _lacks(stream: Stream, record: Document, text: str) -> str:
    """Why a document with this cleaned text does not count, or ""."""
    if not has_word(text):
        return NO_TEXT
    bare = stream.needs_summary and not has_word(_cleaned(record.summary or ""))
    return NO_SUMMARY if bare else ""


def _first_reading(stream: Stream, wanted: Draw, relevant: set[str]) -> _Seen:
    seen = _Seen()
    for position, record in enumerate(stream.rows()):
        text = _cleaned(record.text)
        if reason := _lacks(stream, record, text):
            seen.without[reason].append(position)
            seen.texts.append(0)
            seen.ranks.append(0)
            continue
        doc_id = record.doc_id or content_id(text)
        if doc_id in relevant:
            seen.judged.setdefault(doc_id, position)
        # No digest is 0, which marks what has no text.
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        seen.texts.append(int.from_bytes(digest, "big") or 1)
        seen.ranks.append(rng.seed_for(wanted.seed, "sample", wanted.corpus, doc_id) >> 64)
    return seen


def _second_reading(
    stream: Stream, chosen: set[int], named: set[int]
) -> tuple[list[Document], dict[int, str]]:
    """The chosen documents, and the ids of those at the positions `named`."""
    rows, names = [], {}
    for position, record in enumerate(stream.rows()):
        if position in chosen:
            rows.append(record)
        if position in named:
            names[position] = record.doc_id
    return rows, names


def _first_of_equal(digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """(n,) the lowest position at which each digest occurs."""
    _, first, inverse = np.unique(digests, return_index=True, return_inverse=True)
    return first[inverse].astype(np.int64)


def _renamed(query: Query, names: dict[str, str]) -> Query:
    relevant = tuple(dict.fromkeys(names.get(doc_id, doc_id) for doc_id in query.relevant))
    return replace(query, relevant=relevant)
