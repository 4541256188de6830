"""sage-bench: what it prints, refuses and exits with; one test starts the real program."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from sagebench import cli, registry, score

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Arguments -> exit code, standard output, standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        try:
            code = cli.main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        return (code, *capsys.readouterr())

    return call


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text('a,b,id\n"one, two",one three,007\nnan,,1.0\n\x1b[31mred,red,x\n')
    return path


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "micro.yaml"
    path.write_text(
        "bootstrap: {resamples: 100}\ntasks: {clustering: {corpora: [bbc], texts: 12}}\n"
    )
    return path


def test_score_in_every_format(run: Run, pairs: Path, tmp_path: Path):
    a, b = ["one, two", "nan", "\x1b[31mred"], ["one three", "", "red"]
    expected = score(a, b, "levenshtein").tolist()
    command = ["score", "--texts", str(pairs), "--metric", "levenshtein"]
    code, out, _ = run(*command, "--json")
    assert code == 0
    rows = json.loads(out)
    assert [row["levenshtein"] for row in rows] == pytest.approx(expected, abs=1e-12)
    assert [row["id"] for row in rows] == ["007", "1.0", "x"]
    target = tmp_path / "out.csv"
    assert run(*command, "--format", "csv", "--output", str(target))[:2] == (0, "")
    again = pl.read_csv(target, infer_schema=False, empty_string_is_null=False)
    assert (again["a"].to_list(), again["b"].to_list()) == (a, b)
    assert [float(value) for value in again["levenshtein"]] == expected
    code, out, _ = run(*command, "--metric", "jaccard")
    assert out.splitlines()[0].split() == ["a", "b", "id", "levenshtein", "jaccard"]
    assert "\x1b" not in out
    assert len(out.splitlines()) == 4


@pytest.mark.parametrize("suffix", ["tsv", "jsonl", "ndjson", "json", "parquet"])
def test_score_reads_what_it_says(run: Run, pairs: Path, tmp_path: Path, suffix: str):
    frame = pl.read_csv(pairs, infer_schema=False, empty_string_is_null=False)
    frame = frame.rename({"a": "left", "b": "right"})
    path = tmp_path / f"pairs.{suffix}"
    if suffix == "tsv":
        frame.write_csv(path, separator="\t")
    elif suffix in ("jsonl", "ndjson"):
        frame.write_ndjson(path)
    else:
        getattr(frame, f"write_{suffix}")(path)
    texts = ["--texts", str(path), "--a", "left", "--b", "right"]
    code, out, _ = run("score", *texts, "--metric", "length_ratio", "--json")
    assert code == 0
    assert [round(row["length_ratio"], 3) for row in json.loads(out)] == [0.889, 0.0, 0.375]


def test_a_pair_without_similarity_is_counted(run: Run, pairs: Path):
    command = ["score", "--texts", str(pairs), "--metric", "test_evaluation:encode"]
    code, out, err = run(*command, "--json")
    assert (code, json.loads(out)[1]["test_evaluation:encode"]) == (0, None)
    assert "test_evaluation:encode: no similarity for 1 of 3 pairs" in err


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        ("a,c\nx,y\n", "", "unknown column of f.csv 'b'"),
        ("a,b\nx,y\nx\n", "", "line 3 has 1 values for 2 columns"),
        ("a,b\nx,y,z\n", "", "line 2 has 3 values for 2 columns"),
        ("a,b,a\nx,y,z\n", "", "two columns have one name"),
        ('a,b\n"x,y\n', "", "cannot be read"),
        ("", "", "unknown column"),
        ("a,b,jaccard\nx,y,1\n", "", "already has a column 'jaccard'"),
        ("a,b\nx,y\n", "--metric jacard", "did you mean 'jaccard'"),
        (b"a,b\n\xff,y\n", "", "cannot be read"),
        (None, "", "cannot be read"),
    ],
)
def test_score_refuses(
    run: Run, tmp_path: Path, content: str | bytes | None, arguments: str, words: str
):
    path = tmp_path / "f.csv"
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    code, out, err = run(
        "score", "--texts", str(path), "--metric", "jaccard", *shlex.split(arguments)
    )
    assert (code, out) == (cli.EXPLAINED, "")
    assert words in err


def test_what_is_no_text_is_refused(run: Run, tmp_path: Path):
    path = tmp_path / "f.parquet"
    pl.DataFrame({"a": ["x", None], "b": ["y", "z"], "c": [1, 2]}).write_parquet(path)
    common = ["score", "--texts", str(path), "--metric", "jaccard"]
    assert "column 'a' has no text in row 2" in run(*common)[2]
    assert "column 'c' holds Int64, not texts" in run(*common, "--a", "c")[2]
    assert "unknown suffix" in run("score", "--texts", "x.xlsx", "--metric", "jaccard")[2]


def test_evaluate_prints_the_summary_and_gives_programs_every_cell(run: Run, few: Path):
    command = ["evaluate", "--model", "test_evaluation:encode", "--tasks", "clustering"]
    command += ["--size", str(few), "--beside", "jaccard", "random"]
    code, out, _ = run(*command)
    assert code == 0
    header, columns, *rows = out.splitlines()
    assert (header, columns.split()) == ("summary, all corpora", ["system", "clustering"])
    assert [row.split()[0] for row in rows] == ["mine", "Jaccard", "Random"]
    code, out, _ = run(*command, "--json")
    cells = json.loads(out)
    assert {cell["table"] for cell in cells} == {"summary", "clustering"}
    (mine,) = (c for c in cells if c["table"] == "summary" and c["system"] == "mine")
    assert f"{mine['value']:.3f} [{mine['low']:.3f}, {mine['high']:.3f}]" in rows[0]
    code, out, _ = run(*command, "--table", "clustering", "--name", "letters")
    assert (code, "summary" in out) == (0, False)
    assert "letters: truncated: the function does not say" in out
    code, _, err = run(*command, "--table", "clusterin")
    assert (code, "did you mean 'clustering'" in err) == (cli.EXPLAINED, True)


def test_exit_codes(run: Run, monkeypatch: pytest.MonkeyPatch, pairs: Path):
    assert run("evaluate")[0] == 2
    assert run("no_such_command")[0] == 2
    assert run("evaluate", "--model", "minlm")[0] == cli.EXPLAINED
    command = ["score", "--texts", str(pairs), "--metric"]
    monkeypatch.setattr("test_evaluation.overlap", lambda a, b: 1 / 0)
    code, _, err = run(*command, "test_evaluation:overlap")
    assert (code, "ZeroDivisionError" in err) == (cli.DEFECT, True)

    def interrupted(a: list[str], b: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("test_evaluation.overlap", interrupted)
    assert run(*command, "test_evaluation:overlap")[0] == cli.INTERRUPTED


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_s_help_has_examples_that_parse(run: Run, command: str):
    code, out, _ = run(command, "--help")
    assert code == 0
    examples = [line for line in out.splitlines() if line.startswith("  sage-bench ")]
    assert examples
    for line in examples:
        words = shlex.split(line.split("#")[0].split(">")[0])
        assert cli.parser().parse_args(words[1:]).command == command


def test_list_names_what_is_registered(run: Run):
    rows = json.loads(run("list", "metrics", "--json")[1])
    assert [row["name"] for row in rows] == list(registry.entries("metric"))
    assert all(row["about"] for row in rows)
    for kind in ("models", "tasks", "sizes", "corpora", "perturbations"):
        code, out, _ = run("list", kind)
        assert (code, len(out.splitlines()) > 2) == (0, True)


def test_completion_offers_the_names(run: Run):
    for shell in ("bash", "zsh", "tcsh"):
        code, script, _ = run("completion", shell)
        assert code == 0
        for name in ("minilm", "bm25_self", "clustering", "extended", "perturbations"):
            assert name in script, (shell, name)
    script = run("completion", "bash")[1]
    ask = "COMP_WORDS=(sage-bench evaluate --model gl); COMP_CWORD=3"
    ask += "; _shtab_sage_bench; echo ${COMPREPLY[@]}"
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "glove", done.stderr


def test_the_program_starts_light_and_ends_quietly_with_its_reader():
    program = "import sys; from sagebench.cli import main; sys.exit(main())"
    listing = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)} list perturbations"
    shell = ["bash", "-c"]
    whole = subprocess.run([*shell, listing], capture_output=True, text=True, check=True)
    assert ("numerization" in whole.stdout, whole.stderr) == (True, "")
    cut = subprocess.run(
        [*shell, f"({listing}; echo code $? >&2) | true"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert cut.stderr == "code 0\n"
    parse = "import sys; from sagebench.cli import parser; parser(); print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", parse], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "argparse" in modules
    assert not {"polars", "torch", "numpy", "pydantic"} & set(modules)
