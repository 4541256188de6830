"""MTEB's clustering sets: each row is a whole set of texts with their classes."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sagebench.corpora.records import Labelled, Parsed
from sagebench.corpora.rows import rows
from sagebench.errors import BenchError
from sagebench.registry import register

_Set = tuple[list[str], list[Any]]


@register("parser", "clustering_sets")
def clustering_sets(files: list[Path], which: int | str = "largest") -> Parsed[Labelled]:
    """Role labelled: one set of several, the largest or by its number from 0.

    The sets overlap and may classify at different depths, so that they are not thrown together.
    A file with a row per text, as later revisions of some sets are, is read as one set and the
    notes say so. One set is in memory at a time, beside the largest so far.
    """
    chosen: tuple[int, _Set] | None = None
    sets = texts = 0
    distinct: set[bytes] = set()
    layouts = set()
    for number, (layout, found) in enumerate(_sets(files)):
        layouts.add(layout)
        sets, texts = sets + 1, texts + len(found[0])
        distinct.update(_digest(text) for text in found[0])
        larger = chosen is None or len(found[0]) > len(chosen[1][0])
        if number == which or (which == "largest" and larger):
            chosen = number, found
    if chosen is None:
        raise BenchError(f"there is no set {which!r}: the files hold {sets}, numbered from 0")
    number, (sentences, labels) = chosen
    records = [Labelled(t or "", str(label)) for t, label in zip(sentences, labels, strict=True)]
    note = (
        f"{' and '.join(sorted(layouts))}: {sets:,} with {texts:,} texts in all, "
        f"{len(distinct):,} of them distinct; number {number} is used"
    )
    return Parsed(len(records), records, notes=[note])


def _sets(files: list[Path]) -> Iterator[tuple[str, _Set]]:
    loose: _Set = ([], [])
    for path in files:
        for row in rows(path, ("sentences", "labels")):
            sentences, labels = row["sentences"], row["labels"]
            if not isinstance(sentences, list):
                loose[0].append(sentences)
                loose[1].append(labels)
            elif not isinstance(labels, list) or len(sentences) != len(labels):
                raise BenchError(f"{path}: a set's `labels` are not as many as its `sentences`")
            else:
                yield "Sets, one a row", (sentences, labels)
    if loose[0]:
        yield "A row per text, read as one set", loose


def _digest(text: str | None) -> bytes:
    return hashlib.blake2b((text or "").encode("utf-8", "surrogatepass"), digest_size=8).digest()
