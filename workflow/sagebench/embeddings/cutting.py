"""Counting a text's tokens and cutting it, for models that are out of reach.

An API's bill, its limits and what it leaves out must be known before a text is sent.
"""

from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path

from sagebench.embeddings.base import source_file
from sagebench.errors import BenchError

CL100K = "cl100k"


class Cutter(ABC):
    """A tokenizer that stands for the model's own."""

    @abstractmethod
    def count(self, text: str) -> int:
        """The text's tokens."""

    @abstractmethod
    def _head(self, text: str, tokens: int) -> str:
        """The text's first `tokens` tokens, as text; whole characters."""

    def cut(self, text: str, limit: int) -> str:
        """The longest beginning found that has at most `limit` tokens when it is read again."""
        head, wanted = text, limit
        while self.count(head) > limit:
            # Cut off from what followed, the last tokens may divide in another way.
            head, wanted = self._head(text, wanted), wanted - 1
        return head


class Cl100k(Cutter):
    """OpenAI's tokens; for other providers an estimate, some 10 to 20 % off for English."""

    def __init__(self, raw: Path) -> None:
        from sagebench.tokens import cl100k

        source_file(raw, f"{CL100K}/cl100k_base.tiktoken")
        self._tokenizer = cl100k(raw)

    def count(self, text: str) -> int:
        """Counted once for all models of a process: a bill asks for each."""
        return _cl100k_count(self._tokenizer, text)

    def _head(self, text: str, tokens: int) -> str:
        found = self._tokenizer.decode_bytes(self._tokenizer.encode(text)[:tokens])
        return found.decode("utf-8", "ignore")  # only a last character can be incomplete


class Own(Cutter):
    """The model's own tokenizer.json, special tokens included."""

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises plain Exception
            raise BenchError(f"{path} is not a tokenizer.json: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._special = len(self._tokenizer.encode("").ids)

    def count(self, text: str) -> int:
        """With the special tokens that the model adds."""
        return len(self._tokenizer.encode(text).ids)

    def _head(self, text: str, tokens: int) -> str:
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        kept = max(tokens - self._special, 0)
        return text[: offsets[kept - 1][1]] if 0 < kept <= len(offsets) else ""


def cutter(tokenizer: str, raw: Path) -> Cutter:
    """`cl100k`, a path below `raw`, or the path of the user's own tokenizer.json."""
    if tokenizer == CL100K:
        return Cl100k(raw)
    own = Path(tokenizer).expanduser()
    return Own(own if own.is_file() else source_file(raw, tokenizer))


@lru_cache(maxsize=100_000)
def _cl100k_count(tokenizer: object, text: str) -> int:
    return len(tokenizer.encode(text))  # type: ignore[attr-defined]
