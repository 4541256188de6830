"""What an edit did to a text, word by word or character by character, safe to print.

    print(shown(edits("the cat is here", "the cat is not here")))

prints `the cat is ⟦+not ⟧here`.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from sagebench.errors import BenchError

Kind = Literal["kept", "removed", "added"]
MARKS: dict[Kind, tuple[str, str]] = {
    "kept": ("", ""),
    "removed": ("⟦-", "⟧"),
    "added": ("⟦+", "⟧"),
}
CUT = "⋯"
_OWN = {"⟦", "⟧", CUT, "\\"}  # never from a text without a backslash before it
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_MOST = 4_000_000_000  # pairs of tokens; the alignment takes a bit of memory for each: 0.5 GB


class Edit(NamedTuple):
    """A stretch of text that both texts have, or only the first, or only the second."""

    kind: Kind
    text: str


def edits(before: str, after: str, by: Literal["word", "character"] = "word") -> list[Edit]:
    """The fewest tokens removed and added that lead from `before` to `after`, in order.

    Joined, the texts of kept and removed parts are `before`, those of kept and added ones
    `after`. Tokens are words, runs of white space and single other characters, or characters.
    BenchError if the texts are too long to be aligned.
    """
    from rapidfuzz.distance import Indel

    left, right = (_TOKEN.findall(t) if by == "word" else list(t) for t in (before, after))
    if len(left) * len(right) > _MOST:
        raise BenchError(
            f"texts of {len(left)} and {len(right)} tokens are too long to be aligned by {by}; "
            "compare parts of them" + (', or by="word"' if by == "character" else "")
        )
    found: list[Edit] = []
    gone: list[str] = []
    new: list[str] = []
    for code in Indel.opcodes(left, right):
        if code.tag != "equal":  # a replacement comes as any mixture of both
            gone += left[code.src_start : code.src_end]
            new += right[code.dest_start : code.dest_end]
            continue
        found += _replaced(gone, new)
        found.append(Edit("kept", "".join(left[code.src_start : code.src_end])))
        gone, new = [], []
    return found + _replaced(gone, new)


def _replaced(gone: list[str], new: list[str]) -> list[Edit]:
    """What stood between two kept stretches, then what stands there now."""
    both = Edit("removed", "".join(gone)), Edit("added", "".join(new))
    return [edit for edit in both if edit.text]


def shown(found: Sequence[Edit], around: int = 40, most: int = 12) -> str:
    """Edits as one line of printable text: ⟦-removed⟧, ⟦+added⟧, the rest as it is.

    Of a stretch longer than twice `around` only the ends are shown, and `most` edits in all; what
    is left out is counted. Whatever could be mistaken for a mark, act on a terminal or turn the
    direction of writing is a backslash escape as in Python's string literals.
    """
    parts, changed = [], 0
    for place, edit in enumerate(found):
        if edit.kind != "kept" and changed == most:
            left = sum(later.kind != "kept" for later in found[place:])
            parts.append(f" {CUT} {left:,} more edits")
            break
        changed += edit.kind != "kept"
        start, end = MARKS[edit.kind]
        parts.append(start + _shortened(edit.text, around) + end)
    return "".join(parts)


def printable(text: str) -> str:
    """`text` with every character that is not plainly visible as a backslash escape."""
    return "".join(
        c if c.isprintable() and c not in _OWN else c.encode("unicode_escape").decode()
        for c in text
    )


def _shortened(text: str, around: int) -> str:
    left_out = len(text) - 2 * around
    if left_out <= 0:
        return printable(text)
    ends = text[:around], text[len(text) - around :]
    return f"{printable(ends[0])} {CUT} {left_out:,} characters {CUT} {printable(ends[1])}"
