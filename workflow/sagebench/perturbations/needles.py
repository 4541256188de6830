"""The paper's insertions and removals (task 3, and task 5): sizes in cl100k tokens."""

from abc import abstractmethod
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from sagebench.perturbations.base import Own
from sagebench.perturbations.lorem import lorem_text
from sagebench.registry import register
from sagebench.tokens import cl100k


class Needle(Own):
    """A change of `size` (fraction of the text's tokens) at `position` (0 start to 1 end)."""

    method = "word"

    def __init__(self, raw: Path, **params: Any) -> None:
        super().__init__(raw, **params)
        # A text meets every size and position in turn: its tokens are counted once.
        self._encode = lru_cache(maxsize=1)(cl100k(self.raw).encode)

    def _change(self, text: str, _seed: int, size: float | None, position: float | None) -> str:
        assert size is not None  # `apply` has checked both
        assert position is not None
        return self._run(lambda data: self._edit(data, size, position), text)

    @abstractmethod
    def _edit(self, text: str, size: float, position: float) -> str:
        """`text` (not empty) with `size` of its tokens inserted or removed at `position`."""


@register("perturbation", "lorem_insertion", needs=("cl100k",))
class LoremInsertion(Needle):
    """Inserts lorem ipsum of `size` times the text's tokens at `position` of its characters.

    The needle is the first int(size · tokens) tokens of `lorem_text`, put in as it is at
    character int(position · length). A needle longer than the lorem text (about 27,600 tokens)
    goes on with a blank line and its beginning. Fewer than 1 / size tokens: nothing to insert.
    """

    name = "lorem_insertion"
    title = "Lorem ipsum insertion"
    kind = "insertion"
    action = "insert"

    def _edit(self, text: str, size: float, position: float) -> str:
        needle = self.needle(int(size * len(self._encode(text))))
        place = int(position * len(text))
        return text[:place] + needle + text[place:]

    def needle(self, tokens: int) -> str:
        """The first `tokens` tokens of the lorem text, repeated as often as needed."""
        lorem = self._lorem
        ids = (lorem * (tokens // len(lorem) + 1))[:tokens]
        return cl100k(self.raw).decode(ids)

    @cached_property
    def _lorem(self) -> list[int]:
        return cl100k(self.raw).encode(lorem_text() + "\n\n")


@register("perturbation", "span_removal", needs=("cl100k",))
class SpanRemoval(Needle):
    """Removes one span of `size` times the text's tokens, from `position` of what is left over.

    Of n tokens, int(size · n) go, from token int(n · position · (1 - size)) on. A token may be
    part of a character (emoji, rare scripts): where the cut leaves half of one, its bytes become
    U+FFFD, so the number of tokens removed is exact and the text is valid.
    """

    name = "span_removal"
    title = "Span removal"
    kind = "removal"
    action = "delete"

    def _edit(self, text: str, size: float, position: float) -> str:
        ids = self._encode(text)
        start = int(len(ids) * position * (1 - size))
        return cl100k(self.raw).decode(ids[:start] + ids[start + int(size * len(ids)) :])
