"""The paper's superficial transforms: single characters change, the meaning stays (task 2)."""

import numpy as np
from pydantic import Field

from sagebench.perturbations.base import Transform
from sagebench.registry import register


@register("perturbation", "random_capitalization")
class RandomCapitalization(Transform):
    """Upper-cases each character with probability `rate` (paper: 25 % of characters).

    Every character of the text takes part, letter or not, as in the authors' earlier code: one
    drawn that has no upper case (a digit, a space, a capital) stays, so fewer than `rate` of
    the characters differ. A character whose upper case is several (ß, ﬁ) stays too: the
    length never changes.
    """

    name = "random_capitalization"
    title = "Random capitalization"
    kind = "superficial"
    method = "char"
    action = "substitute"

    class Parameters(Transform.Parameters):
        """`rate`: the probability with which each character is upper-cased."""

        rate: float = Field(0.25, ge=0, le=1)

    def _edit(self, text: str, generator: np.random.Generator) -> str:
        drawn = generator.random(len(text)) < self.parameters.rate
        return "".join(_upper(char) if hit else char for char, hit in zip(text, drawn, strict=True))


def _upper(char: str) -> str:
    upper = char.upper()
    return upper if len(upper) == 1 else char


@register("perturbation", "character_deletion")
class CharacterDeletion(Transform):
    """Deletes every `every`-th character (paper: every 10th); words stay apart.

    Spaces are doubled before and halved after, so that a deletion that falls on a space leaves
    one; the doubled spaces count as characters.
    """

    name = "character_deletion"
    title = "Character deletion"
    kind = "superficial"
    method = "char"
    action = "delete"

    class Parameters(Transform.Parameters):
        """`every`: the distance, in characters, from one deletion to the next."""

        every: int = Field(10, ge=2)

    def _edit(self, text: str, _generator: np.random.Generator) -> str:
        characters = list(text.replace(" ", "  "))
        every = self.parameters.every
        del characters[every - 1 :: every]
        return "".join(characters).replace("  ", " ")


@register("perturbation", "numerization")
class Numerization(Transform):
    """Writes e, i, a, o (lower case only) as 3, 1, 4, 0."""

    name = "numerization"
    title = "Numerization"
    kind = "superficial"
    method = "char"
    action = "substitute"

    def _edit(self, text: str, _generator: np.random.Generator) -> str:
        return text.translate(_DIGITS)


_DIGITS = str.maketrans("eiao", "3140")
