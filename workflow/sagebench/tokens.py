"""cl100k_base tokens: the unit of the paper's sizes and of its token metrics (paper, section 3)."""

import base64
from functools import lru_cache
from pathlib import Path

import tiktoken

SOURCE = "cl100k"  # the catalogue's source of the vocabulary
_FILE = "cl100k_base.tiktoken"
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_BLOCK = 50_000  # characters; a single regular-expression run over megabytes overflows its stack


class Tokenizer:
    """Encode text to cl100k_base ids and back. Text such as "<|endoftext|>" is plain text."""

    def __init__(self, raw: Path) -> None:
        """`raw` is data/raw; the vocabulary's sha256 was checked when it was fetched."""
        self._encoding = tiktoken.Encoding(
            "cl100k_base",
            pat_str=_PATTERN,
            mergeable_ranks=_ranks(Path(raw) / SOURCE / _FILE),
            special_tokens={},
        )

    def encode(self, text: str) -> list[int]:
        """Token ids; [] for the empty text. Lone surrogates become U+FFFD."""
        if len(text) <= _BLOCK:
            return self._encoding.encode_ordinary(text)
        ids: list[int] = []
        for start in range(0, len(text), _BLOCK):
            ids += self._encoding.encode_ordinary(text[start : start + _BLOCK])
        return ids

    def decode(self, ids: list[int]) -> str:
        """Text of the ids; bytes that are no UTF-8 (a character cut in two) become U+FFFD."""
        return self._encoding.decode(ids, errors="replace")

    def decode_bytes(self, ids: list[int]) -> bytes:
        """The exact bytes of the ids."""
        return self._encoding.decode_bytes(ids)


def _ranks(path: Path) -> dict[bytes, int]:
    # tiktoken's own loader keeps a copy keyed by path, which would outlive a change of the file.
    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}


@lru_cache(maxsize=2)
def cl100k(raw: Path) -> Tokenizer:
    """One tokenizer per process: building its tables takes a few hundred milliseconds."""
    return Tokenizer(raw)
