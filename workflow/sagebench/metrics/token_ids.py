"""cl100k tokens of texts as arrays, each distinct text encoded once."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from sagebench.tokens import cl100k

Ids = npt.NDArray[np.int64]


class TokenIds:
    """text -> its cl100k ids, kept for the life of the object (8 bytes a token)."""

    def __init__(self, raw: Path) -> None:
        self._encode = cl100k(raw).encode
        self._known: dict[str, Ids] = {}

    def __call__(self, text: str) -> Ids:
        """(n_tokens,) int64 in text order; do not modify."""
        if text not in self._known:
            self._known[text] = np.array(self._encode(text), dtype=np.int64)
        return self._known[text]
