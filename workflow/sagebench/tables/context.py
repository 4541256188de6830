"""What every table is made from: parameters, catalogue and data, and the systems in row order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sagebench import registry
from sagebench.corpora.catalogue import Catalogue
from sagebench.params import Endpoint, Model, Params

# Groups of rows, in order; the kind of a system is the section of params.yaml that names it.
KINDS = {
    "embedding": "Embedding models",
    "classical": "Text metrics",
    "reference": "Reference rows",
}
TASKS = {
    "human_preference": "Human preference",
    "robustness": "Robustness",
    "sensitivity": "Sensitivity",
    "clustering": "Clustering",
    "retrieval": "Retrieval",
}
AGREEMENT = ("agreement_robustness", "agreement_sensitivity")
# A row's label in the corpus column for a mean; no corpus can have this name.
ALL = "all corpora"


@dataclass(frozen=True)
class System:
    """A row of the tables. `note` is a footnote that belongs to the system itself."""

    name: str
    title: str
    kind: str
    note: str = ""

    @property
    def labels(self) -> dict[str, str]:
        """The columns of the tidy frame that describe the system."""
        return {"system": self.name, "title": self.title, "kind": self.kind}


@dataclass(frozen=True)
class Context:
    """`data` is the data folder; nothing else on disk is read."""

    params: Params
    catalogue: Catalogue
    data: Path

    @cached_property
    def systems(self) -> list[System]:
        """Every row: models, metrics, reference rows, each in the order of params.yaml."""
        models = [self._model(entry) for entry in self.params.models]
        metrics = [self._metric(label) for label in self.params.metrics]
        references = [
            System(name, str(registry.load("metric", name).title), "reference")
            for name in self.params.references
        ]
        return models + metrics + references

    @cached_property
    def system_notes(self) -> dict[str, str]:
        """The footnotes of those systems that have one."""
        return {system.name: system.note for system in self.systems if system.note}

    def pick(self, names: Iterable[str]) -> list[System]:
        """The systems called `names`, in that order; BenchError with the nearest names."""
        known = {system.name: system for system in self.systems}
        for name in (names := list(names)):
            if name not in known:
                raise registry.unknown("system", name, known)
        return [known[name] for name in names]

    def corpora(self, task: str) -> list[str]:
        """The corpora of a task, in the order of params.yaml."""
        return task_corpora(self.params, task)

    def models(self) -> list[System]:
        """The systems that have embeddings."""
        return [system for system in self.systems if system.kind == "embedding"]

    def corpus_title(self, name: str) -> str:
        """A corpus as the catalogue calls it."""
        return self.catalogue.corpus(name).title

    def _model(self, entry: str | Model | Endpoint) -> System:
        if not isinstance(entry, str):
            return System(entry.name, entry.name, "embedding")
        return System(entry, self.catalogue.model(entry).title, "embedding")

    def _metric(self, label: str) -> System:
        options = dict(self.params.metrics[label])
        base = str(options.pop("metric", label))
        metric = registry.load("metric", base)
        title = str(metric.title)
        if base != label:
            title += f" ({self._differences(base, options) or label})"
        return System(label, title, "classical", _note(metric.Parameters(**options)))

    def _differences(self, base: str, options: dict[str, Any]) -> str:
        """What a variant changes against the metric's own row."""
        own = self.params.metrics.get(base, {})
        changed = [f"{key}: {value}" for key, value in options.items() if own.get(key) != value]
        return ", ".join(changed)


def _note(parameters: Any) -> str:
    """What a reader must know of a metric's values, from its parameters; usually nothing."""
    if getattr(parameters, "normalise", None) == "batch":
        return "min–max normalised over its batch: a value depends on the batch's other texts"
    if limit := getattr(parameters, "max_tokens", None):
        return f"reads the first {limit} tokens of a text"
    return ""


def task_corpora(params: Params, task: str) -> list[str]:
    """The corpora of a task; an agreement task has the agreement section's."""
    if task in AGREEMENT:
        return list(params.agreement.corpora)
    section = getattr(params.tasks, task)
    if task == "human_preference":
        return [*section.preferences, *section.ratings]
    return list(section.corpora)
