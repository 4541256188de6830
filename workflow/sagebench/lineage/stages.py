"""The files of stages of dvc.yaml: their records collected and restored, leftovers removed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from snakemake.persistence import MetadataRecord
from snakemake.persistence.file import FilePersistence

from sagebench.errors import BenchError
from sagebench.lineage import records
from sagebench.lineage.ledger import Ledger
from sagebench.phases import Stage


class Store:
    """Snakemake's store of the working folder, opened outside Snakemake."""

    def __init__(self) -> None:
        self._store = FilePersistence(nolock=True)
        self.ledger = Ledger(self.own)

    def own(self, path: str) -> MetadataRecord | None:
        """Snakemake's own record of a name, whatever file bears it now."""
        return self._store._read_record(path)

    def collect(self, stage: Stage) -> None:
        """Write the records of a stage's files beside the data.

        BenchError if one of them is not there or is not what a recorded job wrote.
        """
        found = {}
        for file in stage.files:
            if not file.exists():
                raise BenchError(f"{file} is missing")
            path = str(file)
            finding = self.ledger.find(path)
            if finding.doubt:
                raise BenchError(f"{path}: {finding.doubt}")
            found[path] = records.Recorded(self.ledger.sha256(path), self._fields(finding.record))
        records.write(stage.name, found)

    def _fields(self, record: MetadataRecord) -> dict[str, Any]:
        """A trusted record's fields; Snakemake leaves out digests of inputs above a size."""
        known = record.input_checksums or {}
        digests = {
            path: known.get(path) or f"sha256:{self.ledger.sha256(path)}"
            for path in record.input or ()
        }
        return {name: record.get(name) for name in records.FIELDS} | {"input_checksums": digests}

    def restore(self, stages: Iterable[Stage]) -> dict[str, str]:
        """Give Snakemake's store the records that came with the data; the files left in doubt."""
        doubts = {}
        for path in (str(file) for stage in stages for file in stage.files if file.exists()):
            finding = self.ledger.find(path)
            if finding.doubt:
                doubts[path] = finding.doubt
            elif not finding.own:
                self._store._write_record(path, finding.record)
        return doubts

    def prune(self, stage: Stage) -> None:
        """Leave in a stage's folders what its jobs write under the present parameters alone.

        Removed are files of earlier parameters and those that killed jobs left half-written.
        BenchError on a file that is of neither kind: DVC would take it for a result.
        """
        for folder in (out for out in stage.outs if not out.suffix):
            folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.rglob("*"), reverse=True):
                if path.is_dir() and not path.is_symlink():
                    if not any(path.iterdir()):
                        path.rmdir()
                elif path not in stage.files:
                    self._remove(path, stage.files)

    def _remove(self, path: Path, files: list[Path]) -> None:
        half_written = any(
            file.parent == path.parent and path.name.startswith(f".{file.name}.") for file in files
        )
        if not half_written and self.ledger.find(str(path)).record.rule is None:
            raise BenchError(f"{path} is no file of this workflow: move it out of DVC's folder")
        path.unlink()
        self._store._delete_record(str(path))
