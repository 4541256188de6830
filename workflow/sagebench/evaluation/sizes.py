"""Parameters of an evaluation: a size of the project or a file of the user's, and the systems."""

from collections.abc import Sequence
from pathlib import Path

from sagebench import params, registry
from sagebench.corpora import catalogue
from sagebench.errors import BenchError
from sagebench.params import Params
from sagebench.tables.context import Context, System

ROOT = Path(__file__).resolve().parents[3]
DEFAULT = "default"


def names() -> list[str]:
    """The sizes there are: the default, and one per file of config/."""
    return [DEFAULT, *sorted(path.stem for path in (ROOT / "config").glob("*.yaml"))]


def packaged(size: str | Path) -> list[str]:
    """The systems that need no more than their name: models, rows of the tables, metrics."""
    rows = params.read(*_files(size)).metrics
    return sorted({*catalogue.load().models, *rows, *registry.entries("metric")})


def read(size: str | Path, beside: Sequence[str] = ()) -> Params:
    """The parameters of `size` with the systems `beside` and no others.

    `size` is one of `names`, or a YAML file whose keys replace those of params.yaml. A system is
    a model of the catalogue, a row of the tables or any registered metric; BenchError with the
    nearest names if there is none.
    """
    base, models = params.read(*_files(size)), catalogue.load().models
    for name in beside:
        if name not in (known := packaged(size)):
            raise registry.unknown("system", name, known)
    wanted = [name for name in dict.fromkeys(beside) if name not in models]
    chosen = {
        "models": [name for name in dict.fromkeys(beside) if name in models],
        "metrics": {name: base.metrics.get(name, {}) for name in wanted if not _reference(name)},
        "references": [name for name in wanted if _reference(name)],
    }
    # No list of params.yaml may be empty; here the check against the paper is not made.
    agreement = base.agreement.model_copy(update={"systems": []})
    checked = params.load(base.model_dump() | chosen, str(size))
    return checked.model_copy(update={"agreement": agreement})


def rows(size: str | Path, labels: Sequence[str]) -> list[System]:
    """The table rows of the packaged systems `labels`, titled as in the whole benchmark."""
    chosen = read(size, labels)
    # A variant's title says what it changes against its base, which need not be among `labels`.
    whole = chosen.model_copy(
        update={"metrics": params.read(*_files(size)).metrics | chosen.metrics}
    )
    return Context(whole, catalogue.load(), Path()).pick(labels)


def _reference(name: str) -> bool:
    """Whether a row is one of those that know nothing of meaning."""
    return name in registry.entries("metric") and registry.load("metric", name).reference


def _files(size: str | Path) -> list[Path]:
    first = ROOT / "params.yaml"
    if not first.is_file():
        raise BenchError(
            f"{first} is missing: the library reads the parameters and the catalogue of a checkout "
            "of the project; install it with `pip install -e .` from there"
        )
    if str(size) in names():
        return [first] if size == DEFAULT else [first, ROOT / "config" / f"{size}.yaml"]
    if Path(size).is_file():
        return [first, Path(size)]
    if Path(size).suffix:
        raise BenchError(f"parameter file {str(size)!r} does not exist")
    raise registry.unknown("size", str(size), names())
