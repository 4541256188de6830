"""The catalogue says what exists; whatever it says wrong is named before anything runs."""

import json
from pathlib import Path

import pytest
import yaml

from sagebench import frames, registry
from sagebench.corpora import catalogue
from sagebench.errors import BenchError

ROOT = Path(__file__).resolve().parents[1]
SOURCE = {
    "package": "demo",
    "version": "1.0",
    "archive": "demo-1.0.tar.gz",
    "sha256": "0" * 64,
    "licence": "CC0",
    "citation": "none",
    "files": {"a.json": {"member": "demo-1.0/a.json", "sha256": "1" * 64}},
}
CORPUS = {
    "role": "ratings",
    "title": "Demo",
    "domain": "news",
    "inputs": ["demo/a.json"],
    "parser": "scored_summaries",
    "licence": "CC0",
    "citation": "none",
}
MODEL = {
    "title": "Demo",
    "backend": "onnx",
    "sources": ["demo"],
    "options": {"weights": "demo/a.json", "pooling": ["mean"]},
    "licence": "CC0",
}


def load(folder: Path, **files: object) -> catalogue.Catalogue:
    """Write <name>.yaml for every keyword, then load."""
    for name, content in files.items():
        text = content if isinstance(content, str) else yaml.safe_dump(content)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return catalogue.load(folder)


def test_the_committed_catalogue_is_whole() -> None:
    known = catalogue.load()
    assert {corpus.role for corpus in known.corpora.values()} == set(frames.ROLES)
    parsers = {corpus.parser for corpus in known.corpora.values()}
    assert parsers == set(registry.entries("parser"))
    used = {given.partition("/")[0] for c in known.corpora.values() for given in c.inputs}
    used |= {source for model in known.models.values() for source in model.sources}
    for kind in ("perturbation", "metric", "encoder"):
        used |= {source for entry in registry.entries(kind).values() for source in entry.needs}
    assert used <= set(known.all_sources)


def test_the_json_schema_is_the_classes() -> None:
    """Regenerate with `python -m sagebench schema`."""
    text = (ROOT / "workflow/schemas/catalogue.schema.json").read_text(encoding="utf-8")
    assert json.loads(text) == catalogue.schema()


def test_three_files_make_one_catalogue(tmp_path: Path) -> None:
    known = load(
        tmp_path,
        corpora={"sources": {"demo": SOURCE}, "corpora": {"ours": CORPUS}},
        resources={"sources": {"words": SOURCE}},
        models={"models": {"tiny": MODEL}},
    )
    assert set(known.sources) == {"demo", "words"}
    assert known.corpus("ours").inputs == ["demo/a.json"]
    assert known.model("tiny").options == MODEL["options"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"parser": "scored_sumaries"}, "'ours'.*unknown parser 'scored_sumaries': did you mean"),
        ({"inputs": ["dmo/a.json"]}, "'ours'.*unknown source 'dmo': did you mean 'demo'"),
        ({"inputs": ["demo/b.json"]}, "'ours'.*unknown file of source 'demo' 'b.json': did you"),
        ({"inputs": []}, r"corpora\.ours\.inputs"),
        ({"role": "documnets"}, r"corpora\.ours\.role.*documnets"),
        ({"license": "MIT"}, r"corpora\.ours\.license.*[Ee]xtra"),
        ({"stands_for": {"dataset": "CNN/DM"}}, r"stands_for\.same"),
    ],
)
def test_a_wrong_corpus_is_named(tmp_path: Path, changed: dict, message: str) -> None:
    with pytest.raises(BenchError, match=message):
        load(tmp_path, corpora={"sources": {"demo": SOURCE}, "corpora": {"ours": CORPUS | changed}})


