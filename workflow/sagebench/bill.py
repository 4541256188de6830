"""What the paid models of a run would cost, counted before anything is sent."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sagebench import layout, registry
from sagebench.errors import BenchError

BUILD = "snakemake --cores all texts"


@dataclass(frozen=True)
class Line:
    """One model in one task: distinct texts, those stored already, tokens still to be sent.

    A text that two tasks share is counted in the first. `usd` is None if the price is unknown.
    Tokens are cl100k's, an estimate for other providers, unless the model's entry names its own.
    """

    model: str
    task: str
    texts: int
    stored: int
    tokens: int
    usd: float | None


def texts(data: Path, task: str, spec: dict[str, Any]) -> dict[str, set[str]]:
    """Role -> the distinct texts of a task (`spec`: kind, corpora, perturbations)."""
    instance = registry.load("task", spec["kind"])()
    found: dict[str, set[str]] = {}
    for corpus, role in spec["corpora"].items():
        inputs = layout.read_inputs(data, task, corpus, role, spec["perturbations"])
        for kind, group in instance.roles(inputs).items():
            found.setdefault(kind, set()).update(group)
    return found


def lines(spec: dict[str, Any], data: Path) -> Iterator[Line]:
    """The bill of `Jobs.bill`, model by model. BenchError if a task's texts are not there yet."""
    from sagebench.embeddings.base import build

    if missing := _missing(spec, data):
        raise BenchError(f"{missing} is not there yet: build the texts with `{BUILD}` (no cost)")
    groups = {task: texts(data, task, found) for task, found in spec["tasks"].items()}
    for label, known in spec["models"].items():
        reader, price = _Reader(build(known["model"], data / "raw")), known["price"]
        for task, by_role in groups.items():
            count, stored, tokens = reader.count(by_role)
            usd = None if price is None else tokens * price / 1e6
            yield Line(label, task, count, stored, tokens, usd)


class _Reader:
    """Counts for one model; a vector that two tasks need is counted in the first."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self._seen: set[bytes] = set()

    def count(self, by_role: dict[str, set[str]]) -> tuple[int, int, int]:
        """(distinct visible texts, how many are stored, tokens of the others)."""
        from sagebench.embeddings.keys import vector_key

        count = stored = tokens = 0
        for role, group in sorted(by_role.items()):
            reader = self._encoder.for_role(role)
            readings = [reader.read(text) for text in group]
            known = {vector_key(reader.fingerprint, r.visible): r for r in readings if r.visible}
            fresh = {key: reading for key, reading in known.items() if key not in self._seen}
            self._seen |= fresh.keys()
            there = _stored(reader, set(fresh))
            count, stored = count + len(fresh), stored + len(there)
            tokens += sum(reader.sent(r) for key, r in fresh.items() if key not in there)
        return count, stored, tokens


def check(spec: dict[str, Any], budget: float, data: Path) -> None:
    """BenchError if what is not stored yet costs more than the budget, or its price is unknown."""
    found = list(lines(spec, data))
    if unknown := sorted({line.model for line in found if line.usd is None and line.tokens}):
        raise BenchError(
            f"budget_usd is {budget:g}, but the price of {', '.join(unknown)} is unknown: give "
            "`usd_per_million_tokens` in the model's entry (0 for a server of your own)"
        )
    total = sum(line.usd or 0.0 for line in found)
    if total > budget:
        raise BenchError(
            f"this run would cost about {_price(total)} USD, more than budget_usd {budget:g}; "
            "nothing was sent. `make cost` shows for what: raise it, or take fewer texts or models"
        )


def render(found: list[Line]) -> str:
    """The bill as a plain table with a total."""
    if not found:
        return "No model of these parameters is behind an API: nothing to pay.\n"
    head = ("model", "task", "texts", "stored", "tokens to send", "USD")
    rows: list[tuple[str, ...]] = [
        (line.model, line.task, f"{line.texts:,}", f"{line.stored:,}", f"{line.tokens:,}",
         _price(line.usd))
        for line in found
    ]  # fmt: skip
    known = [line.usd for line in found if line.usd is not None]
    total = _price(sum(known)) + (" + unknown" if len(known) < len(found) else "")
    sums = [sum(getattr(line, part) for line in found) for part in ("texts", "stored", "tokens")]
    rows.append(("total", "", *(f"{number:,}" for number in sums), total))
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    text = ""
    for row in (head, *rows):
        cells = [
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        text += "  ".join(cells).rstrip() + "\n"
    return text


def _price(usd: float | None) -> str:
    return "price unknown" if usd is None else f"{usd:.4f}" if usd < 1 else f"{usd:,.2f}"


def _missing(spec: dict[str, Any], data: Path) -> Path | None:
    for task, found in spec["tasks"].items():
        for corpus in found["corpora"]:
            paths = [layout.sample(data, task, corpus)]
            paths += [layout.perturbed(data, task, corpus, name) for name in found["perturbations"]]
            for path in paths:
                if not path.exists():
                    return path
    return None


def _stored(encoder: Any, keys: set[bytes]) -> set[bytes]:
    """The keys whose vectors are in the model's store, which is not made if it is not there."""
    from sagebench.embeddings.store import Store, path_of

    if not path_of(encoder).exists():
        return set()
    with Store.of(encoder) as store:
        return set(store.get_many(keys))
