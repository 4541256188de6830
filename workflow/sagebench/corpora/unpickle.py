"""Opening a pickle without running what it names.

A pickle can call anything it names. This reader admits no name but the builtin `set`; what is
left (dictionaries, lists, tuples, strings, numbers) is plain data.
"""

import pickle
from pathlib import Path
from typing import Any

from sagebench.errors import BenchError

# Python 2 and Python 3 call the module of builtins by different names.
_ADMITTED = {("builtins", "set"): set, ("__builtin__", "set"): set}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ADMITTED:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return _ADMITTED[module, name]

    def persistent_load(self, _pid: Any) -> Any:
        raise pickle.UnpicklingError("it refers to objects outside itself")


def safe_load_pickle(path: Path) -> Any:
    """The plain data in the pickle at `path`, which must have come from `fetch` (hash-checked).

    Byte strings of Python 2 are read as Latin-1. BenchError if the pickle names anything but
    the builtin `set`, or is damaged.
    """
    try:
        with path.open("rb") as stream:
            return _PlainUnpickler(stream, encoding="latin1").load()
    # A damaged pickle may fail in any of the interpreter's operations.
    except Exception as error:
        raise BenchError(
            f"{path} was not opened: {error}. Only plain data is admitted; delete the file and "
            "fetch it again, or take the sagebench version that pins this file."
        ) from error
