"""The workflow's static view of params and catalogue: tasks, systems, and the files of each."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sagebench import layout, params, registry
from sagebench.corpora import catalogue
from sagebench.corpora.catalogue import RECORD, Catalogue, Hub, Own
from sagebench.embeddings import snapshots
from sagebench.errors import BenchError
from sagebench.params import Endpoint, Model, Needles, Params

TOKENIZER = "cl100k"  # sagebench.tokens.SOURCE, without importing the tokenizer
DATA = Path("data")
RESULTS = Path("results")


@dataclass(frozen=True)
class TaskPlan:
    """One column of folders: a task on its corpora (`kind` is the task's registered name)."""

    name: str
    kind: str
    section: dict[str, Any]
    corpora: list[str]
    size: int
    perturbations: dict[str, dict[str, Any] | None]  # name -> needles (None: a transform)
    systems: list[str]
    models: list[str]


class Plan:
    """Everything the rules ask for, computed from checked params; raises BenchError early."""

    def __init__(self, params: Params, catalogue: Catalogue) -> None:
        self.params = params
        self.catalogue = catalogue
        self._check()

    @classmethod
    def read(cls, *paths: Path | str) -> "Plan":
        """The plan of a parameter file and its overlays, with this project's catalogue."""
        return cls(params.read(*paths), catalogue.load())

    # --- systems -------------------------------------------------------------------------

    @cached_property
    def models(self) -> dict[str, str | Model | Endpoint]:
        """Model label -> catalogue name or the user's own entry."""
        return {m if isinstance(m, str) else m.name: m for m in self.params.models}

    def encoder(self, model: str) -> str:
        """The registered encoder of a model."""
        entry = self.models[model]
        return self.catalogue.model(entry).backend if isinstance(entry, str) else entry.encoder

    @cached_property
    def api_models(self) -> list[str]:
        """The models behind an API."""
        return [model for model in self.models if self.encoder(model) == "api"]

    @cached_property
    def budgeted(self) -> list[str]:
        """The models whose bill is checked before anything is sent."""
        return [] if self.params.budget_usd is None else self.api_models

    @cached_property
    def snapshots(self) -> dict[str, dict[str, Any]]:
        """Models to be fetched from the Hub: label -> name, repo, revision, backend."""
        found = {}
        for label, entry in self.models.items():
            if isinstance(entry, str):
                known = self.catalogue.model(entry)
                place = known.hub.model_dump() if known.hub else None
                backend = known.options.get("backend", "torch")
            elif isinstance(entry, Model) and snapshots.is_hub_id(entry.path):
                place, backend = {"repo": entry.path, "revision": entry.revision}, entry.backend
            else:
                place = None
            if place:
                found[label] = place | {"name": label, "backend": backend}
        return found

    @cached_property
    def metrics(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Row label -> (registered metric, its parameters); reference rows included."""
        found: dict[str, tuple[str, dict[str, Any]]] = {}
        # Sorted, for DVC takes a mapping of other order for the same.
        for label, options in sorted(self.params.metrics.items()):
            rest = {key: value for key, value in options.items() if key != "metric"}
            found[label] = (str(options.get("metric", label)), rest)
        for name in self.params.references:
            found[name] = (name, {"seed": self.params.seed} if name == "random" else {})
        return found

    @cached_property
    def systems(self) -> list[str]:
        """Every row of the tables: models, metrics, reference rows."""
        return [*self.models, *self.metrics]

    # --- tasks ---------------------------------------------------------------------------

    @cached_property
    def tasks(self) -> dict[str, TaskPlan]:
        """All tasks by name; the agreement check is two more columns of the same two tasks."""
        tasks, agreement = self.params.tasks, self.params.agreement
        preference = tasks.human_preference
        plans = [
            self._task("human_preference", preference.preferences + preference.ratings, 0, {}),
            self._task(
                "robustness", tasks.robustness.corpora, tasks.robustness.documents,
                self._transforms(tasks.robustness.superficial + tasks.robustness.semantic),
            ),
            self._task(
                "sensitivity", tasks.sensitivity.corpora, tasks.sensitivity.documents,
                self._needles(tasks.sensitivity),
            ),
            self._task("clustering", tasks.clustering.corpora, tasks.clustering.texts, {}),
            self._task(
                "retrieval", tasks.retrieval.corpora, tasks.retrieval.documents,
                self._transforms(tasks.retrieval.transforms) | self._needles(tasks.retrieval),
            ),
        ]  # fmt: skip
        plans += [
            TaskPlan(
                f"agreement_{plan.name}", plan.kind, plan.section, agreement.corpora,
                agreement.documents, plan.perturbations, agreement.systems, [],
            )
            for plan in plans[1:3]
        ]  # fmt: skip
        return {plan.name: plan for plan in plans}

    def _task(
        self, name: str, corpora: list[str], size: int, perturbations: dict[str, Any]
    ) -> TaskPlan:
        section = getattr(self.params.tasks, name).model_dump(mode="json")
        models = list(self.models)
        return TaskPlan(name, name, section, corpora, size, perturbations, self.systems, models)

    def _transforms(self, names: list[str]) -> dict[str, None]:
        return dict.fromkeys(names)

    def _needles(self, section: Any) -> dict[str, dict[str, Any]]:
        def dump(needles: Needles) -> dict[str, Any]:
            return needles.model_dump(mode="json")

        return {"lorem_insertion": dump(section.insertion), "span_removal": dump(section.removal)}

    # --- files ---------------------------------------------------------------------------

    def raw_files(self, source: str) -> list[Path]:
        """The files that fetching a source writes."""
        found = [layout.raw(DATA, source, name) for name in self.catalogue.source(source).files]
        return found + self._record(source)

    def _record(self, source: str) -> list[Path]:
        """What was picked of a source that is no pinned archive."""
        picked = isinstance(self.catalogue.source(source), Hub | Own)
        return [layout.raw(DATA, source, RECORD)] if picked else []

    def corpus_inputs(self, corpus: str) -> list[Path]:
        """The fetched files that a corpus is read from, and the records of what was picked."""
        inputs = self.catalogue.corpus(corpus).inputs
        sources = sorted({given.partition("/")[0] for given in inputs})
        records = [path for source in sources for path in self._record(source)]
        return [DATA / "raw" / given for given in inputs] + records

    def needs(self, kind: str, name: str) -> list[Path]:
        """The fetched files that a registered thing reads.

        Sizes are counted in tokens, so every perturbation reads the tokenizer too.
        """
        sources = set(registry.entries(kind)[registry.check(kind, name)].needs)
        if kind == "perturbation":
            sources.add(TOKENIZER)
        return [path for source in sorted(sources) for path in self.raw_files(source)]

    def role(self, corpus: str) -> str:
        """The role of a corpus of the catalogue."""
        return self.catalogue.corpus(corpus).role

    def corpora(self, role: str | None = None) -> list[str]:
        """The corpora that some task uses, sorted; of one role or of all."""
        used = {corpus for task in self.tasks.values() for corpus in task.corpora}
        return sorted(name for name in used if role in (None, self.role(name)))

    def draw(self, corpus: str) -> dict[str, Any] | None:
        """The largest sample that is taken of a corpus too big to keep; None: all is kept."""
        if not self.catalogue.corpus(corpus).stream:
            return None
        sizes = [task.size for task in self.tasks.values() if corpus in task.corpora]
        judged = self.role(corpus) == "retrieval" and self.params.tasks.retrieval.draw == "judged"
        return {
            "n": max(sizes), "seed": self.params.seed, "corpus": corpus, "judged": judged
        }  # fmt: skip

    def sample_files(self, task: str, corpus: str) -> list[Path]:
        """The sample of a corpus, with its queries and judgements if it has them."""
        path = layout.sample(DATA, task, corpus)
        return [path, *self._beside(path, corpus)]

    def corpus_files(self, corpus: str) -> list[Path]:
        """The normalised corpus, with its queries and judgements if it has them."""
        path = layout.corpus(DATA, self.role(corpus), corpus)
        return [path, *self._beside(path, corpus)]

    def _beside(self, path: Path, corpus: str) -> list[Path]:
        parts = ("queries", "qrels") if self.role(corpus) == "retrieval" else ()
        return [layout.beside(path, part) for part in parts]

    def perturbed_files(self, task: str, corpus: str) -> list[Path]:
        """Every perturbation of a sample."""
        names = self.tasks[task].perturbations
        return [layout.perturbed(DATA, task, corpus, name) for name in names]

    def task_inputs(self, task: str, corpus: str) -> list[Path]:
        """What the task shows to a system on one corpus."""
        return self.sample_files(task, corpus) + self.perturbed_files(task, corpus)

    def embed_inputs(self, task: str, model: str) -> list[Path]:
        """A task's texts over all its corpora, and the model's files.

        Under a budget every task's texts, for the whole bill must be known before the first cent.
        """
        return self.text_files(*self.embedded if model in self.budgeted else [task]) + (
            self.model_files(model)
        )

    @cached_property
    def embedded(self) -> list[str]:
        """The tasks in which models take part."""
        return [task.name for task in self.tasks.values() if task.name == task.kind]

    def text_files(self, *tasks: str) -> list[Path]:
        """What these tasks show to a system, over all their corpora."""
        return [
            path
            for task in tasks
            for corpus in self.tasks[task].corpora
            for path in self.task_inputs(task, corpus)
        ]

    def model_files(self, model: str) -> list[Path]:
        """The fetched files that a model's encoder reads; none for the user's own folder."""
        entry = self.models[model]
        files = [snapshots.record_path(DATA / "raw", model)] if model in self.snapshots else []
        if isinstance(entry, str):
            sources = self.catalogue.model(entry).sources
        else:
            sources = [TOKENIZER] if isinstance(entry, Endpoint) else []
        return files + [path for source in sources for path in self.raw_files(source)]

    def system_inputs(self, task: str, system: str) -> list[Path]:
        """What a system itself reads: a model's embeddings of the task, a metric's sources."""
        if system in self.models:
            return [layout.embeddings(DATA, task, system)]
        return self.needs("metric", self.metrics[system][0])

    def similarity_files(self, task: str, corpus: str) -> list[Path]:
        """One file per system."""
        return [layout.similarity(DATA, task, corpus, s) for s in self.tasks[task].systems]

    def score_files(self, part: str) -> list[Path]:
        """One part of the scores of every task and corpus."""
        return [
            layout.scores(DATA, task.name, corpus, part)
            for task in self.tasks.values()
            for corpus in task.corpora
        ]

    def sources(self) -> list[str]:
        """The sources to fetch: of the corpora in use, and of what later phases load."""
        inputs = [f for corpus in self.corpora() for f in self.catalogue.corpus(corpus).inputs]
        files = [str(path.relative_to(DATA / "raw")) for path in self.source_files()]
        return sorted({file.split("/")[0] for file in inputs + files} - {snapshots.FOLDER})

    def source_files(self) -> list[Path]:
        """The fetched files that later phases read: the models' and those that names need."""
        used = [("perturbation", n) for task in self.tasks.values() for n in task.perturbations]
        used += [("metric", metric) for metric, _ in self.metrics.values()]
        files = [path for kind, name in used for path in self.needs(kind, name)]
        files += [path for model in self.models for path in self.model_files(model)]
        return sorted(set(files))

    def all_embeddings(self) -> list[Path]:
        """Every embedding file of every task."""
        return [
            layout.embeddings(DATA, task.name, model)
            for task in self.tasks.values()
            for model in task.models
        ]

    def all_perturbed(self) -> list[Path]:
        """Every perturbed file of every task."""
        return [
            path
            for task in self.tasks.values()
            for corpus in task.corpora
            for path in self.perturbed_files(task.name, corpus)
        ]

    def cards(self) -> list[Path]:
        """The data cards of the corpora in use."""
        return [layout.card(DATA, self.role(name), name) for name in self.corpora()]

    # --- checks ----------------------------------------------------------------------------

    def _check(self) -> None:
        self._check_roles()
        self._check_systems()
        for task in self.tasks.values():
            for name in task.perturbations:
                registry.check("perturbation", name)

    def _check_roles(self) -> None:
        tasks, agreement = self.params.tasks, self.params.agreement
        documents = [*tasks.robustness.corpora, *tasks.sensitivity.corpora, *agreement.corpora]
        wanted = {
            "documents": documents,
            "preferences": tasks.human_preference.preferences,
            "ratings": tasks.human_preference.ratings,
            "labelled": tasks.clustering.corpora,
            "retrieval": tasks.retrieval.corpora,
        }
        for role, corpora in wanted.items():
            for name in corpora:
                if self.role(name) != role:
                    raise BenchError(
                        f"corpus {name!r} has role {self.role(name)!r} where {role!r} is needed"
                    )

    def _check_systems(self) -> None:
        if len(self.models) != len(self.params.models):
            raise BenchError("models: the same name is listed twice")
        for label, entry in self.models.items():
            if isinstance(entry, str):
                self.catalogue.model(entry)
            if label in self.metrics:
                raise BenchError(f"{label!r} is both a model and a metric: rename one")
        for name in self.params.agreement.systems:
            if name not in self.metrics:
                raise registry.unknown("metric in agreement.systems", name, self.metrics)
