"""The paper's negation toggling (task 2, semantic): is becomes is not, and the other way round."""

import re
from functools import cache
from typing import NamedTuple

import numpy as np
from pydantic import field_validator

from sagebench import registry
from sagebench.perturbations.base import Transform
from sagebench.registry import register

# Affirmative form -> negative forms. The affirmative becomes the first of them; each of them
# becomes the affirmative. Which pairs the authors used is not published: two are named in the
# paper, the rest here are the other finite auxiliaries of English.
_NAMED = {"is": ("is not", "isn't"), "can": ("cannot", "can not", "can't")}
_REGULAR = (
    *("are", "was", "were", "could", "would", "should", "must", "might"),
    *("do", "does", "did", "has", "have", "had"),
)
PATTERNS: dict[str, dict[str, tuple[str, ...]]] = {
    "named_in_paper": _NAMED,
    "auxiliaries": _NAMED
    | {verb: (f"{verb} not", f"{verb}n't") for verb in _REGULAR}
    | {
        "will": ("will not", "won't"),
        "shall": ("shall not", "shan't"),
        "may": ("may not",),
        "I am": ("I am not", "I'm not"),
    },
}
# A month and a first name, far more often than a verb that opens a sentence.
_NAMES = {"May", "Will"}


@register("perturbation", "negation_toggling")
class NegationToggling(Transform):
    """Negates every affirmative auxiliary and affirms every negated one, in one pass.

    Which ones is the parameter `patterns`. Case is kept (IS NOT, Is not); "May" and "Will" are
    left alone as names. Limits: regular expressions see words, not grammar, so the noun "can" is
    negated, and so are contracted affirmatives never ("it's").
    """

    name = "negation_toggling"
    title = "Negation toggling"
    kind = "semantic"
    method = "word"
    action = "substitute"

    class Parameters(Transform.Parameters):
        """`patterns`: the name of a list in PATTERNS."""

        patterns: str = "auxiliaries"

        @field_validator("patterns")
        @classmethod
        def _known(cls, value: str) -> str:
            if value not in PATTERNS:
                # pydantic takes a ValueError into its own list of problems.
                raise ValueError(str(registry.unknown("list of negations", value, PATTERNS)))
            return value

    def _edit(self, text: str, _generator: np.random.Generator) -> str:
        toggle = _toggle(self.parameters.patterns)
        return toggle.pattern.sub(lambda match: toggle.opposite(match[0]), text)


class _Toggle(NamedTuple):
    pattern: re.Pattern[str]
    opposites: dict[str, str]

    def opposite(self, found: str) -> str:
        if found in _NAMES:
            return found
        opposite = self.opposites[" ".join(found.lower().replace("’", "'").split())]
        if found.isupper():
            return opposite.upper()
        return opposite[0].upper() + opposite[1:] if found[0].isupper() else opposite


@cache
def _toggle(name: str) -> _Toggle:
    opposites: dict[str, str] = {}
    for affirmative, negatives in PATTERNS[name].items():
        opposites[affirmative.lower()] = negatives[0]
        opposites |= {negative.lower(): affirmative for negative in negatives}
    # The longest form first: in "is not", "is" alone must not match.
    forms = sorted(opposites, key=lambda form: (-len(form), form))
    alternatives = "|".join(form.replace(" ", r"\s+").replace("'", "['’]") for form in forms)
    return _Toggle(re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE), opposites)
