"""params.yaml, typed: every knob of the benchmark, extra keys refused.

`Params` is the single source: the JSON schema in workflow/schemas is generated from it
(`python -m sagebench schema`), and a test fails when the two drift apart.
"""

import difflib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from sagebench import registry
from sagebench.corpora import strict_yaml
from sagebench.errors import BenchError
from sagebench.roles import Role

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]*$")]
Fraction = Annotated[float, Field(gt=0, le=1)]
Position = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
PLACES = ("mirror", "folders")  # keys that say where bytes come from, not which


class Section(BaseModel):
    """A part of params.yaml: unknown keys are errors, values cannot be changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Needles(Section):
    """Sizes (fraction of a document's tokens) and positions (0 start … 1 end) of an edit."""

    sizes: list[Fraction] = Field(min_length=1)  # fractions of a document's tokens
    positions: list[Position] = Field(min_length=1)  # 0 start … 1 end


class HumanPreference(Section):
    """Task 1. Corpora of pairwise choices and of ratings."""

    preferences: list[Name] = Field(min_length=1)  # corpora of role preferences
    ratings: list[Name] = Field(min_length=1)  # corpora of role ratings
    pairs: Count  # at most this many choices per corpus
    items: Count  # at most this many rated items per corpus (each with all its aspects)
    min_gap: float = Field(ge=0)  # a choice needs human means at least this far apart
    ties: Literal["second", "half"]  # equal similarities: predict summary 2, or half a hit


class Robustness(Section):
    """Task 2. `superficial` and `semantic` name the transforms of each kind."""

    corpora: list[Name] = Field(min_length=1)  # of role documents, with summaries
    documents: Count  # at most this many per corpus
    superficial: list[Name] = Field(min_length=1)  # edits that keep the meaning
    semantic: list[Name] = Field(min_length=1)  # edits that change it
    # all_then_mean: a condition holds if it holds for all its transforms; mean of the three rates
    # simultaneous: all three conditions hold for one document
    # average: mean over single comparisons
    reading: Literal["all_then_mean", "simultaneous", "average"]


class Sensitivity(Section):
    """Task 3."""

    corpora: list[Name] = Field(min_length=1)  # of role documents
    documents: Count  # at most this many per corpus
    insertion: Needles
    removal: Needles


class Clustering(Section):
    """Task 4. Complete linkage on 1 - similarity; k = number of classes in the sample."""

    corpora: list[Name] = Field(min_length=1)  # of role labelled
    texts: Count  # at most this many per corpus


class Retrieval(Section):
    """Task 5."""

    corpora: list[Name] = Field(min_length=1)  # of role retrieval
    documents: Count  # at most this many per corpus, with the queries that they answer
    draw: Literal["documents", "judged"]  # all alike, or every second one relevant to some query
    transforms: list[Name] = Field(min_length=1)  # each gives one retention
    insertion: Needles
    removal: Needles
    cutoff: Count  # NDCG@cutoff
    # paired: originals and one perturbation's copies share a corpus, only the copies are relevant
    # replace: the copies alone
    # mixed: all versions in one corpus, one kind relevant
    layout: Literal["paired", "replace", "mixed"]


class Agreement(Section):
    """The paper's CNN/DailyMail cells recomputed: classical metrics, more documents."""

    corpora: list[Name] = Field(min_length=1)
    documents: Count
    systems: list[Name] = Field(min_length=1)


class Tasks(Section):
    """The five tasks."""

    human_preference: HumanPreference
    robustness: Robustness
    sensitivity: Sensitivity
    clustering: Clustering
    retrieval: Retrieval


class Bootstrap(Section):
    """Percentile intervals over units (documents, pairs, queries, texts)."""

    resamples: int = Field(ge=100)
    level: float = Field(gt=0.5, lt=1)


class Model(Section):
    """A sentence-transformers model by Hub id or folder, named by the user."""

    name: Name
    path: str = Field(min_length=1)
    revision: str | None = None  # a commit pins the model; a branch is resolved when fetched
    max_tokens: Count | None = None
    prompt: str = ""  # put before every text (the paper compares texts symmetrically)
    prompts: dict[Role, str] = {}  # or one per role
    backend: Literal["torch", "onnx", "openvino"] = "torch"
    file: str | None = None  # the graph to load, such as onnx/model_qint8_avx512.onnx
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    device: Literal["auto", "cpu", "cuda", "mps"] = "cpu"  # auto: CUDA, else MPS, else CPU
    # More is faster on a GPU, and moves a vector's last bits; auto: as many as its memory takes.
    batch_size: Count | Literal["auto"] = 1
    truncate_dim: Count | None = None  # Matryoshka: keep the first dimensions only
    trust_remote_code: bool = False  # run Python code that the model's repository brings

    @property
    def encoder(self) -> str:
        """The registered encoder that loads it."""
        plain = {"name", "path", "revision", "max_tokens", "prompt"}
        own = self.model_dump(exclude_defaults=True).keys() - plain
        return "open" if own else "sentence_transformer"


class Endpoint(Section):
    """A model behind an API, named by the user."""

    name: Name
    provider: Literal["openai", "cohere", "voyage", "gemini", "ollama"]  # how it is asked
    model: str = Field(min_length=1)  # as the provider calls it
    dimensions: Count  # of its vectors
    shorten: bool = False  # ask for this many dimensions, rather than expect them
    base_url: str | None = Field(default=None, pattern=r"^https?://[^@\s?#]+$")
    key: str | None = Field(default=None, pattern=r"^[A-Z_][A-Z0-9_]*$|^$")  # VARIABLE; "": no key
    revision: str | None = None  # any word; another one computes all anew
    max_tokens: Count | None = None  # what the model reads; longer texts are cut before sending
    send_tokens: Count | None = None  # cut here instead, and let the server cut on
    tokenizer: str = "cl100k"  # or a tokenizer.json, to count exactly
    prompts: dict[Role, str] = {}  # put before the texts of a role
    input_types: dict[Role, str | None] = {}  # instead of the provider's usual ones
    batch: Count | None = None  # texts per request
    tokens_per_request: Count | None = None
    concurrency: Count = 4  # requests at a time
    timeout: float = Field(default=120.0, gt=0)  # seconds without a byte
    usd_per_million_tokens: float | None = Field(default=None, ge=0)  # None: unknown; 0: one's own

    @property
    def encoder(self) -> str:
        """The registered encoder that asks it."""
        return "api"

    @model_validator(mode="after")
    def _send_no_less(self) -> Self:
        if self.send_tokens and self.max_tokens and self.send_tokens < self.max_tokens:
            raise ValueError("send_tokens is below max_tokens, so the model could not read them")
        return self


def own_model(entry: Any) -> Model | Endpoint:
    """A `Model` or `Endpoint` from itself or its dump; ValidationError if it is neither."""
    if isinstance(entry, Model | Endpoint):
        return entry
    kind: type[Model | Endpoint] = Endpoint if "provider" in entry else Model
    return kind.model_validate(entry)


def _kind_of_model(entry: Any) -> str:
    if isinstance(entry, str):
        return "Name"
    asked = isinstance(entry, Endpoint) or (isinstance(entry, dict) and "provider" in entry)
    return "Endpoint" if asked else "Model"


AnyModel = Annotated[
    Annotated[Name, Tag("Name")]
    | Annotated[Model, Tag("Model")]
    | Annotated[Endpoint, Tag("Endpoint")],
    Discriminator(_kind_of_model),
]


class Params(Section):
    """The whole of params.yaml."""

    seed: int = Field(ge=0)  # of samples, perturbations, intervals
    size: Name  # the name of this configuration, shown on the tables
    tasks: Tasks
    agreement: Agreement
    perturbations: dict[Name, dict[str, Any]]  # parameters per perturbation; {} = its defaults
    metrics: dict[Name, dict[str, Any]]  # a row label; `metric:` names another label's metric
    references: list[Name]  # metrics that know nothing of meaning
    models: list[AnyModel]
    budget_usd: float | None = Field(default=0.0, ge=0)  # of API models in all
    bootstrap: Bootstrap
    mirror: str | None = None  # of archives and the Hub: a folder (`make mirror`) or an address
    folders: dict[Name, str] = Field(default_factory=dict)  # of sets that are not public

    @field_validator("metrics")
    @classmethod
    def _metrics_exist(cls, value: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for label, options in value.items():
            _exists("metric", str(options.get("metric", label)))
        return value

    @field_validator("perturbations")
    @classmethod
    def _perturbations_exist(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in value:
            _exists("perturbation", name)
        return value

    @field_validator("references")
    @classmethod
    def _references_exist(cls, value: list[str]) -> list[str]:
        for name in value:
            _exists("metric", name)
        return value


def _exists(kind: str, name: str) -> None:
    try:
        registry.check(kind, name)
    except BenchError as error:
        raise ValueError(str(error)) from None


_KINDS: dict[str | int, type[Section] | None] = {"Name": None, "Model": Model, "Endpoint": Endpoint}


def load(config: dict[str, Any], where: str = "params.yaml") -> Params:
    """Params from a merged configuration; a BenchError lists every wrong key."""
    try:
        return Params.model_validate(config)
    except ValidationError as error:
        lines = [_explain(problem) for problem in error.errors()]
        raise BenchError(f"{where} is not valid:\n" + "\n".join(lines)) from None


def read(*paths: Path | str) -> Params:
    """Params from a file and its overlays, later ones winning key by key."""
    merged: dict[str, Any] = {}
    for path in paths:
        try:
            loaded = strict_yaml.load(Path(path).read_bytes()) or {}
        except yaml.YAMLError as error:
            raise BenchError(f"{path} is not readable YAML: {error}") from None
        if not isinstance(loaded, dict):
            raise BenchError(f"{path} must be a mapping of keys, not {type(loaded).__name__}")
        merged = merge(merged, loaded)
    return load(merged, " + ".join(map(str, paths)))


def merge(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Mappings merge key by key; any other value of the overlay replaces the base's."""
    result = dict(base)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merge(result[key], value) if both else value
    return result


def _explain(problem: Any) -> str:
    """One line: the key, what is wrong with its value, what is allowed."""
    path = [str(part) for part in problem["loc"] if part not in _KINDS]
    key = ".".join(path)
    if problem["type"] == "extra_forbidden":
        allowed = _keys_beside(problem["loc"])
        near = difflib.get_close_matches(path[-1], allowed, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"  {key}: no such key.{hint} Allowed here: {', '.join(allowed)}"
    if problem["type"] == "missing":
        return f"  {key}: is missing"
    hidden = isinstance(problem["input"], dict) or path[-1:] == ["key"]  # a pasted key is a secret
    value = "" if hidden else f" (got {problem['input']!r})"
    return f"  {key}: {problem['msg'].removeprefix('Value error, ')}{value}"


def _keys_beside(path: tuple[int | str, ...]) -> list[str]:
    section: Any = Params
    for part in path[:-1]:
        found = section.model_fields.get(part) if hasattr(section, "model_fields") else None
        section = _KINDS.get(str(part)) or (found.annotation if found else None)
    if not (isinstance(section, type) and issubclass(section, BaseModel)):
        return []
    return sorted(section.model_fields)
