"""What the jobs of each stage of dvc.yaml read: files, keys of params.yaml, modules.

Fetched files are pinned by the catalogue, hash by hash, so that stages depend on the catalogue
and not on data/raw: one more model is no reason to perturb anything again. Only the tokenizer's
folder, which is always there, stands for "after fetch".
"""

from sagebench import provenance, registry
from sagebench.embeddings.snapshots import FOLDER
from sagebench.jobs import SCORE_KEYS, SIMILARITY_KEYS
from sagebench.params import PLACES
from sagebench.phases import PHASES, Stage, embeds
from sagebench.plan import DATA, TOKENIZER, Plan, TaskPlan

_CODE = "workflow/sagebench"
_CATALOGUE = "workflow/catalogue"
_AFTER_FETCH = (DATA / "raw" / TOKENIZER).as_posix()
_REPORT = ["workflow/report", "requirements.lock"]  # captions, template; the versions it lists
_SYSTEMS = ["metrics", "references", "models"]
# The keys of a task's section that say which documents it uses, and how they are perturbed.
_SAMPLE_KEYS = {"documents", "texts", "pairs", "items", "min_gap", "draw"}
_TRANSFORM_KEYS = {"superficial", "semantic", "transforms"}
_NEEDLE_KEYS = {"insertion", "removal"}
_CORPORA = {
    "documents": ["tasks.robustness.corpora", "tasks.sensitivity.corpora", "agreement.corpora"],
    "preferences": ["tasks.human_preference.preferences"],
    "ratings": ["tasks.human_preference.ratings"],
    "labelled": ["tasks.clustering.corpora"],
    "retrieval": ["tasks.retrieval.corpora"],
}


def files(plan: Plan, stage: Stage) -> list[str]:
    """Folders of other stages, and the catalogue."""
    task = _task(plan, stage)
    if stage.phase == "fetch":
        return [_CATALOGUE]
    if stage.phase == "corpus":
        return [_AFTER_FETCH, f"{_CATALOGUE}/corpora.yaml", f"{_CATALOGUE}/hub.yaml"]
    if task is None:
        return [*_results_data(plan), _CATALOGUE, *_REPORT]
    roles = {plan.role(corpus) for corpus in task.corpora}
    texts = _texts(task)
    vectors = [f"data/embeddings/{task.name}"] * embeds(task)
    models = [f"{_CATALOGUE}/{name}.yaml" for name in ("models", "open_models")]
    resources = [_AFTER_FETCH, f"{_CATALOGUE}/resources.yaml"]
    return {
        "perturb": [f"data/corpora/{role}" for role in roles] + resources * _perturbs(task),
        "embed": texts + models + _more(plan),
        "similarity": texts + vectors + resources + models,
        "score": [*texts, f"data/similarity/{task.name}"],
    }[stage.phase]


def params(plan: Plan, stage: Stage) -> list[str]:
    """The keys of params.yaml that a stage's jobs read."""
    task = _task(plan, stage)
    if stage.phase == "fetch":
        names = [key for each in plan.tasks.values() for key in _section(each, _TRANSFORM_KEYS)]
        return [key for keys in _CORPORA.values() for key in keys] + names + _SYSTEMS
    if stage.phase == "corpus":
        return _CORPORA[stage.part or ""] + _drawn(plan, stage.part or "")
    if task is None:
        return [
            name for name in type(plan.params).model_fields if name not in (*PLACES, "budget_usd")
        ]
    where = _corpora(plan, task)
    names = [*where, *_section(task, _TRANSFORM_KEYS)]
    return {
        "perturb": ["seed", *names, *_how_many(task), *_section(task, _NEEDLE_KEYS),
                    *(_options(plan, name) for name in task.perturbations)],
        "embed": ["models", *names, *["budget_usd"] * bool(plan.budgeted)],
        "similarity": ["seed", *names, *_systems(plan, task), *_section(task, SIMILARITY_KEYS)],
        "score": ["seed", "bootstrap", *names, *_rows(task), *_section(task, SCORE_KEYS)],
    }[stage.phase]  # fmt: skip


def code(plan: Plan, stage: Stage) -> list[str]:
    """The modules that a stage's commands import, and those that they load by name."""
    unused = () if plan.snapshots else ("snapshot",)
    commands = [command for command in PHASES[stage.phase] if command not in unused]
    modules = [f"sagebench.commands.{command}" for command in commands]
    for kind, names in _loaded(plan, stage).items():
        entries = registry.entries(kind)
        modules += [entries[registry.check(kind, name)].module for name in names]
    found = map(provenance.module_file, provenance.imported_modules(*modules))
    return sorted(f"{_CODE}/{path.as_posix()}" for path in found)


