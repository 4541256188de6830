"""Edits of a text: they lead from one to the other, are as few as can be, and print as text."""

import re
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sagebench import textdiff
from sagebench.errors import BenchError
from sagebench.textdiff import Edit, edits, printable, shown

ANY = st.text(st.characters(), max_size=60)
FEW = st.text("ab ⟦", max_size=9)


def joined(found: list[Edit], *kinds: str) -> str:
    return "".join(edit.text for edit in found if edit.kind in kinds)


def longest_common(a: str, b: str) -> int:
    @cache
    def longest(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return 0
        if a[i] == b[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))

    return longest(0, 0)


@settings(deadline=None)
@given(ANY, ANY, st.sampled_from(["word", "character"]))
def test_edits_lead_from_one_text_to_the_other(before: str, after: str, by: str) -> None:
    found = edits(before, after, by)
    assert joined(found, "kept", "removed") == before
    assert joined(found, "kept", "added") == after
    assert all(edit.text for edit in found)
    for one, two in pairwise(found):
        assert one.kind != two.kind
        assert (one.kind, two.kind) != ("added", "removed")


@settings(deadline=None)
@given(FEW, FEW)
def test_no_more_characters_are_edited_than_must_be(before: str, after: str) -> None:
    assert len(joined(edits(before, after, "character"), "kept")) == longest_common(before, after)


def test_words_are_edited_whole() -> None:
    assert edits("the cat, here", "the dog, here") == [
        Edit("kept", "the "), Edit("removed", "cat"), Edit("added", "dog"), Edit("kept", ", here"),
    ]  # fmt: skip
    assert edits("same", "same") == [Edit("kept", "same")]
    assert edits("", "") == []


@settings(deadline=None)
@given(ANY, ANY)
def test_what_is_shown_can_be_read_back(before: str, after: str) -> None:
    found = edits(before, after, "character")
    line = shown(found, around=1000, most=1000)
    assert line.isprintable()
    read = []
    for mark, changed, kept in re.findall(r"⟦([-+])([^⟧]*)⟧|([^⟦]+)", line):
        kind = {"-": "removed", "+": "added", "": "kept"}[mark]
        read.append(
            Edit(
                kind, (changed or kept).encode("ascii", "backslashreplace").decode("unicode_escape")
            )
        )
    assert read == found


def test_hostile_text_is_shown_as_text() -> None:
    text = "\x1b[31m\u202e<b>\r\n\\ ⟦+x⟧ ⋯ \ud800 é שלום"
    assert printable(text) == (
        "\\x1b[31m\\u202e<b>\\r\\n\\\\ \\u27e6+x\\u27e7 \\u22ef \\ud800 é שלום"
    )


def test_long_stretches_and_many_edits_are_cut_and_counted() -> None:
    line = shown(edits("x" * 1100, "x" * 1100 + "y", "character"), around=50)
    assert line == f"{'x' * 50} ⋯ 1,000 characters ⋯ {'x' * 50}⟦+y⟧"
    found = edits("a b c d", "a X c Y")
    assert shown(found, most=2) == "a ⟦-b⟧⟦+X⟧ c  ⋯ 2 more edits"
    assert shown(found, most=4) == "a ⟦-b⟧⟦+X⟧ c ⟦-d⟧⟦+Y⟧"


def test_texts_beyond_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textdiff, "_MOST", 15)
    with pytest.raises(BenchError, match=r'5 and 5 tokens are too long .* by="word"'):
        edits("abcde", "abcdf", "character")
    assert edits("abcde", "abcdf") == [Edit("removed", "abcde"), Edit("added", "abcdf")]
