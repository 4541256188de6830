"""Numbered locks between processes that vanish with the process that holds them."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Locks:
    """Locks 0, 1, 2, … on single bytes of one file: the kernel frees them, also after kill -9.

    They exclude processes, not threads, and are lost when this process closes the file: open one
    `Locks` per file and process.
    """

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)

    def close(self) -> None:
        """Release all locks."""
        os.close(self._handle)

    @contextmanager
    def attempt(self, number: int) -> Iterator[bool]:
        """Whether the lock was free; if so it is held within the context."""
        try:
            fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except (BlockingIOError, PermissionError):  # POSIX allows either
            yield False
            return
        try:
            yield True
        finally:
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, number)

    @contextmanager
    def hold(self, number: int) -> Iterator[None]:
        """Wait for the lock and hold it within the context."""
        fcntl.lockf(self._handle, fcntl.LOCK_EX, 1, number)
        try:
            yield
        finally:
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, number)
