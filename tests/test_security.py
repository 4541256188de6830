"""What stands between foreign names and this machine: shell, file system, interpreter, messages."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sagebench import jobs, params, redistribution, registry
from sagebench.corpora import archive, catalogue
from sagebench.corpora.hub import client
from sagebench.errors import BenchError
from sagebench.plan import Plan

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "workflow" / "sagebench").rglob("*.py"))
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]
HOSTILE = [
    "a; touch marker", "$(touch marker)", "`touch marker`", "a'b", 'a"b', "a b", "../a", "/etc/a",
    "a/b", "a\\b", "-rf", "a\n", "a\0", "{input}", "é", "A", "", ".", "a|b", "*",
]  # fmt: skip
# What runs code that a text, a name or a file names. Opening a pickle has one place, which admits
# plain data only.
FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "pickle.load", "pickle.loads",
    "pickle.Unpickler", "marshal.loads", "shelve.open", "joblib.load", "torch.load", "yaml.load",
    "yaml.unsafe_load", "yaml.full_load", "pd.read_pickle", "pandas.read_pickle",
}  # fmt: skip


def _calls(path: Path) -> list[ast.Call]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _forbidden(call: ast.Call) -> str | None:
    name, words = ast.unparse(call.func), {word.arg: word.value for word in call.keywords}
    if name in FORBIDDEN:
        return name
    for word, harmless in (("shell", False), ("allow_pickle", False), ("trust_remote_code", None)):
        value = words.get(word)
        if isinstance(value, ast.Constant) and value.value not in (False, harmless):
            return f"{name}({word}={value.value})"
    return None


def test_no_code_is_run_that_data_names() -> None:
    found = [
        f"{path.name}:{call.lineno} {what}"
        for path in SOURCES
        for call in _calls(path)
        if (what := _forbidden(call))
    ]
    assert found == []


def test_the_search_finds_what_it_is_for() -> None:
    """The test above cannot pass by looking at nothing."""
    assert len(SOURCES) > 100
    bad = (
        "eval(x)", "os.system(x)", "run(x, shell=True)", "np.load(f, allow_pickle=True)",
        "f(trust_remote_code=True)", "pickle.load(f)",
    )  # fmt: skip
    assert all(_forbidden(ast.parse(code).body[0].value) for code in bad)  # type: ignore[attr-defined]
    assert not _forbidden(ast.parse("np.load(f, allow_pickle=False)").body[0].value)  # type: ignore[attr-defined]


def test_nlpaug_and_transformers_never_get_a_foreign_pickle() -> None:
    """Whatever of the catalogue is a pickle is opened by the reader of plain data."""
    names = {
        file_id
        for source in catalogue.load().all_sources.values()
        for file_id in source.files
        if re.search(r"\.(pickle|pkl|pt|pth|joblib)$", file_id)
    }
    assert names == {"trontagger-0.1.0.pickle"}


class TestNames:
    """Names go into paths and command lines, so they are letters, digits and underscores."""

    @pytest.mark.parametrize("name", HOSTILE)
    @pytest.mark.parametrize(
        "change",
        [
            lambda config, name: config["tasks"]["robustness"].update(corpora=[name]),
            lambda config, name: config["tasks"]["robustness"].update(superficial=[name]),
            lambda config, name: config["tasks"]["retrieval"].update(transforms=[name]),
            lambda config, name: config.update(models=[name]),
            lambda config, name: config.update(models=[{"name": name, "path": "x"}]),
            lambda config, name: config.update(metrics={name: {"metric": "rouge"}}),
            lambda config, name: config.update(perturbations={name: {}}),
            lambda config, name: config.update(references=[name]),
            lambda config, name: config.update(size=name),
            lambda config, name: config.update(folders={name: "x"}),
            lambda config, name: config["agreement"].update(systems=[name]),
        ],
        ids=["corpus", "transform", "retrieval", "model", "own model", "metric", "perturbation",
             "reference", "size", "folder", "agreement"],
    )  # fmt: skip
    def test_a_hostile_name_in_params_is_refused(self, change, name: str) -> None:
        config = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
        change(config, name)
        with pytest.raises(BenchError):
            params.load(config)

    @given(st.text(min_size=1, max_size=8))
    def test_what_is_a_name_needs_no_quotes_and_stays_in_its_folder(self, name: str) -> None:
        from pydantic import TypeAdapter, ValidationError

        for kind in (params.Name, catalogue.Name):
            try:
                TypeAdapter(kind).validate_python(name)
            except ValidationError:
                continue
            assert shlex.quote(name) == name
            assert archive.is_safe_path(name)

    def test_every_path_of_the_plan_is_made_of_names(self) -> None:
        plan = Plan(params.read(ROOT / "params.yaml"), catalogue.load())
        for name in (*plan.tasks, *plan.corpora(), *plan.systems, *plan.models):
            assert re.fullmatch(r"[a-z0-9][a-z0-9_]*", name), name


class TestShell:
    """What a rule puts into its command is a name, a path of names, or quoted."""

    # Placeholders that are paths below data/, results/ and logs/, made of names.
    PATHS = re.compile(r"(input|output|log|wildcards|threads|resources)\b.*")
    NAMED = frozenset({"params.source", "params.corpus", "params.out"})

    def test_params_are_quoted(self) -> None:
        found = {}
        for path in RULES:
            text = path.read_text(encoding="utf-8")
            for block in re.findall(r"^\s*shell:\n((?:\s+\"[^\n]*\n)+)", text, re.M):
                for holder in re.findall(r"(?<!\{)\{([^{}]+)\}(?!\})", block):
                    found[holder] = path.name
        assert len(found) > 5
        loose = {
            holder: file
            for holder, file in found.items()
            if not holder.endswith(":q") and not self.PATHS.fullmatch(holder)
        }
        assert set(loose) <= set(self.NAMED), loose

    def test_a_spec_full_of_metacharacters_arrives_whole(self) -> None:
        """`:q` is shlex.quote: the shell hands over the very bytes."""
        from snakemake.utils import format as snakemake_format

        spec = '{"a": "$(touch marker) `x` \'; \\" \\n {output} é"}'

        class Holder:
            pass

        holder = Holder()
        holder.spec = spec  # type: ignore[attr-defined]
        command = snakemake_format("printf %s {params.spec:q}", params=holder)
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=True)
        assert done.stdout.decode() == spec

    @pytest.mark.parametrize(
        "text", ["{a} and { b }", "{", 'x{"a', "{{a}}", r"\\{a\}", "{}", "é{a,b}"]
    )
    def test_no_text_of_a_spec_is_a_wildcard(self, text: str) -> None:
        """A note, a prompt or a pattern with braces stays what it is."""
        from snakemake.io import apply_wildcards

        value = {"note": text, "nested": [{"p": text}], "empty": {}}
        spec = jobs._json(value)
        assert apply_wildcards(spec, {}) == spec
        assert json.loads(spec) == value


class TestSecrets:
    """Keys and passwords are in no message, whatever goes wrong."""

    TOKEN = "hf_canary0123456789abcdefghijklmnop"
    PASSWORD = "canary-pass-9f3"

    def test_the_hubs_token_is_in_its_header_alone(self, monkeypatch, tmp_path) -> None:
        """In no address, which logs keep, and in no message."""
        import httpx2
        from huggingface_hub.utils import _http

        monkeypatch.setenv("HF_TOKEN", self.TOKEN)
        seen = []

        def answer(request: httpx2.Request) -> httpx2.Response:
            seen.append(str(request.url))
            assert request.headers["authorization"] == f"Bearer {self.TOKEN}"
            return httpx2.Response(404, headers={"X-Error-Message": "no"})

        factory = _http._GLOBAL_CLIENT_FACTORY
        _http.set_client_factory(lambda: httpx2.Client(transport=httpx2.MockTransport(answer)))
        try:
            with pytest.raises(BenchError) as caught:
                client.dataset_info("o/n", "0" * 40, None)
            with pytest.raises(BenchError) as also:
                client.download("o/n", "0" * 40, "x", tmp_path / "x", size=1, endpoint=None,
                                progress=False)  # fmt: skip
        finally:
            _http.set_client_factory(factory)
        assert len(seen) >= 2
        assert self.TOKEN not in "".join((*seen, str(caught.value), str(also.value)))

    @pytest.mark.parametrize("variable", ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"])
    def test_an_indexs_password_is_in_no_output(self, variable: str, tmp_path: Path) -> None:
        """Of a whole process that fails, with its log, where the index does not answer."""
        given = {
            "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "", "PIP_FIND_LINKS": "",
            "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "SAGEBENCH_CACHE": str(tmp_path / "c"),
            variable: f"http://user:{self.PASSWORD}@127.0.0.1:9/simple",
            "PYTHONPATH": str(Path(registry.__file__).parents[1]),
        }  # fmt: skip
        program = (
            "import sys; from sagebench.corpora import connection; connection.DELAYS = ()\n"
            "from sagebench.__main__ import main; sys.exit(main(sys.argv[1:]))"
        )
        command = ["fetch", "blanc", "--raw", str(tmp_path / "raw"), "--log", str(tmp_path / "log")]
        done = subprocess.run(
            [sys.executable, "-c", program, *command],
            env=os.environ | given, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        written = [p.read_text(errors="replace") for p in tmp_path.rglob("*") if p.is_file()]
        everything = "".join((done.stdout, done.stderr, *written))
        assert "127.0.0.1:9" in everything
        assert self.PASSWORD not in everything

    @pytest.mark.parametrize("name", ["HF_ENDPOINT", "SAGEBENCH_MIRROR"])
    def test_a_mirrors_password_is_in_no_message(self, monkeypatch, tmp_path, name: str) -> None:
        from sagebench.corpora.hub import listing

        monkeypatch.setattr(client.connection, "DELAYS", ())
        monkeypatch.setenv("SAGEBENCH_CACHE", str(tmp_path))
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
        monkeypatch.setenv(name, f"http://user:{self.PASSWORD}@127.0.0.1:9")
        with pytest.raises(BenchError) as caught:
            listing.of_hub("o/n", "0" * 40)
        assert "127.0.0.1" in str(caught.value)
        assert self.PASSWORD not in str(caught.value)
        assert "Traceback" not in str(caught.value)


class TestRedistribution:
    """Texts leave this machine only after their licences were shown and, if need be, agreed to."""

    def test_what_is_listed_exists_and_its_licence_says_so(self) -> None:
        lists = yaml.safe_load((catalogue.FOLDER / redistribution.FILE).read_bytes())
        sources = catalogue.load().all_sources
        assert set(lists) == {"allowed", "refused"}
        assert not set(lists["allowed"]) & set(lists["refused"])
        # An author's or publisher's own, no licence at all, or a doubt: never "allowed".
        closed = re.compile(
            r"publishers'|outlets'|authors?'|agreement|copyright|not state|not specified|no tag"
            r"|unverified|terms|for research"
        )
        for name in lists["allowed"]:
            assert not closed.search(sources[name].licence), name
        for name in lists["refused"]:
            assert closed.search(sources[name].licence), name

    def test_a_source_in_no_list_is_unstated(self) -> None:
        found = {t.source: t for t in redistribution.terms(["gensim", "billsum", "blanc"])}
        answers = [found[name].redistribute for name in ("billsum", "blanc", "gensim")]
        assert answers == ["yes", "no", "unstated"]
        assert found["billsum"].licence == "CC0-1.0"

    @pytest.mark.parametrize(
        ("url", "local"),
        [("/mnt/x", True), ("~/x", True), ("../x y", True), ("C:\\x", True), ("s3://b/x", False),
         ("ssh://me@h/x", False), ("me@host:x", False), ("gs://b", False)],
    )  # fmt: skip
    def test_only_a_folder_needs_no_yes(self, url: str, local: bool) -> None:
        assert redistribution.is_local(url) == local
        doubtful = redistribution.terms(["billsum", "gensim"])
        redistribution.check(doubtful, url, agreed=True)
        redistribution.check(redistribution.terms(["billsum"]), url, agreed=False)
        if local:
            redistribution.check(doubtful, url, agreed=False)
        else:
            with pytest.raises(BenchError, match=r"1 of 2 sources.*: gensim.*--yes"):
                redistribution.check(doubtful, url, agreed=False)

    def test_a_password_in_the_address_is_not_shown(self) -> None:
        found = redistribution.terms(["blanc"])
        with pytest.raises(BenchError, match="h/x") as caught:
            redistribution.check(found, "https://me:canary@h/x", agreed=False)
        assert "canary" not in str(caught.value)

    def test_the_command_asks_before_it_pushes(self, monkeypatch, capsys) -> None:
        from sagebench.__main__ import main
        from sagebench.lineage import handover

        pushed, url = [], "s3://bucket/x"
        monkeypatch.setattr(handover, "remote", lambda name: url)
        monkeypatch.setattr(handover, "push", pushed.append)
        monkeypatch.chdir(ROOT)
        assert main(["push", "--remote", "lab"]) == 2
        out, err = capsys.readouterr()
        assert re.search(r"^no        blanc: MIT \(package\); the news texts", out, re.M)
        assert "--yes" in err
        assert pushed == []
        assert main(["push", "--remote", "lab", "--yes"]) == 0
        url = "/mnt/lab"
        assert main(["push"]) == 0
        assert pushed == ["lab", None]

    def test_the_address_is_dvcs_own(self, monkeypatch, tmp_path: Path) -> None:
        from sagebench.lineage import handover

        monkeypatch.chdir(tmp_path)
        for command in (["init", "--no-scm", "-q"], ["remote", "add", "-d", "one", "s3://b/a=b"]):
            subprocess.run([sys.executable, "-m", "dvc", *command], check=True)
        assert handover.remote() == handover.remote("one") == "s3://b/a=b"
        with pytest.raises(BenchError, match="no remote 'two'; it has one"):
            handover.remote("two")
