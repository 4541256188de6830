"""Docstrings are written for readers of the source; the site shows them as Markdown."""

import re
from textwrap import indent
from typing import Any

import griffe

_EXAMPLES = re.compile(r"^(examples?:)\n((?:  .*\n?)+)", flags=re.MULTILINE)
_CODE = re.compile(r"(`[^`]*`|^ {4,}.*$)", flags=re.MULTILINE)


class PlaceHolders(griffe.Extension):
    """Keeps angle brackets, asterisks and underscores in docstrings from being taken for markup."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Escape what is not code."""
        if obj.docstring:
            text = _EXAMPLES.sub(lambda m: f"{m[1]}\n\n" + indent(m[2], "  "), obj.docstring.value)
            parts = _CODE.split(text)
            parts[::2] = [re.sub(r"([<*_])", r"\\\1", part) for part in parts[::2]]
            obj.docstring.value = "".join(parts)
