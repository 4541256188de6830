"""Wall times of the jobs that were run here; an artifact that was pulled has none."""

import os
from pathlib import Path, PurePosixPath

from sagebench.audit.history import Job


class Clock:
    """Reads benchmark files and Snakemake's own store in the project at `root`."""

    def __init__(self, root: Path) -> None:
        from snakemake.persistence.file import FilePersistence

        self._root = root
        store = root / ".snakemake"
        self._store = FilePersistence(nolock=True, path=store) if store.is_dir() else None

    def seconds(self, path: str, job: Job) -> float | None:
        """Seconds that the job took to make `path`, by its benchmark or by Snakemake's times."""
        return self._benchmark(job) or self._between(path)

    def _benchmark(self, job: Job) -> float | None:
        parts = PurePosixPath(job.log).parts[1:]  # logs/<place>.log, benchmarks/<place>.tsv
        file = self._root.joinpath("benchmarks", *parts).with_suffix(".tsv")
        if not parts or not file.is_file():
            return None
        lines = file.read_text(encoding="utf-8").splitlines()
        return float(lines[1].partition("\t")[0]) if len(lines) > 1 else None

    def _between(self, path: str) -> float | None:
        """End minus start of the record, if it is of this very file: it ends at the file's time."""
        record = self._store._read_record(path) if self._store else None
        if record is None or record.starttime is None or record.endtime is None:
            return None
        if record.endtime != os.lstat(self._root / path).st_mtime:
            return None
        return (record.endtime - record.starttime) or None
