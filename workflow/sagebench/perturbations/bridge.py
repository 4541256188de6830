"""The bridge to nlpaug: one way to run an augmenter, whoever wrote it.

nlpaug draws from the two global generators, returns a list or a string, strips white space and
re-spaces punctuation. Here its draws are seeded per text and the global state is put back, the
answer is a string, and everything between two words stays as it was.
"""

import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np


@cache
def own_augmenter(name: str, method: str, action: str) -> type:
    """A subclass of nlpaug's Augmenter whose `action` is the function it is made with.

    `method` (char, word, sentence) and `action` (substitute, swap, insert, delete) are nlpaug's
    words. The class is made on first use: importing nlpaug takes a while.
    """
    with _torch_unseen():
        from nlpaug.base_augmenter import Augmenter

    class TextAugmenter(Augmenter):
        def __init__(self, change: Callable[[str], str]) -> None:
            super().__init__(
                name, method, action, aug_min=None, aug_max=None, aug_p=None, device="cpu"
            )
            self.change = change

        @classmethod
        def clean(cls, data: str) -> str:  # nlpaug's strips white space
            return data

    def act(self: Any, data: str) -> str:
        return str(self.change(data))

    return type(name, (TextAugmenter,), {action: act})


@contextmanager
def _torch_unseen() -> Iterator[None]:
    """nlpaug does without torch if there is none, and needs it only for neural augmenters.

    Unseen, its import takes 0.4 s instead of 1.5 s, in each of the many perturbation jobs.
    """
    hide = "torch" not in sys.modules
    if hide:
        sys.modules["torch"] = None  # type: ignore[assignment]  # an import of it now fails
    try:
        yield
    finally:
        if hide:
            del sys.modules["torch"]


def run(augmenter: Any, text: str) -> str:
    """The augmenter's one answer to `text`, as a string; its empty answer means no change."""
    answer = augmenter.augment(text, n=1, num_thread=1)
    if isinstance(answer, str):
        return answer
    return str(answer[0]) if answer else text


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside, `random` and `numpy.random` run from `seed` (up to 128 bits); then as before."""
    python_state, numpy_state = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed([seed >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)])
    try:
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)


def keep_gaps(augmenter: Any, pattern: re.Pattern[str]) -> Any:
    """nlpaug's `augmenter`, made to change tokens only: the matches of `pattern`.

    Its own tokenizer and its inverse re-space punctuation and lose line breaks. Here the text
    between tokens is remembered and put back, and nothing is stripped.
    """
    gaps: list[str] = []

    def tokenizer(text: str) -> list[str]:
        gaps[:] = pattern.split(text)
        return pattern.findall(text)

    def reverse_tokenizer(tokens: list[str]) -> str:
        parts = [gaps[0]]
        for token, gap in zip(tokens, gaps[1:], strict=True):
            parts += (token, gap)
        return "".join(parts)

    augmenter.tokenizer = tokenizer
    augmenter.reverse_tokenizer = reverse_tokenizer
    augmenter.clean = lambda data: data
    return augmenter


def pieces(pattern: re.Pattern[str], text: str, tokens: int) -> Iterator[str]:
    """`text` in consecutive pieces of at most `tokens` matches of `pattern`; joined: `text`."""
    start = 0
    for number, match in enumerate(pattern.finditer(text)):
        if number and number % tokens == 0:
            yield text[start : match.start()]
            start = match.start()
    yield text[start:]
