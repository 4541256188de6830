"""The checks of published scores: read strictly, scored as MTEB does, judged by row."""

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sagebench import frames
from sagebench.__main__ import main
from sagebench.embeddings.keys import text_key
from sagebench.errors import BenchError
from sagebench.params import Model
from sagebench.published import reference, table
from sagebench.published.banking import Banking77
from sagebench.published.checks import CHECKS
from sagebench.published.folder import Folder
from sagebench.published.newsgroups import Resampled, Sets
from sagebench.published.scifact import SciFact
from sagebench.published.sts import Pairs
from sagebench.published.vectors import Vectors
from sagebench.published.verify import Candidate, Row, candidates, require


def vectors_of(texts: list[str], dim: int = 6, seed: int = 0) -> Vectors:
    """Random directions, one a distinct text."""
    distinct = sorted(set(texts), key=text_key)
    made = np.random.default_rng(seed).normal(size=(len(distinct), dim)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    rows = {
        "text_sha256": [text_key(text) for text in distinct],
        "vector": pl.Series(made.tolist(), dtype=pl.List(pl.Float32)),
        "tokens": [3] * len(distinct),
        "truncated": [False] * len(distinct),
        "valid": [True] * len(distinct),
    }
    return Vectors(frames.EMBEDDINGS.check(pl.DataFrame(rows)))


# --- reading the folder ----------------------------------------------------------------------


def test_the_folder_is_given_or_named_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("SAGEBENCH_DATA", raising=False)
    with pytest.raises(BenchError, match="no folder of benchmark data: name it with --data"):
        Folder.of(None)
    monkeypatch.setenv("SAGEBENCH_DATA", str(tmp_path))
    assert Folder.of(None).root == tmp_path
    with pytest.raises(BenchError, match="is no folder"):
        Folder.of(tmp_path / "nothing")


def test_a_file_that_is_not_whole_is_named(tmp_path):
    folder = Folder(tmp_path)
    with pytest.raises(BenchError, match=r"x\.jsonl is missing"):
        folder.text("x.jsonl")
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n\n{"a": null}\n', encoding="utf-8")
    with pytest.raises(BenchError, match=r"x\.jsonl, line 2: no value for 'a'"):
        folder.json_lines("x.jsonl", "a")
    (tmp_path / "x.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(BenchError, match=r"x\.jsonl, line 1"):
        folder.json_lines("x.jsonl")
    (tmp_path / "x.csv").write_text("a,b\n1\n", encoding="utf-8")
    with pytest.raises(BenchError, match=r"x\.csv, line 2: no value for 'b'"):
        folder.table("x.csv", "a", "b")
    (tmp_path / "x.gz").write_bytes(b"not gzip")
    with pytest.raises(BenchError, match=r"x\.gz cannot be read"):
        folder.text("x.gz")


def test_other_rows_than_the_published_runs_are_refused(tmp_path):
    path = tmp_path / "human_ratings" / "stsbenchmark" / "sts-test.csv"
    path.parent.mkdir(parents=True)
    path.write_text("g\tf\ty\t1\t2.5\tone\ttwo\n" * 5, encoding="utf-8")
    with pytest.raises(BenchError, match="5 rows where the published run had 1,379"):
        CHECKS["STSBenchmark"].prepare(Folder(tmp_path))


# --- scores, beside their definitions --------------------------------------------------------


def ranks(values):
    """Mean ranks, by counting."""
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def pearson(x, y):
    mx, my = sum(x) / len(x), sum(y) / len(y)
    up = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return up / math.sqrt(sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y))


def test_sts_scores_are_correlations():
    left = [f"l{i}" for i in range(30)]
    right = [f"r{i % 25}" for i in range(30)]
    human = [float(i * 7 % 6) for i in range(30)]  # with ties
    vectors = vectors_of(left + right)
    found = Pairs(left, right, human).scores(vectors)
    a, b = vectors.matrix(left).astype(float), vectors.matrix(right).astype(float)
    similar = {
        "cosine": [float(x @ y / np.linalg.norm(x) / np.linalg.norm(y)) for x, y in zip(a, b)],
        "euclidean": [-math.dist(x, y) for x, y in zip(a, b)],
        "manhattan": [-sum(abs(x - y)) for x, y in zip(a, b)],
    }
    for name, values in similar.items():
        assert found[f"{name}_pearson"] == pytest.approx(pearson(values, human), abs=1e-9)
        ranked = pearson(ranks(values), ranks(human))
        assert found[f"{name}_spearman"] == pytest.approx(ranked, abs=1e-9)
    assert found["spearman"] == found["cosine_spearman"]


def test_scifact_scores_are_the_textbooks():
    documents = {f"d{i:02}": f"text {i}" for i in range(40)}
    queries = {f"q{i}": f"claim {i}" for i in range(6)}
    relevant = {f"q{i}": {f"d{i:02}": 1, f"d{i * 5 + 7:02}": 1} for i in range(6)}
    data = SciFact(documents, queries, relevant)
    vectors = vectors_of(data.texts)
    found = data.scores(vectors)
    wanted = {name: [] for name in ("ndcg_at_10", "recall_at_3", "precision_at_5", "mrr_at_20")}
    wanted["map_at_100"] = []
    for query, judged in relevant.items():
        v = vectors.matrix([queries[query]])[0]
        near = {d: float(vectors.matrix([t])[0] @ v) for d, t in documents.items()}
        ranked = sorted(near, key=lambda d: -near[d])
        hits = [d in judged for d in ranked]
        gain = sum(h / math.log2(i + 2) for i, h in enumerate(hits[:10]))
        ideal = sum(1 / math.log2(i + 2) for i in range(len(judged)))
        wanted["ndcg_at_10"].append(gain / ideal)
        wanted["recall_at_3"].append(sum(hits[:3]) / len(judged))
        wanted["precision_at_5"].append(sum(hits[:5]) / 5)
        first = hits.index(True)
        wanted["mrr_at_20"].append(1 / (first + 1) if first < 20 else 0)
        precisions = [sum(hits[: i + 1]) / (i + 1) for i, h in enumerate(hits) if h]
        wanted["map_at_100"].append(sum(precisions) / len(judged))
    for name, values in wanted.items():
        assert found[name] == pytest.approx(sum(values) / len(values), abs=1e-5), name


def test_banking_draws_eight_of_a_class_and_shuffles_on():
    train = [f"t{i}" for i in range(90)]
    labels = [f"c{i % 3}" for i in range(90)]
    data = Banking77(train, labels, ["t1", "t2", "x"], ["c1", "c2", "c0"])
    order, draws = np.arange(90), data.draws()
    assert len(draws) == 10
    assert len({tuple(draw) for draw in draws}) == 10
    for draw in draws:
        np.random.RandomState(42).shuffle(order)
        expected = []
        for place in order:
            if sum(labels[p] == labels[place] for p in expected) < 8:
                expected.append(int(place))
        assert draw == expected
    assert set(data.texts) >= {train[p] for draw in draws for p in draw} | {"x"}
    found = data.scores(vectors_of(data.texts))
    runs = found["scores_per_experiment"]
    assert found["accuracy"] == pytest.approx(sum(run["accuracy"] for run in runs) / 10)
    assert all(run["accuracy"] * 3 == pytest.approx(round(run["accuracy"] * 3)) for run in runs)


@pytest.mark.parametrize("protocol", [Sets, Resampled])
def test_newsgroups_protocols(protocol, monkeypatch):
    subjects = [f"{'abcd'[i % 4]} {i}" for i in range(400)]
    labels = np.array([subject[0] for subject in subjects])
    monkeypatch.setattr("sagebench.published.newsgroups._read", lambda _: (subjects, labels))
    monkeypatch.setattr("sagebench.published.newsgroups._PUBLISHED", 2_000)
    monkeypatch.setattr("sagebench.published.newsgroups._RESAMPLE", 150)
    data = protocol.read(Folder(Path()))
    again = protocol.read(Folder(Path()))
    assert all((a == b).all() for a, b in zip(data.chosen, again.chosen, strict=True))
    if protocol is Sets:
        assert [len(set(rows.tolist())) for rows in data.chosen] == [200] * 10
    else:
        assert [len(rows) for rows in data.chosen] == [150] * 10
        assert len(data.texts) <= 0.04 * 2_000
    noise = data.scores(vectors_of(subjects))
    values = noise["v_measures"] if protocol is Sets else noise["v_measures"]["Level 0"]
    assert noise["v_measure"] == pytest.approx(np.mean(values))
    assert noise["v_measure_std"] == pytest.approx(np.std(values))
    # Vectors that are the classes are clustered without a fault.
    clean = vectors_of(subjects)
    place = np.array([text_key(s) for s in subjects])
    by_key = dict(zip(place, labels, strict=True))
    rows = [
        np.eye(4, dtype=np.float32)["abcd".index(by_key[k])] for k in clean.table["text_sha256"]
    ]
    exact = clean.table.with_columns(pl.Series("vector", rows, dtype=pl.List(pl.Float32)))
    assert data.scores(Vectors(exact))["v_measure"] == pytest.approx(1)


# --- published values, models, verdicts ------------------------------------------------------

HEAD = "model\tmodel_revision\ttask\tsplit\tsubset\tdataset_revision\tmteb_version\tmain_score\n"


def test_the_newest_run_counts_and_a_card_only_alone(tmp_path):
    (tmp_path / "reference_scores").mkdir()
    rows = [
        "o__m\texternal\tT\ttest\tdefault\td\t\t0.9",
        "o__m\tr1\tT\ttest\tdefault\td\t1.9.0\t0.1",
        "o__m\tr0\tT\ttest\tdefault\td\t1.12.3\t0.2",
        "o__m\tr0\tT\ttrain\tdefault\td\t1.20.0\t0.3",
        "o__m\texternal\tU\ttest\tdefault\td\t\t0.7",
    ]
    path = tmp_path / "reference_scores" / "main_scores.tsv"
    path.write_text(HEAD + "\n".join(rows), encoding="utf-8")
    found = reference.read(Folder(tmp_path))
    assert {key: score.value for key, score in found.items()} == {
        ("o/m", "T"): 0.2,
        ("o/m", "U"): 0.7,
    }
    path.write_text(HEAD + "o__m\tr\tT\ttest\tdefault\td\t1\tmany", encoding="utf-8")
    with pytest.raises(BenchError, match="many"):
        reference.read(Folder(tmp_path))


def test_models_are_the_configured_ones_with_a_published_name():
    own = Model(name="mine", path="o/m")
    found = candidates(["minilm", "glove", "minilm_int8", own], [])
    assert [(each.name, each.published, each.same) for each in found] == [
        ("minilm", "sentence-transformers/all-MiniLM-L6-v2", True),
        ("minilm_int8", "sentence-transformers/all-MiniLM-L6-v2", False),
        ("mine", "o/m", True),
    ]
    assert [each.name for each in candidates([], ["e5_small"])] == ["e5_small"]
    with pytest.raises(BenchError, match="unknown model 'minlm': did you mean"):
        candidates(["minilm"], ["minlm"])
    with pytest.raises(BenchError, match="model 'glove' names no published results"):
        candidates(["glove"], ["glove"])


def row(ours: float, task: str = "STS13", same: bool = True) -> Row:
    check = CHECKS[task]
    model = Candidate("m", "M", "o/m", same, "m")
    return Row(model, check, {check.main: ours}, reference.Score(0.8, "r", "d", "1"), 1.0)


@pytest.mark.parametrize(
    ("ours", "task", "same", "within"),
    [
        (0.802, "STS13", True, True),  # exactly the tolerance, whatever the last bit says
        (0.798, "STS13", True, True),
        (0.80201, "STS13", True, False),
        (0.805, "SciFact", True, True),
        (0.8051, "SciFact", True, False),
        (0.5, "STS13", False, None),  # a quantised copy: the loss is shown
        (0.5, "TwentyNewsgroupsClustering", True, None),
    ],
)
def test_within_the_tolerance(ours, task, same, within):
    found = row(ours, task, same)
    assert found.within is within
    assert (found.note == "") == (within is not None)
    if within is False:
        with pytest.raises(BenchError, match=f"1 of 2 .* not reproduced:\n.*m .*{task}.*OUT OF"):
            require([row(0.8), found])
    else:
        require([row(0.8), found])


def test_the_table_holds_every_row(tmp_path):
    rows = [row(0.801), row(0.7, "SciFact"), row(0.79, same=False)]
    table.write(rows, tmp_path)
    written = pl.read_csv(tmp_path / "published.csv")
    values = {(r["corpus"], r["measure"]): r["value"] for r in written.to_dicts()[:10]}
    assert values["STS13", "difference"] == pytest.approx(0.001)
    assert values["SciFact", "within"] == 0
    assert written.filter(measure="within").height == 2
    text = (tmp_path / "published.md").read_text("utf-8")
    assert "−0.1000" in text
    assert "NO" in text
    records = table.read(tmp_path / "published.json")
    assert [record["scores"] for record in records] == [each.scores for each in rows]
    (tmp_path / "published.json").write_text(json.dumps([{"a": 1}]), encoding="utf-8")
    with pytest.raises(BenchError, match="holds no published scores"):
        table.read(tmp_path / "published.json")


def test_the_command_ends_badly_without_data(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[1])
    assert main(["verify-published", "--data", str(tmp_path), "--model", "minilm"]) == 2
    assert "main_scores.tsv is missing" in capsys.readouterr().err
    assert main(["verify-published", "--data", str(tmp_path), "--task", "STS99"]) == 2
    assert "unknown published task 'STS99'" in capsys.readouterr().err
