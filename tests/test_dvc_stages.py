"""dvc.yaml against the workflow: the same files, and for each stage the keys and code it reads."""

import copy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from workflow_support import ROOT, Project

from sagebench import dvc_stages, phases, provenance
from sagebench.corpora import catalogue
from sagebench.errors import BenchError
from sagebench.jobs import Jobs
from sagebench.params import load
from sagebench.phases import Stage, stages
from sagebench.plan import Plan

PARAMS: dict[str, Any] = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
DVC: dict[str, Any] = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))
CODE = "workflow/sagebench/"
# Stages that name more than they may read: whether one more name means one more source or corpus
# depends on the other names, so these two look (and then mostly find nothing to do).
CAREFUL = {"fetch", "corpus-documents"}


@pytest.fixture(scope="module")
def plan() -> Plan:
    return _plan(PARAMS)


def _plan(params: dict[str, Any]) -> Plan:
    return Plan(load(params), catalogue.load())


def test_every_file_that_a_rule_writes_lies_in_exactly_one_stage(tmp_path, plan):
    project = Project(tmp_path / "default")
    shutil.copy(ROOT / "params.yaml", project.folder)
    summary = project.snakemake("--summary", "--quiet", "host").splitlines()
    start = next(i for i, line in enumerate(summary) if line.startswith("output_file"))
    written = {line.split("\t")[0] for line in summary[start + 1 :] if "\t" in line}
    listed = [str(path) for stage in stages(plan) for path in stage.files]
    assert len(written) > 500
    assert sorted(written) == sorted(listed)  # no file twice either
    outs = {out: stage for stage, entry in DVC["stages"].items() for out in _outs(entry)}
    for stage in stages(plan):
        for path in stage.files:
            holders = {outs[str(p)] for p in (path, *path.parents) if str(p) in outs}
            assert holders == {stage.name}, path


def _outs(entry: dict[str, Any]) -> list[str]:
    outs = entry["outs"] + entry.get("metrics", [])
    return [out if isinstance(out, str) else next(iter(out)) for out in outs]


def test_which_stages_there_are_does_not_depend_on_the_parameters(plan):
    few = copy.deepcopy(PARAMS) | {"models": [], "references": []}
    assert [s.name for s in stages(_plan(few))] == [s.name for s in stages(plan)]
    assert [s.outs for s in stages(_plan(few))] == [s.outs for s in stages(plan)]
    names = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    assert list(names) == [stage.name for stage in stages(plan)]


# --- parameters ------------------------------------------------------------------------------


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path


OTHER = {
    "second": "half", "all_then_mean": "average", "paired": "replace", "batch": "self",
    "self": "batch", "default": "another", "bm25": "jaccard", "documents": "judged",
}  # fmt: skip


def _another(value: Any) -> Any:
    """A valid value that is not this one; of several names one less."""
    match value:
        case [only]:
            return [only, "news_articles"]
        case [*several]:
            return several[:-1]
        case None:
            return "a/folder"
        case str():
            return OTHER[value]
        case int():
            return value + 1
    return value * 0.75


def _changed(path: tuple[str, ...]) -> dict[str, Any]:
    params = copy.deepcopy(PARAMS)
    section = params
    for key in path[:-1]:
        section = section[key]
    section[path[-1]] = _another(section[path[-1]])
    return params


def _specs(plan: Plan) -> dict[str, dict[str, str]]:
    """Stage -> job -> what the rules hand to it."""
    jobs = Jobs(plan)
    return {stage.name: dict(_of_stage(plan, jobs, stage)) for stage in stages(plan)}


