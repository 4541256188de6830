"""Changed facts: other numbers, other names; the sentence around them stays (semantic)."""

import re

import numpy as np

from sagebench.perturbations.base import Transform
from sagebench.perturbations.dates import MONTHS, WEEKDAYS
from sagebench.registry import register

# Not inside a word ("B2B", "3rd"); separators stay where they are ("1,234.50").
_NUMBER = re.compile(r"(?<!\w)[0-9]+(?:[.,:/-][0-9]+)*(?!\w)")
_WORD = re.compile(r"[^\W\d_]+")
# What stands before a word that opens a sentence.
_OPENING = re.compile(r"(?:^|[.!?:\n“‘«(\[])[\s\"'”’)\]*-]*$")
_OPENING_REACH = 20  # characters looked back
_SPARE_NAMES = ("Adams", "Baker", "Clark", "Evans", "Hughes", "Keller", "Morgan", "Parker")
_NO_NAMES = {*MONTHS, *WEEKDAYS, "Mr", "Mrs", "Ms", "Dr", "Sir"}


@register("perturbation", "number_changes")
class NumberChanges(Transform):
    """Changes every number written in digits to another of the same shape.

    Same digits before and after the same separators, leading zeros kept, the first other digit
    always different (so the size changes). Years and numeric dates are numbers too. Limits:
    digits other than 0 to 9, digits that touch letters (3rd, B2B) and numbers in
    words stay.
    """

    name = "number_changes"
    title = "Number changes"
    kind = "semantic"
    method = "word"
    action = "substitute"

    def _edit(self, text: str, generator: np.random.Generator) -> str:
        return _NUMBER.sub(lambda match: _other_number(match[0], generator), text)


def _other_number(number: str, generator: np.random.Generator) -> str:
    digits = [index for index, char in enumerate(number) if char.isdigit()]
    # The first digit that is not zero; in a number of zeros, the last digit.
    lead = next((index for index in digits if number[index] != "0"), digits[-1])
    changed = list(number)
    changed[lead] = str((int(number[lead]) - 1 + generator.integers(1, 9)) % 9 + 1)
    following = [index for index in digits if index > lead]
    for index, digit in zip(following, generator.integers(0, 10, len(following)), strict=True):
        changed[index] = str(digit)
    return "".join(changed)


@register("perturbation", "name_changes")
class NameChanges(Transform):
    """Swaps the names in a text for one another, each name for the same other one everywhere.

    A name is a capitalised word that stands inside a sentence somewhere and that the text never
    writes in lower case; months, weekdays and titles are none. A text with a single name gets
    one from a short list. Limits: no names that only open sentences, none in scripts without
    capitals, none with inner capitals (McDonald); every word of a headline in title case is
    taken for one, and so are nationalities.
    """

    name = "name_changes"
    title = "Name changes"
    kind = "semantic"
    method = "word"
    action = "substitute"

    def _edit(self, text: str, generator: np.random.Generator) -> str:
        names = _names(text)
        order = [names[index] for index in generator.permutation(len(names))]
        if len(order) == 1:
            spare = [name for name in _SPARE_NAMES if name not in text]
            order += [spare[generator.integers(len(spare))]] if spare else []
        # A cycle: no name keeps its place.
        other = dict(zip(order, order[1:] + order[:1], strict=True))
        changed = {name: other[name] for name in names}
        return _WORD.sub(lambda match: changed.get(match[0], match[0]), text)


def _names(text: str) -> list[str]:
    """The distinct names in `text`, in the order in which they first occur within a sentence."""
    lower_case = {match[0] for match in _WORD.finditer(text) if match[0].islower()}
    names: dict[str, None] = {}
    for match in _WORD.finditer(text):
        word = match[0]
        if word in names or word in _NO_NAMES or not (word[0].isupper() and word[1:].islower()):
            continue
        before = text[max(0, match.start() - _OPENING_REACH) : match.start()]
        if word.lower() not in lower_case and not _OPENING.search(before):
            names[word] = None
    return list(names)
