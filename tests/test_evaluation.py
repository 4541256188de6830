"""The library: evaluate and score against the workflow, and what they refuse."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from workflow_support import Project

import sagebench
from sagebench import BenchError, evaluate, registry, score
from sagebench.corpora import cache
from sagebench.embeddings.base import build
from sagebench.evaluation import workspace
from sagebench.evaluation.functions import OwnSimilarity, encode_all
from sagebench.evaluation.tables import OF_TASK, SUMMARY
from sagebench.metrics.cosine import Cosine

LETTERS = "etaoinshrdlu"


def encode(texts: list[str]) -> np.ndarray:
    """A weak model: how often each of some letters occurs."""
    return np.array([[text.count(letter) + 0.1 for letter in LETTERS] for text in texts])


def overlap(a: list[str], b: list[str]) -> list[float]:
    """Share of words in common."""
    pairs = ((set(x.split()), set(y.split())) for x, y in zip(a, b, strict=True))
    return [len(x & y) / max(len(x | y), 1) for x, y in pairs]


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A per-user folder with the archives and nothing that was built."""
    archives = cache.folder() / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    (tmp_path / "archives").symlink_to(archives)
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """A file of the user's own: clustering of twelve texts."""
    path = tmp_path / "micro.yaml"
    path.write_text(
        "size: micro\nbootstrap: {resamples: 100}\n"
        "tasks: {clustering: {corpora: [bbc], texts: 12}}\n"
    )
    return path


def cells(table: pl.DataFrame, name: str) -> pl.DataFrame:
    return table.filter(pl.col("table") == name).drop("table")


@pytest.mark.workflow
@pytest.mark.timeout(900)
def test_numbers_are_the_workflow_s(micro: Project, raw: Callable[..., Path], fresh: Path):
    glove = build("glove", raw("glove"))
    beside = ["glove", "bm25", "jaccard", "constant_1"]

    def vectors(texts: list[str]) -> list[np.ndarray]:
        read = map(glove.read, texts)
        nothing = np.zeros(glove.dim)
        return [glove._compute(known) * 3 if known.visible else nothing for known in read]

    table = evaluate(vectors, size=micro.folder / "params.yaml", beside=beside)
    assert table["table"].unique(maintain_order=True).to_list() == [
        SUMMARY, *(name for names in OF_TASK.values() for name in names)
    ]  # fmt: skip
    for name in table["table"].unique():
        ours = cells(table, name)
        path = micro.folder / f"results/tables/{name}.csv"
        theirs = pl.read_csv(path, schema_overrides=ours.schema).with_columns(
            pl.col("note").fill_null("")
        )
        theirs = theirs.filter(pl.col("system").is_in(beside), pl.col("measure") != "paper")
        packaged = ours.filter(pl.col("system").is_in(beside))
        if name == SUMMARY:
            theirs = theirs.filter(pl.col("measure") != "truncated")
        key = ["system", "corpus", "measure"]
        assert_frame_equal(packaged.sort(key), theirs.sort(key), abs_tol=1e-9)
        # the user's function gives glove's vectors, so its cells are glove's
        mine, same = (
            ours.filter(pl.col("system") == system, pl.col("measure") != "truncated")
            for system in ("mine", "glove")
        )
        columns = ["corpus", "measure", "value", "low", "high", "n", "note"]
        assert mine.height
        assert_frame_equal(mine[columns], same[columns], abs_tol=1e-6)


def test_a_similarity_function_is_scored_as_the_metric_it_is(raw: Callable[..., Path], fresh: Path):
    jaccard = registry.load("metric", "jaccard")(raw("cl100k"))
    table = evaluate(jaccard.pairs, beside=["jaccard"], name="own")
    own, packaged = (
        table.filter(pl.col("system") == name).drop("system", "title")
        for name in ("own", "jaccard")
    )
    assert own.height > 50
    assert_frame_equal(own, packaged, abs_tol=1e-9)