def _of_stage(plan: Plan, jobs: Jobs, stage: Stage) -> Iterator[tuple[str, str]]:
    part = stage.part or ""
    corpora = plan.tasks[part].corpora if part in plan.tasks else []
    match stage.phase:
        case "fetch":
            yield from ((source, jobs.source_spec(source)) for source in plan.sources())
        case "corpus":
            yield from ((corpus, jobs.corpus_spec(corpus)) for corpus in plan.corpora(part))
            yield from ((f"{c} kept", jobs.draw_spec(c)) for c in plan.corpora(part))
        case "perturb":
            yield from ((corpus, jobs.sample_spec(part, corpus)) for corpus in corpora)
            names = plan.tasks[part].perturbations
            yield from ((name, jobs.perturb_spec(part, name)) for name in names)
        case "embed":
            yield from ((m, jobs.embed_spec(part, m)) for m in plan.tasks[part].models)
        case "similarity":
            for corpus in corpora:
                for system in plan.tasks[part].systems:
                    yield f"{corpus}/{system}", jobs.similarity_spec(part, corpus, system)
        case "score":
            yield from ((corpus, jobs.score_spec(part, corpus)) for corpus in corpora)
        case "results":
            yield "tables", jobs.params_spec()
            yield "report", jobs.report_spec()


def _value(params: dict[str, Any], key: str) -> Any:
    for part in key.split("."):
        params = params[part]
    return params


@pytest.mark.parametrize("path", list(_leaves(PARAMS)), ids=".".join)
def test_a_key_is_named_by_the_stages_whose_jobs_read_it(path, plan):
    params = _changed(path)
    before, after = _specs(plan), _specs(_plan(params))
    reads = {stage for stage in before if before[stage] != after[stage]}
    named = {
        stage
        for stage, entry in DVC["stages"].items()
        if any(_value(PARAMS, key) != _value(params, key) for key in entry["params"])
    }
    assert reads <= named, "DVC would overlook the change"
    assert named - CAREFUL <= reads, "DVC would run a stage for nothing"


def test_what_is_kept_of_a_big_corpus_is_named_by_its_stage():
    """Its stage reads the seed and the sizes of the samples; the packaged ones' do not."""
    paper = Plan.read(ROOT / "params.yaml", ROOT / "config/paper.yaml")
    entries = dvc_stages.render(paper)["stages"]
    named = {name: set(entry["params"]) for name, entry in entries.items()}
    drawn = {"seed", "tasks.retrieval.documents", "tasks.retrieval.draw"}
    assert drawn <= named["corpus-retrieval"]
    assert {"seed", "tasks.sensitivity.documents"} <= named["corpus-documents"]
    assert "seed" not in named["corpus-labelled"]
    assert "seed" not in DVC["stages"]["corpus-retrieval"]["params"]


def test_one_more_metric_or_perturbation_is_a_change_for_dvc(plan):
    """Their options are named one by one where a stage reads some; the lists are there too."""
    params = copy.deepcopy(PARAMS)
    params["metrics"]["bm25_again"] = {"metric": "bm25"}
    before, after = _specs(plan), _specs(_plan(params))
    reads = {stage for stage in before if before[stage] != after[stage]}
    named = {name for name, entry in DVC["stages"].items() if "metrics" in entry["params"]}
    # A score takes its metrics from the folder of similarities, which DVC sees change.
    assert {stage for stage in reads if not stage.startswith("score")} <= named


def test_the_order_of_mappings_says_nothing_to_either_tool(plan):
    params = copy.deepcopy(PARAMS)
    for section in ("metrics", "perturbations"):
        params[section] = dict(reversed(params[section].items()))
    assert _specs(_plan(params)) == _specs(plan)


# --- code ------------------------------------------------------------------------------------


@pytest.fixture
def modules(plan, monkeypatch) -> dict[str, set[str]]:
    """Stage -> the files behind the code digests that the rules hand to its jobs."""
    monkeypatch.setattr(provenance, "code_digest", lambda *names: names)
    jobs = Jobs(plan)

    def of_stage(stage: Stage) -> Iterator[tuple[str, ...]]:
        task = plan.tasks.get(stage.part or "")
        match stage.phase:
            case "corpus":
                for corpus in plan.corpora(stage.part):
                    yield jobs.code("corpus", ("parser", plan.catalogue.corpus(corpus).parser))
            case "perturb":
                yield jobs.code("sample")
                for name in task.perturbations:
                    yield jobs.code("perturb", ("perturbation", name))
            case "embed":
                yield from (jobs.embed_code(task.name, model) for model in task.models)
            case "similarity":
                yield from (jobs.similarity_code(task.name, system) for system in task.systems)
            case "score":
                yield jobs.code("score", ("task", task.kind))
            case "results":
                yield jobs.table_code()
                yield jobs.report_code()
                yield from (jobs.code(command) for command in ("figure", "card", "metrics"))
            case phase:
                yield jobs.code(phase)

    return {
        stage.name: {
            f"{CODE}{provenance.module_file(module)}"
            for names in of_stage(stage)
            for module in provenance.imported_modules(*names)
        }
        for stage in stages(plan)
    }


