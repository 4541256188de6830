"""The parameters and the code that single jobs depend on, as the rules hand them to Snakemake.

A job's `*_spec` is its whole parameter set as one JSON string: Snakemake remembers parameters as
a set of values, in which two that swap would not be noticed.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sagebench import provenance, registry
from sagebench.audit import software
from sagebench.corpora.catalogue import FOLDER
from sagebench.params import PLACES
from sagebench.plan import Plan
from sagebench.report import TEMPLATES

# The keys of a task's section that a job reads: a job is not rerun for the others.
SIMILARITY_KEYS = {"superficial", "semantic", "cutoff"}
SCORE_KEYS = {*SIMILARITY_KEYS, "layout", "ties", "reading", "insertion", "removal", "transforms"}
PRICE = "usd_per_million_tokens"


class Jobs:
    """Specs and code digests for the jobs of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def params_spec(self) -> str:
        """All parameters: a table's caption says what its numbers rest on.

        Where the same bytes come from does not count, nor what they may cost.
        """
        return _json(self._all_params())

    def _all_params(self) -> dict[str, Any]:
        return self.plan.params.model_dump(mode="json", exclude={*PLACES, "budget_usd"})

    def report_spec(self) -> str:
        """All parameters, and the pinned packages that the page lists."""
        pinned = software.pins(Path("requirements.lock"))
        return _json({"params": self._all_params(), "software": pinned})

    def source_spec(self, source: str) -> str:
        """A source's catalogue entry."""
        return _json(self.plan.catalogue.source(source).model_dump(mode="json"))

    def corpus_spec(self, corpus: str) -> str:
        """A corpus's catalogue entry."""
        return _json(self.plan.catalogue.corpus(corpus).model_dump(mode="json"))

    def draw_spec(self, corpus: str) -> str:
        """Which part of a corpus too big to keep is kept; empty: all."""
        return _json(self.plan.draw(corpus) or {})

    def sample_spec(self, task: str, corpus: str) -> str:
        """Which part of a corpus a task uses."""
        role, plan = self.plan.role(corpus), self.plan.tasks[task]
        spec: dict[str, Any] = {
            "role": role, "corpus": corpus, "n": plan.size, "seed": self.plan.params.seed
        }  # fmt: skip
        if role == "preferences":
            spec |= {"n": plan.section["pairs"], "min_gap": plan.section["min_gap"]}
        elif role == "ratings":
            spec["n"] = plan.section["items"]
        elif role == "retrieval":
            spec["draw"] = plan.section["draw"]
        return _json(spec)

    def perturb_spec(self, task: str, perturbation: str) -> str:
        """A perturbation, its parameters, its grid of sizes and positions."""
        return _json(
            {
                "name": perturbation,
                "params": self.plan.params.perturbations.get(perturbation, {}),
                "seed": self.plan.params.seed,
                "needles": self.plan.tasks[task].perturbations[perturbation],
            }
        )

    def embed_spec(self, task: str, model: str) -> str:
        """A model and where the task's texts lie."""
        spec = {"task": task, **self.texts(task), **self._model(model)}
        if model in self.plan.budgeted:
            spec["bill"] = self.bill(self.plan.budgeted)
            spec["budget_usd"] = self.plan.params.budget_usd
        return _json(spec)

    def texts(self, task: str) -> dict[str, Any]:
        """Where the texts of a task lie."""
        plan = self.plan.tasks[task]
        return {
            "kind": plan.kind,
            "corpora": {corpus: self.plan.role(corpus) for corpus in plan.corpora},
            "perturbations": list(plan.perturbations),
        }

    def bill(self, models: list[str]) -> dict[str, Any]:
        """What a bill is made of (`sagebench.bill`): models with their prices, tasks."""
        return {
            "models": {
                label: {"model": self._model(label)["model"], "price": self._price(label)}
                for label in models
            },
            "tasks": {task: self.texts(task) for task in self.plan.embedded},
        }

    def _model(self, label: str) -> dict[str, Any]:
        entry = self.plan.models[label]
        if isinstance(entry, str):
            # The command looks the entry up by name; it is here so that a change of it counts.
            known = self.plan.catalogue.model(entry).model_dump(
                mode="json", exclude={"price", "published"}
            )
            return {"model": entry, "entry": known}
        own = entry.model_dump(mode="json", exclude_defaults=True, exclude={PRICE})
        return {"model": own, "entry": {"backend": entry.encoder}}

    def _price(self, label: str) -> float | None:
        entry = self.plan.models[label]
        if not isinstance(entry, str):
            return getattr(entry, PRICE, None)
        price = self.plan.catalogue.model(entry).price
        return price.usd_per_million_tokens if price else None

    def similarity_spec(self, task: str, corpus: str, system: str) -> str:
        """A system, a corpus and the task's parameters that shape a comparison."""
        if system in self.plan.models:
            described: dict[str, Any] = {"kind": "model", "name": system}
        else:
            metric, options = self.plan.metrics[system]
            described = {"kind": "metric", "name": system, "metric": metric, "params": options}
        return _json(self._place(task, corpus, SIMILARITY_KEYS) | {"system": described})

    def score_spec(self, task: str, corpus: str) -> str:
        """The systems to score and the task's parameters."""
        place = self._place(task, corpus, SCORE_KEYS)
        place["settings"]["bootstrap"] = self.plan.params.bootstrap.model_dump(mode="json")
        return _json(place | {"systems": self.plan.tasks[task].systems})

    def _place(self, task: str, corpus: str, keys: set[str]) -> dict[str, Any]:
        plan = self.plan.tasks[task]
        return {
            "task": task,
            "kind": plan.kind,
            "corpus": corpus,
            "role": self.plan.role(corpus),
            "perturbations": list(plan.perturbations),
            "settings": {
                "task": {key: value for key, value in plan.section.items() if key in keys},
                "corpus": corpus,
                "seed": self.plan.params.seed,
            },
        }

    def code(self, command: str, *things: tuple[str, str]) -> str:
        """Digest of a command's modules and of the registered things (kind, name) it loads."""
        loaded = [
            registry.entries(kind)[registry.check(kind, name)].module for kind, name in things
        ]
        return provenance.code_digest(f"sagebench.commands.{command}", *loaded)

    def table_code(self) -> str:
        """Code behind a table; titles and footnotes come from the metrics' classes."""
        metrics = sorted({name for name, _ in self.plan.metrics.values()})
        return self.code("table", *(("metric", name) for name in metrics))

    def report_code(self) -> str:
        """Code behind the report: it follows what metrics and perturbations read."""
        things = {("metric", name) for name, _ in self.plan.metrics.values()}
        for task in self.plan.tasks.values():
            things |= {("perturbation", name) for name in task.perturbations}
        return self.code("report", *sorted(things))

    def catalogue_digest(self) -> str:
        """Digest of the catalogue's files: titles, the paper's numbers."""
        return _digest(FOLDER.iterdir())

    def template_digest(self) -> str:
        """Digest of the report's template and captions."""
        return _digest(path for path in TEMPLATES.rglob("*") if path.is_file())

    def similarity_code(self, task: str, system: str) -> str:
        """Code behind a similarity: the task and, for a metric, the metric."""
        things = [("task", self.plan.tasks[task].kind)]
        if system in self.plan.metrics:
            things.append(("metric", self.plan.metrics[system][0]))
        return self.code("similarity", *things)

    def embed_code(self, task: str, model: str) -> str:
        """Code behind an embedding: the task's choice of texts and the model's encoder."""
        kind, encoder = self.plan.tasks[task].kind, self.plan.encoder(model)
        return self.code("embed", ("task", kind), ("encoder", encoder))

    def snapshot_spec(self, model: str) -> str:
        """Which files of which repository of the Hub a model needs."""
        return _json(self.plan.snapshots[model])


def _digest(paths: Iterable[Path]) -> str:
    digests = [provenance.file_sha256(path) for path in sorted(paths)]
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


def _json(value: object) -> str:
    """A spec's JSON, in which no text looks like one of Snakemake's wildcards.

    Snakemake would put an output's wildcards for a `{name}` in a note, a prompt or a pattern.
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return re.sub(r'\{(?=[^"}])', r"\\u007b", text)  # JSON's own are followed by " or }
