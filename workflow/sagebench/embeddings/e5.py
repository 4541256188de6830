"""multilingual-e5-small with 4-bit weights, run by its package's own C engine.

Foreign code: unlike every other encoder this one loads a compiled library from a fetched archive.
The catalogue pins its bytes. The binary's imports are libc, libm and OpenMP; most of the C source
beside it in the archive was read, but that the binary was built from it cannot be checked here. It
runs only if `params.yaml` names the model.
"""

import ctypes
import os
import platform
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sagebench.embeddings.base import Encoder, Reading, fingerprint, source_file
from sagebench.embeddings.threads import one_thread
from sagebench.errors import BenchError
from sagebench.registry import register

_QUERY = 1  # the prompt "query: ", which E5 asks for on both sides of a symmetric comparison
# Becomes 18 characters under NFKC, more than the engine's buffer holds for its 3 bytes.
_LIGATURE = "\ufdfa"


@register("encoder", "e5")
class E5Encoder(Encoder):
    """E5 with the prompt "query: "; a long text is the mean over windows of 510 tokens."""

    def __init__(
        self,
        name: str,
        raw: Path,
        max_tokens: None = None,
        *,
        engine: str,
        openmp: str,
        weights: str,
    ) -> None:
        """Paths below `raw`; `engine` finds `openmp` by its place relative to itself.

        BenchError on anything but Linux on x86-64 with AVX2.
        """
        _check_platform(name)
        one_thread()
        files = [source_file(raw, path) for path in (engine, weights, openmp)]
        self.name, self.max_tokens = name, max_tokens
        self._engine = _bind(files[0])
        self._handle = self._engine.e5_load(os.fsencode(files[1]))
        if not self._handle:
            raise BenchError(f"model {name!r}: {files[1]} does not load; fetch it again")
        self.dim = self._engine.e5_dim(self._handle)
        self.fingerprint = fingerprint(type(self), files, ("numpy",), prompt="query")

    def _read(self, text: str) -> Reading:
        # The engine takes a C string: it would stop at a NUL.
        text = text.replace("\0", " ").replace(_LIGATURE, unicodedata.normalize("NFKC", _LIGATURE))
        visible = text.encode() if text.strip() else b""
        return Reading(text, self._engine.e5_token_count(self._handle, visible, _QUERY), visible)

    def _compute(self, reading: Reading) -> npt.NDArray[Any]:
        out = np.empty(self.dim, np.float32)
        pointer = out.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        if self._engine.e5_embed(self._handle, reading.visible, _QUERY, pointer) != 0:
            raise BenchError(
                f"model {self.name!r} failed on the text that begins {reading.text[:60]!r}"
            )
        return out


def _check_platform(name: str) -> None:
    here = f"{sys.platform} {platform.machine()}"
    if here != "linux x86_64":
        raise BenchError(
            f"model {name!r} runs only on Linux x86-64, for its package carries a compiled engine; "
            f"this is {here}. Take it out of `models`, or name a sentence-transformers E5 instead"
        )
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split()
    if not {"avx2", "fma"} <= set(flags):
        raise BenchError(f"model {name!r} needs a CPU with AVX2 and FMA; take it out of `models`")


def _bind(path: Path) -> ctypes.CDLL:
    engine = ctypes.CDLL(str(path.resolve()))
    text, handle = ctypes.c_char_p, ctypes.c_void_p
    engine.e5_load.restype, engine.e5_load.argtypes = handle, [text]
    engine.e5_dim.restype, engine.e5_dim.argtypes = ctypes.c_int, [handle]
    engine.e5_token_count.restype = ctypes.c_int
    engine.e5_token_count.argtypes = [handle, text, ctypes.c_int]
    engine.e5_embed.restype = ctypes.c_int
    engine.e5_embed.argtypes = [handle, text, ctypes.c_int, ctypes.POINTER(ctypes.c_float)]
    return engine