def test_a_second_call_builds_nothing_and_gives_the_same(
    few: Path, fresh: Path, monkeypatch: pytest.MonkeyPatch
):
    first = evaluate(encode, tasks=["clustering"], size=few, beside=["jaccard"])
    for name in ("fetch", "build", "sample", "perturb"):
        monkeypatch.setattr(workspace, name, None)
    metric = registry.load("metric", "jaccard")
    monkeypatch.setattr(metric, "condensed", None)  # kept as well
    again = evaluate(encode, tasks="clustering", size=few, beside="jaccard")
    assert_frame_equal(first, again)
    alone = evaluate(encode, tasks=["clustering"], size=few)
    assert_frame_equal(alone, first.filter(pl.col("system") == "mine"))


def test_other_parameters_are_other_files(few: Path, fresh: Path):
    twelve = evaluate(encode, tasks=["clustering"], size=few)
    few.write_text(few.read_text().replace("texts: 12", "texts: 15"))
    fifteen = evaluate(encode, tasks=["clustering"], size=few)
    assert (twelve["n"][0], fifteen["n"][0]) == (12, 15)


def test_the_order_of_a_user_s_texts_and_batches_does_not_matter(few: Path, fresh: Path):
    sizes: list[int] = []

    def counting(texts: list[str]) -> np.ndarray:
        sizes.append(len(texts))
        return encode(texts)

    one = evaluate(counting, tasks=["clustering"], size=few, batch=5)
    assert sizes == [5, 5, 2]
    assert_frame_equal(one, evaluate(encode, tasks=["clustering"], size=few))


def test_objects_names_and_folders(few: Path, fresh: Path, monkeypatch: pytest.MonkeyPatch):
    class Model:
        def __call__(self) -> None:
            raise AssertionError

        def encode(self, sentences: list[str], batch_size: int = 32) -> list[list[float]]:
            return encode(sentences).tolist()

    expected = evaluate(encode, tasks=["clustering"], size=few)
    assert_frame_equal(evaluate(Model(), tasks=["clustering"], size=few), expected)
    (fresh / "my_module.py").write_text(
        "import test_evaluation\n\nclass Mine:\n    run = staticmethod(test_evaluation.encode)\n"
    )
    monkeypatch.chdir(fresh)
    by_name = evaluate("my_module:Mine.run", tasks=["clustering"], size=few)
    assert_frame_equal(by_name, expected)
    own = evaluate(overlap, tasks=["clustering"], size=few)
    assert own["kind"].unique().to_list() == ["classical"]
    metric = evaluate(OwnSimilarity("x", overlap), tasks=["clustering"], size=few)
    assert_frame_equal(own, metric)


def test_a_folder_and_a_catalogue_name_are_the_same_model(
    few: Path, fresh: Path, raw: Callable[..., Path]
):
    folder = raw("minilm") / "minilm/model"
    table = evaluate(str(folder), tasks=["clustering"], size=few, beside=["minilm"])
    mine, packaged = (
        table.filter(pl.col("system") == name)["value"].to_list() for name in ("mine", "minilm")
    )
    assert mine == packaged
    assert table.filter(pl.col("measure") == "truncated")["value"].null_count() == 0


def test_what_a_function_reads_is_not_known(few: Path, fresh: Path):
    table = evaluate(encode, tasks=["clustering"], size=few)
    (row,) = table.filter(pl.col("measure") == "truncated").to_dicts()
    assert (row["value"], row["note"]) == (None, "the function does not say")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (np.ones(3), "shape (3,) for 3 texts; it must be (3, dim)"),
        (np.ones((2, 4)), "shape (2, 4) for 3 texts"),
        (np.ones((3, 0)), "shape (3, 0)"),
        (np.array([[1.0], [np.nan], [1.0]]), "NaN or infinity for 1 of 3 texts"),
        (np.array([[1.0], [np.inf], [np.nan]]), "2 of 3 texts, first for the one that begins 'b'"),
        ([["x"], ["y"], ["z"]], "no array of numbers"),
        ([[1.0], [1.0, 2.0], [3.0]], "no array of numbers"),
        (None, "gave"),
    ],
)
def test_a_wrong_encode_result_is_named(result: object, words: str):
    with pytest.raises(BenchError, match="encode function 'mine'") as caught:
        encode_all("mine", lambda texts: result, ["a", "b", "c"], 3)
    assert words in str(caught.value)


