"""Which record speaks of a file as it lies here, whoever put it there.

Snakemake remembers a file's record by its name: after a pull there is none, after a checkout it
is that of another file of the same name. Both would pass for fresh. Here a record counts only

- if it is Snakemake's own and the file still has the time of the job that wrote it, or
- if it came with the data and the file has the bytes that it names,

and only as long as the files that the job read are there and are the ones it read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from snakemake.persistence import RECORD_FORMAT_VERSION, MetadataRecord

from sagebench import provenance
from sagebench.lineage import records

UNKNOWN = "no recorded job wrote these bytes"
_TRIGGERS = ("code", "params", "input", "software_stack_hash")


@dataclass(frozen=True)
class Finding:
    """A file's record; `own`: it lies in Snakemake's store. `doubt` says why not to trust it."""

    record: MetadataRecord
    own: bool
    doubt: str


class Ledger:
    """Findings about files, each looked at once. `own` reads a record of Snakemake's store."""

    def __init__(self, own: Callable[[str], MetadataRecord | None]) -> None:
        self._read_own = own
        self._own: dict[str, MetadataRecord | None] = {}
        self._findings: dict[str, Finding] = {}
        self._digests: dict[str, str] = {}

    def find(self, path: str) -> Finding:
        """What is known about an existing file."""
        if path not in self._findings:
            self._findings[path] = self._find(path)
        return self._findings[path]

    def sha256(self, path: str) -> str:
        """Hex digest of a file's bytes."""
        if path not in self._digests:
            self._digests[path] = provenance.file_sha256(path)
        return self._digests[path]

    @cached_property
    def _travelled(self) -> dict[str, records.Recorded]:
        return records.read_all()

    def _find(self, path: str) -> Finding:
        own = self._own_finding(path)
        if own and not own.doubt and not self._is_superseded(path, own.record):
            return own
        came = self._came_finding(path)
        if came and not came.doubt:
            return came
        return own or came or Finding(MetadataRecord(), False, UNKNOWN)

    def _is_superseded(self, path: str, own: MetadataRecord) -> bool:
        """Whether a later and other record came: jobs of two branches can write the same bytes,
        and then a checkout leaves the file, and Snakemake's record of it, as they were.
        """
        came = self._travelled.get(path)
        if came is None or came.since <= (own.endtime or 0):
            return False
        return any(own.get(name) != came.fields[name] for name in _TRIGGERS)

    def _own_finding(self, path: str) -> Finding | None:
        record = self._own_record(path)
        return Finding(record, True, self._doubt(record, own=True)) if record else None

    def _came_finding(self, path: str) -> Finding | None:
        came = self._travelled.get(path)
        if came is None or came.sha256 != self.sha256(path):
            return None
        time = Path(path).lstat().st_mtime
        record = MetadataRecord(**came.fields, starttime=time, endtime=time, incomplete=False)
        if record.record_format_version != RECORD_FORMAT_VERSION:
            return Finding(record, False, "recorded by another version of Snakemake")
        return Finding(record, False, self._doubt(record, own=False))

    def _own_record(self, path: str) -> MetadataRecord | None:
        if path not in self._own:
            record = self._read_own(path)
            matches = record is not None and record.endtime == Path(path).lstat().st_mtime
            self._own[path] = record if matches else None
        return self._own[path]

    def _doubt(self, record: MetadataRecord, own: bool) -> str:
        """Why the job's inputs speak against it. Where both files were made by jobs here, their
        times say enough and Snakemake looks at those; any other time says nothing.
        """
        digests = record.input_checksums or {}
        for path in record.input or ():
            if not Path(path).exists():
                return f"its input {path} is gone"
            if own and self._own_record(path):
                continue
            if digests.get(path) != f"sha256:{self.sha256(path)}":
                return f"its input {path} has other bytes"
        return ""