@pytest.mark.parametrize(
    "file",
    [
        {"sha256": "0" * 64},
        {"member": "a", "members": "a*", "sha256": "0" * 64},
        {"member": "../a", "sha256": "0" * 64},
        {"member": "/a", "sha256": "0" * 64},
        {"member": "a//b", "sha256": "0" * 64},
        {"members": "a\\*", "sha256": "0" * 64},
        {"member": "a", "sha256": "0" * 63},
        {"member": "a", "sha256": "G" * 64},
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, file: dict) -> None:
    with pytest.raises(BenchError, match=r"sources\.demo\.files\.x"):
        load(tmp_path, corpora={"sources": {"demo": SOURCE | {"files": {"x": file}}}})


@pytest.mark.parametrize("name", ["../x", "/x", "a/../x", "a//x", "", ".x", "a\\x", "x\n"])
def test_a_file_id_cannot_leave_its_folder(tmp_path: Path, name: str) -> None:
    entry = SOURCE | {"files": {name: {"member": "a", "sha256": "0" * 64}}}
    with pytest.raises(BenchError, match="not a valid catalogue"):
        load(tmp_path, corpora={"sources": {"demo": entry}})


@pytest.mark.parametrize("archive", ["../demo-1.0.whl", "demo.exe", "a/b.whl", ""])
def test_an_archive_is_a_plain_file_name(tmp_path: Path, archive: str) -> None:
    with pytest.raises(BenchError, match=r"sources\.demo\.archive"):
        load(tmp_path, corpora={"sources": {"demo": SOURCE | {"archive": archive}}})


def test_a_wrong_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        BenchError, match=r"model 'tiny'.*unknown encoder 'onx': did you mean 'onnx'"
    ):
        load(tmp_path, models={"models": {"tiny": MODEL | {"backend": "onx"}}})


def test_a_model_needs_its_source(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"model 'tiny'.*unknown source 'demo'"):
        load(tmp_path, models={"models": {"tiny": MODEL}})


def test_names_are_unique_within_and_across_files(tmp_path: Path) -> None:
    twice = "sources: {}\ncorpora: {}\nsources: {}\n"
    with pytest.raises(BenchError, match="'sources' appears twice"):
        load(tmp_path, corpora=twice)
    two = tmp_path / "two"
    two.mkdir()
    with pytest.raises(BenchError, match=r"resources\.yaml: sources 'demo' is already"):
        load(two, corpora={"sources": {"demo": SOURCE}}, resources={"sources": {"demo": SOURCE}})


@pytest.mark.parametrize(
    "text", ["sources: [", "- a\n- b\n", "x", "sources: !!python/object:os.x {}"]
)
def test_a_file_that_is_no_catalogue_says_so(tmp_path: Path, text: str) -> None:
    with pytest.raises(BenchError, match=r"corpora\.yaml"):
        load(tmp_path, corpora=text)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda known: known.source("blank"), "unknown source 'blank': did you mean.*'blanc'"),
        (lambda known: known.corpus("bcc"), "unknown corpus 'bcc': did you mean.*'bbc'"),
        (lambda known: known.model("minlm"), "unknown model 'minlm': did you mean.*'minilm'"),
    ],
)
def test_unknown_names_get_the_nearest(ask, message: str) -> None:
    with pytest.raises(BenchError, match=message):
        ask(catalogue.load())


HUB = {
    "hub": "demo/set",
    "revision": "a" * 40,
    "licence": "CC0",
    "citation": "none",
    "files": {"a.json": {"pick": ["a.json", "data/a-*.parquet"]}},
}
OWN = {key: HUB[key] for key in ("licence", "citation", "files")} | {"why": "On request only."}


def test_a_corpus_may_be_read_from_the_hub_or_a_folder(tmp_path: Path) -> None:
    for kind, entry in (("hub", HUB), ("own", OWN)):
        (tmp_path / kind).mkdir()
        known = load(tmp_path / kind, hub={kind: {"demo": entry}, "corpora": {"ours": CORPUS}})
        assert set(known.all_sources) == {"demo"}
        assert known.source("demo").licence == "CC0"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"revision": "main"}, r"hub\.demo\.revision.*main"),  # moves, and means nothing later
        ({"revision": "a" * 39}, r"hub\.demo\.revision"),
        ({"hub": "demo"}, r"hub\.demo\.hub"),
        ({"hub": "../x/y"}, r"hub\.demo\.hub"),
        ({"files": {"a.json": {"pick": []}}}, r"files\.a\.json\.pick"),
        ({"files": {"a.json": {"pick": ["../a"]}}}, "not a relative path"),
        ({"files": {"../a": {"pick": ["a"]}}}, "not a valid catalogue"),
        ({"trust_remote_code": True}, r"hub\.demo\.trust_remote_code.*[Ee]xtra"),
    ],
)
def test_a_wrong_hub_entry_is_named(tmp_path: Path, changed: dict, message: str) -> None:
    with pytest.raises(BenchError, match=message):
        load(tmp_path, hub={"hub": {"demo": HUB | changed}})


def test_a_name_stands_for_one_source(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="source 'demo' is there in two kinds"):
        load(tmp_path, hub={"hub": {"demo": HUB}}, corpora={"sources": {"demo": SOURCE}})