def test_vectors_that_change_their_length_are_named():
    with pytest.raises(BenchError, match="vectors of 2 numbers first and of 1 later"):
        encode_all("mine", lambda texts: np.ones((len(texts), len(texts))), ["a", "b", "c"], 2)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ([1.0], "shape (1,) for 2 pairs"),
        ([[1.0, 0.0]], "shape (1, 2) for 2 pairs"),
        ([1.0, float("nan")], "gave nan, which is not finite, for the texts that begin 'b' and"),
        ([1.0, 1.5], "gave 1.5, which is outside [-1, 1]"),
        ({"a": 1}, "no array of numbers"),
    ],
)
def test_a_wrong_similarity_result_is_named(result: object, words: str):
    with pytest.raises(BenchError, match="similarity function 'mine'") as caught:
        OwnSimilarity("mine", lambda a, b: result).pairs(["a", "b"], ["c", "d"])
    assert words in str(caught.value)


def test_hostile_texts_reach_a_function_as_text_and_blank_ones_do_not():
    shown: list[str] = []

    def spy(texts: list[str]) -> np.ndarray:
        shown.extend(texts)
        return np.ones((len(texts), 2))

    texts = ["a\ud800b", "", " \n", "nul\0", "\u202ertl", "a"]
    table = encode_all("mine", spy, [*texts, "a"], 2)
    assert shown == sorted(["a\ufffdb", "nul\0", "\u202ertl", "a"])
    values = Cosine(table).pairs(texts, ["a"] * len(texts))
    assert np.isnan(values).tolist() == [False, True, True, False, False, False]
    assert encode_all("mine", spy, [""], 2)["valid"].to_list() == [False]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tasks": ["clusterin"]}, "unknown task 'clusterin': did you mean 'clustering'"),
        ({"tasks": []}, "no task is asked for"),
        ({"size": "smok"}, "unknown size 'smok': did you mean 'smoke'"),
        ({"size": "nowhere.yaml"}, "parameter file 'nowhere.yaml' does not exist"),
        ({"beside": ["jacard"]}, "unknown system 'jacard': did you mean 'jaccard'"),
        ({"name": "Mine!"}, "no row label"),
        ({"name": "jaccard"}, "that of a packaged system"),
        ({"batch": 0}, "at least 1"),
        ({"encode_or_model": "minlm"}, "unknown model or metric 'minlm': did you mean 'minilm'"),
        ({"encode_or_model": 7}, "neither a function nor"),
        ({"encode_or_model": "no_such:thing"}, "cannot be imported (ModuleNotFoundError"),
        ({"encode_or_model": "math:no_such"}, "cannot be imported (AttributeError"),
        ({"encode_or_model": lambda a, b, c: 0}, "needs 3 arguments (a, b, c)"),
    ],
)
def test_wrong_arguments_are_explained(arguments: dict, words: str):
    with pytest.raises(BenchError) as caught:
        evaluate(**{"encode_or_model": encode, **arguments})
    assert words in str(caught.value)


def test_score_is_the_metric(raw: Callable[..., Path], fresh: Path):
    a, b = ["one two three", "x", ""], ["one two four", "x", "y"]
    expected = registry.load("metric", "levenshtein")(raw("cl100k")).pairs(a, b)
    assert score(a, b, "levenshtein").tolist() == expected.tolist()
    assert score(a, b, overlap).tolist() == overlap(a, b)
    cosine = score(a, b, encode)
    assert np.isnan(cosine).tolist() == [False, False, True]
    vectors = encode(a[:1] + b[:1])
    by_hand = vectors[0] @ vectors[1] / np.prod(np.linalg.norm(vectors, axis=1))
    assert cosine[0] == pytest.approx(by_hand, abs=1e-6)
    assert score([], [], "jaccard").shape == (0,)


@pytest.mark.parametrize(
    ("a", "b", "metric", "words"),
    [
        (["a"], [], "jaccard", "1 texts on one side, 0 on the other"),
        (["a"], [None], "jaccard", "b[0] is None, not a text"),
        (["a"], ["b"], "jacard", "did you mean 'jaccard'"),
    ],
)
def test_score_refuses(a: list, b: list, metric: str, words: str):
    with pytest.raises(BenchError) as caught:
        score(a, b, metric)
    assert words in str(caught.value)


def test_the_package_offers_what_it_says():
    assert all(hasattr(sagebench, name) for name in sagebench.__all__)
    with pytest.raises(AttributeError, match="evalute"):
        sagebench.evalute
