"""The floor the other rooms stand on: names, randomness, digests, frames, parameters."""

import copy
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest
import yaml

from sagebench import frames, params, provenance, registry, rng
from sagebench.errors import BenchError

ROOT = Path(__file__).resolve().parents[1]
PARAMS = ROOT / "params.yaml"


# --- randomness ------------------------------------------------------------------------------


def test_seed_depends_on_every_part_and_on_their_borders():
    seeds = {
        rng.seed_for(1, "a", "bc"),
        rng.seed_for(1, "ab", "c"),
        rng.seed_for(2, "a", "bc"),
        rng.seed_for(1, "a", "bc", 0),
    }
    assert len(seeds) == 4


def test_seed_is_the_same_in_another_process_with_another_hash_seed():
    code = "from sagebench.rng import seed_for; print(seed_for(7, 'é', {'b': 1, 'a': 2}))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONPATH": str(ROOT / "workflow"), "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1")
    }  # fmt: skip
    assert found == {f"{rng.seed_for(7, 'é', {'a': 2, 'b': 1})}\n"}


def test_a_smaller_sample_is_a_prefix_and_ignores_other_ids():
    ids = [f"doc{i}" for i in range(50)]
    order = [ids[i] for i in rng.hash_order(ids, 3, "x")]
    fewer = [i for i in ids if i not in order[10:20]]
    assert [fewer[i] for i in rng.hash_order(fewer, 3, "x")] == order[:10] + order[20:]
    assert order != [ids[i] for i in rng.hash_order(ids, 4, "x")]


# --- registry --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(registry.PACKAGES))
def test_everything_that_is_found_in_the_source_can_be_loaded(kind):
    assert registry.entries(kind)
    for name in registry.entries(kind):
        assert registry.load(kind, name).__doc__


def test_unknown_name_lists_the_nearest():
    with pytest.raises(BenchError, match="did you mean 'levenshtein'"):
        registry.check("metric", "levenstein")


# --- code digests ------------------------------------------------------------------------------


def test_digest_follows_imports_inside_functions_and_ignores_comments(tmp_path, monkeypatch):
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("def f():\n    from pkg import b\n    return b.x\n")
    (package / "b.py").write_text("x = 1\n")
    (package / "c.py").write_text("y = 1\n")

    def digest() -> str:
        provenance._direct_imports.cache_clear()
        provenance._source_digest.cache_clear()
        return provenance.code_digest("pkg.a")

    monkeypatch.setattr(provenance, "_ROOT", package)
    assert provenance.imported_modules("pkg.a") == ["pkg", "pkg.a", "pkg.b"]
    first = digest()
    (package / "b.py").write_text("# why\n\nx = 1\n")
    (package / "c.py").write_text("y = 2\n")
    assert digest() == first
    (package / "b.py").write_text("x = 2\n")
    assert digest() != first
    provenance._direct_imports.cache_clear()
    provenance._source_digest.cache_clear()


# --- frames ------------------------------------------------------------------------------------

LABELLED = pl.DataFrame({"doc_id": ["a", "b"], "text": ["x", "y"], "label": ["1", "2"]})


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (LABELLED.with_columns(doc_id=pl.lit("a")), "repeats"),
        (LABELLED.with_columns(text=pl.lit(None, pl.String)), "missing values"),
        (LABELLED.with_columns(label=pl.lit(1)), "type"),
        (LABELLED.drop("label"), "columns are"),
    ],
)
def test_a_frame_that_does_not_fit_is_refused_by_name(frame, message):
    with pytest.raises(BenchError, match=message):
        frames.LABELLED.check(frame)


def test_nan_and_values_outside_their_limits_are_refused():
    schema = frames.Schema("t", {"x": frames.Column(pl.Float64, low=0, high=1)})
    with pytest.raises(BenchError, match="NaN"):
        schema.check(pl.DataFrame({"x": [0.5, float("nan")]}))
    with pytest.raises(BenchError, match=r"x = 1.5 is outside its limit 1"):
        schema.check(pl.DataFrame({"x": [0.5, 1.5]}))


def test_equal_frames_are_equal_bytes_and_a_bad_file_says_so(tmp_path):
    a, b = tmp_path / "a.parquet", tmp_path / "b.parquet"
    frames.write(LABELLED, a, frames.LABELLED)
    frames.write(pl.concat([LABELLED[:1], LABELLED[1:]]), b, frames.LABELLED)
    assert a.read_bytes() == b.read_bytes()
    assert frames.read(a, frames.LABELLED).equals(LABELLED)
    a.write_bytes(b.read_bytes()[:40])
    with pytest.raises(BenchError, match="cannot be read"):
        frames.read(a, frames.LABELLED)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.parquet", "b.parquet"]


