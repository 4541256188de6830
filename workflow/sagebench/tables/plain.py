"""Text that can be printed: hostile names may hold line breaks, control characters, surrogates."""

import unicodedata

_DROPPED = {"Cc", "Cf", "Cs", "Co", "Cn"}  # control, format (also direction marks), no characters


def one_line(text: str) -> str:
    """`text` with white space as single blanks and other unprintable characters as U+FFFD."""
    text = " ".join(text.split())
    return "".join("\ufffd" if unicodedata.category(c) in _DROPPED else c for c in text)
