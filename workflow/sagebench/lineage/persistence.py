"""Snakemake's store of records, asked through the ledger, so that its own triggers judge rightly.

Read-only for files that other tools put here: a dry run of a pulled or checked-out tree is right
and writes nothing. A file of unknown origin is never taken for fresh: its job runs again.
"""

import os
from pathlib import Path
from typing import Any

import snakemake.workflow
from snakemake.logging import logger
from snakemake.persistence import RECORD_FORMAT_VERSION, MetadataRecord
from snakemake.persistence.file import FilePersistence

from sagebench.errors import BenchError
from sagebench.lineage.ledger import UNKNOWN, Ledger

_FORMAT = 6  # of Snakemake's records, as this module and the ledger read them


class LedgerPersistence(FilePersistence):
    """The file store; `metadata` is what Snakemake's triggers and report read."""

    def __init__(self, *arguments: Any, path: Path | None = None, **options: Any) -> None:
        super().__init__(*arguments, path=path, **options)
        self._ledger = Ledger(self._read_record)
        self._said = False

    def metadata(self, target: Any) -> MetadataRecord | None:
        """The record of the job that wrote the file as it is, or one that fits no job."""
        path = self._get_key(target)
        if not os.path.lexists(path):
            return super().metadata(target)
        finding = self._ledger.find(path)
        if not finding.doubt:
            return finding.record
        if finding.doubt == UNKNOWN and not self._said:
            self._said = True
            logger.warning(
                f"{path}: {UNKNOWN} (edited, cut short, or of another origin). "
                "It and any other such file will be made again."
            )
        return MetadataRecord(record_format_version=RECORD_FORMAT_VERSION, params=[finding.doubt])

    def _clear_cache(self) -> None:
        super()._clear_cache()
        self._ledger = Ledger(self._read_record)


def install() -> None:
    """Put this store in the place of Snakemake's, which has no setting for one of the user's own.

    BenchError if this version of Snakemake keeps its records in another way.
    """
    current = getattr(snakemake.workflow, "FilePersistence", None)
    if current is None or RECORD_FORMAT_VERSION != _FORMAT:
        raise BenchError(
            "this version of Snakemake keeps its records in another way than the one in "
            "requirements.lock: install that one"
        )
    snakemake.workflow.FilePersistence = LedgerPersistence  # type: ignore[misc]
