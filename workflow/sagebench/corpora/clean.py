"""Repairing text: mojibake is undone, everything else stays as the source has it."""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ftfy import TextFixerConfig

_WORD = re.compile(r"\w")
_LOST = "\ufffd"  # what a decoder before us left of a character


@cache
def _config() -> "TextFixerConfig":
    """Every option of ftfy by name: a new default must not change a corpus."""
    from ftfy import TextFixerConfig

    return TextFixerConfig(
        # Mojibake: UTF-8 that was read as another encoding, and C1 controls that are
        # Windows-1252 punctuation.
        fix_encoding=True,
        restore_byte_a0=True,
        replace_lossy_sequences=True,
        decode_inconsistent_utf8=True,
        fix_c1_controls=True,
        # No file format holds half of a surrogate pair.
        fix_surrogates=True,
        # The rest is the text's own.
        unescape_html=False,
        remove_terminal_escapes=False,
        fix_latin_ligatures=False,
        fix_character_width=False,
        uncurl_quotes=False,
        fix_line_breaks=False,
        remove_control_chars=False,
        normalization=None,
        max_decode_length=1_000_000,
        explain=False,
    )


class Cleaner:
    """Repairs texts and counts the distinct ones that it changed or could not restore."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self.repaired = 0
        self.lost_characters = 0  # texts with U+FFFD: what stood there is not recoverable

    def __call__(self, text: str) -> str:
        """The repaired text without outer white space; unicode is not normalised."""
        if text not in self._known:
            stripped = text.strip()
            repaired = repair(stripped)
            self.repaired += repaired != stripped
            self.lost_characters += _LOST in repaired
            self._known[text] = repaired.strip()
        return self._known[text]


def repair(text: str) -> str:
    """`text` with its mojibake undone."""
    if text.isascii():  # nothing to repair, and most long texts are
        return text
    import ftfy

    return ftfy.fix_text(text, _config())


def has_word(text: str) -> bool:
    """Whether there is a letter, digit or underscore of any script."""
    return _WORD.search(text) is not None