# --- parameters ----------------------------------------------------------------------------------


def _with(path: str, value: object) -> dict:
    config = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    section = config
    *parents, last = path.split(".")
    for part in parents:
        section = section[part]
    section[last] = value
    return config


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("tasks.retrieval.layot", "paired", r"retrieval.layot: no such key. Did you mean 'layout'"),
        ("tasks.retrieval.layout", "pared", r"tasks.retrieval.layout: .*'paired'.*\(got 'pared'\)"),
        ("tasks.robustness.documents", 0, r"robustness.documents: .*greater than or equal to 1"),
        ("tasks.sensitivity.insertion.sizes", [1.5], r"sizes.0: .*less than or equal to 1"),
        ("metrics.rogue", {}, r"unknown metric 'rogue': did you mean 'rouge'"),
        ("seed", "x", r"seed: .*integer"),
    ],
)  # fmt: skip
def test_wrong_parameters_name_the_key_the_value_and_what_is_allowed(key, value, message):
    with pytest.raises(BenchError, match=message):
        params.load(_with(key, value))


def test_every_overlay_is_valid_and_merges_key_by_key():
    for overlay in sorted((ROOT / "config").glob("*.yaml")):
        assert params.read(PARAMS, overlay).size == overlay.stem
    merged = params.merge({"a": {"b": 1, "c": [1]}}, {"a": {"c": [2]}})
    assert merged == {"a": {"b": 1, "c": [2]}}


def test_json_schema_agrees_with_the_committed_one(tmp_path):
    from sagebench.__main__ import main

    assert main(["schema", "--folder", str(tmp_path)]) == 0
    for made in tmp_path.iterdir():
        committed = ROOT / "workflow" / "schemas" / made.name
        assert made.read_text() == committed.read_text(), "run `sagebench schema`"


def test_params_in_yaml_are_not_changed_by_loading():
    config = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    before = copy.deepcopy(config)
    params.load(config)
    assert config == before


# --- versions and command line ---------------------------------------------------------------


def test_the_three_lists_of_versions_agree():
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    locked = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        requirement = Requirement(line)
        (pin,) = requirement.specifier
        assert pin.operator == "=="
        locked[canonicalize_name(requirement.name)] = pin.version
    for text in wanted:
        requirement = Requirement(text)
        version = locked[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), text
    assert locked["torch"] == "2.13.0"
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    python = next(d for d in environment["dependencies"] if str(d).startswith("python="))
    assert python.removeprefix("python=") in project["requires-python"]
    assert environment["dependencies"][-1] == {"pip": ["-r requirements.lock", "-e ."]}


def test_the_installed_versions_are_the_locked_ones():
    from importlib.metadata import version

    for line in (ROOT / "requirements.lock").read_text().splitlines():
        name, _, pin = line.partition("==")
        assert version(name).split("+")[0] == pin, f"{name}: remake .venv with `make test`"


def test_command_line_explains_itself_and_reports_errors_without_traceback(tmp_path):
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sagebench", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)

    assert "perturb" in run("--help").stdout
    assert "example:" in run("perturb", "--help").stdout
    log = tmp_path / "log.txt"
    wrong = run("corpus", "bbcc", str(tmp_path / "x.parquet"), "--log", str(log))
    assert wrong.returncode == 2
    assert "unknown corpus 'bbcc': did you mean 'bbc'" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert "unknown corpus" in log.read_text()


# --- a Python without the libraries ------------------------------------------------------------


def test_a_python_without_the_libraries_is_named_with_the_way_out(tmp_path):
    """As under `.venv/bin/dvc repro` where `.venv` is not active: stages say `python`."""
    bare = tmp_path / "bin/python"
    made = [sys.executable, "-m", "venv", "--without-pip", str(tmp_path)]
    subprocess.run(made, check=True)
    done = subprocess.run(
        [str(bare), "-m", "sagebench", "phase", "score", "human_preference"],
        env={"PYTHONPATH": str(ROOT / "workflow")}, cwd=ROOT, text=True, check=False,
        capture_output=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert re.fullmatch(rf"error: \w+ is not installed for {bare}: activate .*\n", done.stderr)