def _task(plan: Plan, stage: Stage) -> TaskPlan | None:
    return None if stage.phase == "corpus" else plan.tasks.get(stage.part or "")


def _results_data(plan: Plan) -> list[str]:
    """What tables are made from, and what the report's traces lead through."""
    found = [f"data/corpora/{role}" for role in _CORPORA]
    for task in plan.tasks.values():
        found += [f"data/{kind}/{task.name}" for kind in ("scores", "similarity", "samples")]
        found += [f"data/embeddings/{task.name}"] * embeds(task)
        found += [f"data/perturbed/{task.name}"] * _perturbs(task)
    return found


def _drawn(plan: Plan, role: str) -> list[str]:
    """Of corpora too big to keep, what the tasks draw of them is read."""
    streamed = {corpus for corpus in plan.corpora(role) if plan.draw(corpus)}
    tasks = [task for task in plan.tasks.values() if streamed & set(task.corpora)]
    keys = [key for task in tasks for key in _how_many(task)]
    return ["seed", *keys] if streamed else []


def _perturbs(task: TaskPlan) -> bool:
    return bool(task.perturbations)


def _texts(task: TaskPlan) -> list[str]:
    return [f"data/samples/{task.name}"] + [f"data/perturbed/{task.name}"] * _perturbs(task)


def _more(plan: Plan) -> list[str]:
    """Records of the Hub's models, which may follow a branch; under a budget, all tasks' texts."""
    fetched = [(DATA / "raw" / FOLDER).as_posix()] * bool(plan.snapshots)
    billed = plan.embedded if plan.budgeted else []
    return fetched + [path for name in billed for path in _texts(plan.tasks[name])]


def _options(plan: Plan, perturbation: str) -> str:
    """The key of a perturbation's parameters, or the one above: DVC refuses one that is absent."""
    known = perturbation in plan.params.perturbations
    return f"perturbations.{perturbation}" if known else "perturbations"


def _section(task: TaskPlan, keys: set[str]) -> list[str]:
    return [f"tasks.{task.kind}.{key}" for key in task.section if key in keys]


def _corpora(plan: Plan, task: TaskPlan) -> list[str]:
    if not embeds(task):
        return ["agreement.corpora"]
    roles = {plan.role(corpus) for corpus in task.corpora}
    keys = [key for role in roles for key in _CORPORA[role]]
    return [key for key in keys if key.startswith(f"tasks.{task.kind}.")]


def _how_many(task: TaskPlan) -> list[str]:
    return _section(task, _SAMPLE_KEYS) if embeds(task) else ["agreement.documents"]


def _systems(plan: Plan, task: TaskPlan) -> list[str]:
    """Systems with their parameters: what a similarity reads."""
    if embeds(task):
        return _SYSTEMS
    labels = [name for name in task.systems if name in plan.params.metrics]
    return ["agreement.systems", *(f"metrics.{label}" for label in labels)]


def _rows(task: TaskPlan) -> list[str]:
    """Systems by name: what a score reads. Which metrics there are shows in its input folder."""
    return ["models", "references"] if embeds(task) else ["agreement.systems"]


def _loaded(plan: Plan, stage: Stage) -> dict[str, set[str]]:
    """Kind -> registered names. Models and corpora are meant to be exchanged freely, so that all
    encoders, and all parsers of a role, count.
    """
    task = _task(plan, stage)
    metrics = {plan.metrics[name][0] for name in (task.systems if task else plan.metrics)
               if name in plan.metrics}  # fmt: skip
    kind = {"task": {task.kind}} if task else {}
    corpora = plan.catalogue.corpora.values()
    return {
        "fetch": {},
        "corpus": {"parser": {c.parser for c in corpora if c.role == stage.part}},
        "perturb": {"perturbation": set(task.perturbations) if task else set()},
        "embed": kind | {"encoder": set(registry.entries("encoder"))},
        "similarity": kind | {"metric": metrics},
        "score": kind,
        "results": {
            "metric": metrics,
            "perturbation": {name for each in plan.tasks.values() for name in each.perturbations},
        },
    }[stage.phase]
