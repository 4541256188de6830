"""A release: results, records and locks in one archive, the same bytes wherever it is packed."""

import hashlib
import io
import tarfile
from pathlib import Path

from sagebench import __version__
from sagebench.corpora.files import write_bytes
from sagebench.errors import BenchError
from sagebench.lineage import records
from sagebench.results import results_files

# What the results rest on and how to read, rebuild and cite them.
BESIDE = (
    ".zenodo.json",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "README.md",
    "dvc.lock",
    "dvc.yaml",
    "environment.yml",
    "params.yaml",
    "pyproject.toml",
    "requirements.lock",
)
FOLDERS = ("docs", "workflow/catalogue", "workflow/schemas")
SUMS = "SHA256SUMS"


def name() -> str:
    """The archive's name without suffix, and the folder that it unpacks to."""
    return f"sagebench-results-{__version__}"


def files(root: Path) -> list[Path]:
    """What is packed, relative to `root` and sorted; BenchError for the first that is missing."""
    wanted = [Path(path) for path in BESIDE] + results_files(Path("results"))
    for folder in (*FOLDERS, records.FOLDER):
        found = [path for path in (root / folder).rglob("*") if path.is_file()]
        wanted += [path.relative_to(root) for path in found if "__pycache__" not in path.parts]
    for path in wanted:
        if not (root / path).is_file():
            raise BenchError(f"{path} is missing: run `make results`, or pull it with `dvc pull`")
    return sorted(set(wanted), key=Path.as_posix)


def pack(root: Path, out: Path) -> Path:
    """Write `out`/<name>.tar and its sha256 beside it; the archive's path.

    Plain tar, for compressed bytes differ with the compressor's version; names in order, and no
    times, owners or modes of this machine. The first member lists the sha256 of all others, for
    `sha256sum -c`.
    """
    contents = {path.as_posix(): (root / path).read_bytes() for path in files(root)}
    sums = "".join(f"{_sha256(data)}  {path}\n" for path, data in contents.items())
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in {SUMS: sums.encode(), **contents}.items():
            member = tarfile.TarInfo(f"{name()}/{path}")
            member.size, member.mode = len(data), 0o644
            archive.addfile(member, io.BytesIO(data))
    target = out / f"{name()}.tar"
    write_bytes(target, buffer.getvalue())
    line = f"{_sha256(buffer.getvalue())}  {target.name}\n"
    write_bytes(target.with_suffix(".tar.sha256"), line.encode())
    return target


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
