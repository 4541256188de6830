"""Sources that the user has: files of a folder, checked like fetched ones."""

import gzip
import os
from pathlib import Path

from sagebench.corpora.catalogue import FolderSource
from sagebench.corpora.files import write_bytes
from sagebench.errors import BenchError
from sagebench.provenance import file_sha256

FOLDER_VARIABLE = "SAGEBENCH_DATA"


def copy(name: str, source: FolderSource, destination: Path, root: Path | None = None) -> None:
    """Write every file of the source to destination/<file id>, each checked before it is written.

    `root` is the folder of benchmark data (default: $SAGEBENCH_DATA). A file may lie there as
    <member> or, packed, as <member>.gz; its sha256 is of the unpacked content. BenchError if the
    folder is not set, or a file is missing, unreadable or another than the catalogue's.
    """
    given = root or os.environ.get(FOLDER_VARIABLE)
    if not given:
        raise BenchError(
            f"source {name!r} is read from a folder of yours: set {FOLDER_VARIABLE} to the one "
            f"that holds {source.folder}/ ({source.note or source.citation})"
        )
    for file_id, file in source.files.items():
        path = Path(given) / source.folder / file.pattern
        content = _content(name, path)
        write_bytes(destination / file_id, content)
        if (found := file_sha256(destination / file_id)) != file.sha256:
            (destination / file_id).unlink()
            raise BenchError(
                f"{path}: checksum mismatch, expected sha256 {file.sha256}, got {found}; source "
                f"{name!r} is pinned to other bytes"
            )


def _content(name: str, path: Path) -> bytes:
    packed = path.with_name(f"{path.name}.gz")
    try:
        if path.is_file():
            return path.read_bytes()
        if packed.is_file():
            return gzip.decompress(packed.read_bytes())
    except (OSError, EOFError) as error:
        raise BenchError(f"{path} cannot be read: {error}") from None
    raise BenchError(f"source {name!r}: neither {path} nor {packed.name} beside it is there")