def test_code_is_named_by_the_stages_whose_jobs_import_it(modules):
    for stage, files in modules.items():
        named = {dep for dep in DVC["stages"][stage]["deps"] if dep.startswith(CODE)}
        assert all((ROOT / dep).is_file() for dep in named)
        assert files <= named, stage
        # More is named where models and corpora come and go, so that all encoders and all parsers
        # of a role count; and by a task that perturbs nothing: the phase's command is the same.
        careful = stage.startswith(("perturb-", "embed-", "corpus-"))
        assert careful or named == files, stage


def test_perturbations_and_metrics_are_named_where_they_are_used():
    def naming(module: str) -> set[str]:
        found = DVC["stages"].items()
        return {name for name, entry in found if f"{CODE}{module}" in entry["deps"]} - {"results"}

    assert naming("perturbations/negation.py") == {
        "perturb-robustness", "perturb-retrieval", "perturb-agreement_robustness",
    }  # fmt: skip
    assert naming("perturbations/needles.py") == {
        "perturb-sensitivity", "perturb-retrieval", "perturb-agreement_sensitivity",
    }  # fmt: skip
    assert not any(
        name.startswith("similarity-agreement") for name in naming("metrics/bertscore.py")
    )


# --- the check before a stage runs -----------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "change", "phase", "task", "missing"),
    [
        ("robustness", {"superficial": ["wordnet_synonyms"]}, "perturb", "robustness",
         "workflow/sagebench/"),
        ("retrieval", {"transforms": ["wordnet_synonyms"]}, "similarity", "retrieval", None),
        ("robustness", {"superficial": ["numerization"]}, "perturb", "robustness", None),
        ("clustering", {"corpora": ["reuters_r52"]}, "corpus", "labelled", None),
    ],
)  # fmt: skip
def test_a_stage_refuses_to_run_where_dvc_would_overlook_changes(
    section, change, phase, task, missing
):
    params = copy.deepcopy(PARAMS)
    params["tasks"][section] |= change
    plan = _plan(params)
    stage = phases.stage(plan, phase, task)
    if missing is None:
        dvc_stages.check(plan, stage, path=ROOT / "dvc.yaml")
        return
    with pytest.raises(BenchError, match="run `python -m sagebench dvc`") as error:
        dvc_stages.check(plan, stage, path=ROOT / "dvc.yaml")
    assert missing in str(error.value)


def test_options_that_are_not_there_yet_count_through_the_section_above(plan):
    params = copy.deepcopy(PARAMS)
    del params["perturbations"]["numerization"]
    plan = _plan(params)
    keys = dvc_stages.render(plan)["stages"]["perturb-robustness"]["params"]
    assert "perturbations" in keys
    assert "perturbations.numerization" not in keys


def test_an_unknown_phase_lists_what_there_is(plan):
    with pytest.raises(BenchError, match="no phase 'perturb bbc'; there are fetch, corpus doc"):
        phases.stage(plan, "perturb", "bbc")


def test_dvc_yaml_is_the_generated_one(plan, tmp_path):
    dvc_stages.write(plan, tmp_path / "dvc.yaml")
    made = (tmp_path / "dvc.yaml").read_text(encoding="utf-8")
    assert made == Path(ROOT / "dvc.yaml").read_text(encoding="utf-8"), "run `… sagebench dvc`"
