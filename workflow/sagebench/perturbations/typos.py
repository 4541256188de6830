"""nlpaug's noisy typists: neighbouring keys, misread characters, misspelt words (superficial)."""

import re
from typing import Any

from pydantic import Field

from sagebench.perturbations.base import Borrowed
from sagebench.registry import register

# Longer runs are no words (encoded data, a text without spaces), and nlpaug is quadratic in them.
_WORDS = re.compile(r"\b\w{1,40}\b")
_WORDS_WITH_APOSTROPHES = re.compile(r"\b\w{1,40}(?:['’]\w{1,40})*\b")


class _CharacterNoise(Borrowed):
    pattern = _WORDS

    class Parameters(Borrowed.Parameters):
        """`rate`: share of words; `character_rate`: share of such a word's characters.

        Both are rounded up to at least one.
        """

        character_rate: float = Field(0.1, gt=0, le=1)

    def _limits(self) -> dict[str, Any]:
        return {
            "aug_word_p": self.parameters.rate,
            "aug_word_min": 1,
            "aug_word_max": None,
            "aug_char_p": self.parameters.character_rate,
            "aug_char_min": 1,
            "aug_char_max": None,
        }


@register("perturbation", "keyboard_typos")
class KeyboardTypos(_CharacterNoise):
    """Hits a neighbouring letter key in `rate` of the words (nlpaug KeyboardAug).

    Words of four characters or more take part; letters become letters, capitals stay.
    """

    name = "keyboard_typos"
    title = "Keyboard typos"
    kind = "superficial"

    def _build(self) -> Any:
        from nlpaug.augmenter.char.keyboard import KeyboardAug

        return KeyboardAug(
            **self._limits(),
            min_char=4,
            include_special_char=False,
            include_numeric=False,
            include_upper_case=False,
        )


@register("perturbation", "ocr_noise")
class OcrNoise(_CharacterNoise):
    """Misreads similar characters (0 and O, 1 and l) in `rate` of the words (nlpaug OcrAug).

    A word without a character that nlpaug's table knows stays as it is, even when drawn.
    """

    name = "ocr_noise"
    title = "OCR noise"
    kind = "superficial"

    def _build(self) -> Any:
        from nlpaug.augmenter.char.ocr import OcrAug

        return OcrAug(**self._limits(), min_char=1)


@register("perturbation", "misspelling")
class Misspelling(Borrowed):
    """Misspells `rate` of the words as people have misspelt them (nlpaug SpellingAug).

    nlpaug's list of observed errors also holds other words, markup and abbreviations: only
    misspellings made of letters that are not themselves words of the list are used, and only
    for words of four letters or more.
    """

    name = "misspelling"
    title = "Misspelling"
    kind = "superficial"
    pattern = _WORDS_WITH_APOSTROPHES

    def _build(self) -> Any:
        from nlpaug.augmenter.word.spelling import SpellingAug
        from nlpaug.model.word_dict import Spelling

        class CleanSpellingAug(SpellingAug):
            """With a list of its own: nlpaug's is shared and ordered by Python's hash seed."""

            def get_model(self, **_: Any) -> Any:
                model = Spelling(self.dict_path, include_reverse=False)
                model.dict = clean_misspellings(model.dict)
                return model

        return CleanSpellingAug(aug_p=self.parameters.rate, aug_min=1, aug_max=None)


def clean_misspellings(observed: dict[str, list[str]]) -> dict[str, list[str]]:
    """word -> its misspellings, sorted; see `Misspelling` for what is left out."""
    known = {word.lower() for word in observed}
    return {
        word: sorted(
            {
                error
                for error in errors
                if error.replace("'", "").isalpha() and error.lower() not in known
            }
        )
        for word, errors in observed.items()
        if len(word) >= 4
    }
