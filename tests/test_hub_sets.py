"""Every data set of the paper: fetched by the Hub's client, parsed, normalised, sampled.

The texts are made to the sets' schemas (`hub_sets`), except where a test says that they are real.
"""

import gzip
import io
import json
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from hub_server import Hub, serve
from hub_sets import DOCUMENTS, beir, beir_parquet, jsonl, real_sets, serve_made, sets

from sagebench import layout
from sagebench.corpora import cache, catalogue, connection, fetch, mirror
from sagebench.corpora.build import build
from sagebench.corpora.card import render
from sagebench.corpora.hub import listing, picked
from sagebench.corpora.parsers.beir import beir as parse_beir
from sagebench.corpora.parsers.clustering_sets import clustering_sets
from sagebench.corpora.parsers.feedback import feedback_choices, feedback_ratings
from sagebench.corpora.parsers.tables import table_documents
from sagebench.corpora.pool import Draw, everything
from sagebench.corpora.sample import sample
from sagebench.errors import BenchError
from sagebench.plan import Plan
from sagebench.tables import paper

ROOT = Path(__file__).resolve().parents[1]
KNOWN = catalogue.load()
PAPER = Plan.read(ROOT / "params.yaml", ROOT / "config/paper.yaml")
OURS = sorted(
    name
    for name, corpus in KNOWN.corpora.items()
    if any(i.partition("/")[0] not in KNOWN.sources for i in corpus.inputs)
)
# name -> rows read, rows kept, reasons, counts; by parser, where sets of one layout are alike.
TABLE = (DOCUMENTS + 2, DOCUMENTS, {"duplicate": 1, "no text": 1}, {"texts": DOCUMENTS})
BEIR = (12, 11, {"duplicate": 1}, {"texts": 11, "queries": 4, "judgements": 5})
EXPECTED = {
    "sumpubmed_all": (66, 54, {"duplicate": 6, "no text": 6}, {"texts": 54}),
    "arguana_corpus": (12, 11, {"duplicate": 1}, {"texts": 11}),
    "feedback_choices": (
        9,
        5,
        {"joined with another worker's choice": 3, "equal human scores": 1},
        {"texts": 5},
    ),
    "feedback_ratings": (
        24,
        17,
        {
            "joined with another worker's rating": 4,
            **{f"no rating of {a}": 1 for a in ("accuracy", "coverage", "coherence")},
        },
        {"items": 5, "aspects": 4},
    ),
    "clustering_sets": (12, 12, {}, {"texts": 12, "classes": 3}),
    "table_documents": TABLE,
    "beir": BEIR,
}


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    """`raw(corpus)` -> a data/raw folder with its sources, from a Hub that has the made sets."""
    folder = tmp_path_factory.mktemp("hub")
    with serve() as hub, pytest.MonkeyPatch.context() as patch:
        serve_made(hub)
        yield _fetching(hub, folder, patch)
        assert not [path for _, path, _ in hub.requests if path.endswith((".py", "valid.jsonl"))]


def _fetching(hub: Hub, folder: Path, patch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    own = folder / "own"
    for name, content in beir("test").items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_bytes(content)
    patch.setenv(cache.FOLDER_VARIABLE, str(folder / "cache"))
    patch.setenv("HF_ENDPOINT", hub.url)
    patch.setenv("NO_PROXY", "127.0.0.1,localhost")
    patch.delenv(mirror.VARIABLE, raising=False)
    patch.setenv(listing.FOLDERS_VARIABLE, json.dumps(dict.fromkeys(KNOWN.own, str(own))))
    patch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder / "hf"))
    patch.setattr(connection, "DELAYS", (0.0, 0.0, 0.0))

    def provide(corpus: str) -> Path:
        for source in {given.partition("/")[0] for given in KNOWN.corpus(corpus).inputs}:
            if not (folder / "raw" / source).exists():
                fetch.fetch(source, folder / "raw" / source, progress=False)
        return folder / "raw"

    return provide


def built(raw: Path, name: str, out: Path, draw: Draw | None = None) -> tuple[dict, dict]:
    """Frames and card of a corpus."""
    role = KNOWN.corpus(name).role
    path = layout.corpus(out, role, name)
    build(name, raw, path, draw)
    card = json.loads(path.with_suffix(".card.json").read_text(encoding="utf-8"))
    return layout.read_corpus(path, role), card


@pytest.mark.parametrize("name", OURS)
def test_every_set_of_the_paper_loads(
    raw: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    corpus = KNOWN.corpus(name)
    frames, card = built(raw(name), name, tmp_path)
    read_, kept, dropped, counts = EXPECTED.get(name) or EXPECTED[corpus.parser]
    assert (card["rows_read"], card["rows"], card["dropped"]) == (read_, kept, dropped)
    assert card["counts"] == counts
    assert corpus.stands_for
    assert corpus.stands_for.same
    drawn = sample(corpus.role, frames, 8, 1, name)
    assert 0 < drawn["sample"].height <= 8 * counts.get("aspects", 1)
    page = render([card])
    for source in card["sources"]:
        assert "own" in source or source["commit"] in page
        for file in source["files"].values():
            assert file["sha256"] in page
            assert f"`{file['name']}`" in page


def test_the_paper_s_configuration_names_every_public_set() -> None:
    used = set(PAPER.corpora())
    own = {f"beir_{name}" for name in ("bioasq", "signal1m", "trec_news", "robust04")}
    assert used == set(OURS) - own - {"beir_msmarco"}
    datasets = {KNOWN.corpus(name).stands_for.dataset for name in used}  # type: ignore[union-attr]
    assert datasets == {
        "summarize_from_feedback comparisons", "summarize_from_feedback axis", "PubMed", "CNN/DM",
        "BillSum", "Paul Graham essays", "Amazon Polarity", "ArguAna", "MTEB clustering sets",
        "BEIR",
    }  # fmt: skip
    assert len(PAPER.tasks["clustering"].corpora) == 11
    beir_sets = {n if n.startswith("beir") else "cqadupstack" for n in PAPER.corpora("retrieval")}
    assert len(beir_sets | own) == 18
    overlays = ("params.yaml", "config/paper.yaml", "config/paper_sample.yaml")
    assert Plan.read(*(ROOT / name for name in overlays)).corpora() == PAPER.corpora()


def test_the_paper_s_columns_are_found(tmp_path: Path) -> None:
    """Each of the paper's columns stands beside the corpus that is its data."""
    context = SimpleNamespace(catalogue=KNOWN)
    for task, table in (("robustness", paper.ROBUSTNESS), ("sensitivity", paper.INSERTION)):
        corpora = PAPER.tasks[task].corpora
        found = [paper.dataset(context, corpus, table) for corpus in corpora]  # type: ignore[arg-type]
        assert sorted(map(str, found)) == sorted(paper.columns(table))
        assert {paper.provenance(context, c) for c in corpora} == {paper.SAME}  # type: ignore[arg-type]


def test_nothing_but_the_converted_ref_moves() -> None:
    moving = {name for name, source in KNOWN.hub.items() if len(source.revision) != 40}
    assert moving == {"summarize_from_feedback"}


def test_a_streamed_corpus_keeps_what_is_drawn(raw: Callable[[str], Path], tmp_path: Path) -> None:
    for name, judged in (("beir_fever", True), ("beir_fever", False), ("sumpubmed_all", False)):
        role, folder = KNOWN.corpus(name).role, raw(name)
        whole, _ = built(folder, name, tmp_path / "whole")
        pool, card = built(folder, name, tmp_path / "pool", Draw(6, 7, name, judged))
        assert pool["sample"].height == 6
        assert card["dropped"]["not drawn"] == whole["sample"].height - 6
        draw = "judged" if judged else "documents"
        for n in (4, 6):
            one, two = (sample(role, frames, n, 7, name, draw=draw) for frames in (whole, pool))
            assert {k: f.to_dicts() for k, f in one.items()} == {
                k: f.to_dicts() for k, f in two.items()
            }


def test_choices_are_joined_by_votes(raw: Callable[[str], Path], tmp_path: Path) -> None:
    frames, _ = built(raw("feedback_choices_valid2"), "feedback_choices_valid2", tmp_path)
    rows = frames["sample"].to_dicts()
    by_number = {row["summary_1"].split()[-1]: row for row in rows}
    assert set(by_number) == set("02345")  # of pair 1, the votes are even
    first = by_number["0"]  # two of three for `that`
    assert first[f"summary_{first['choice']}"] == "valid2 says that on 0"
    assert first["gap"] == pytest.approx(1 / 3)
    assert by_number["5"]["text"].startswith("Made article 5")
    assert by_number["4"]["text"].startswith("Made post 4")


def test_ratings_are_averaged_and_nulls_dropped_one_by_one(
    raw: Callable[[str], Path], tmp_path: Path
) -> None:
    frames, _ = built(raw("feedback_ratings_tldr"), "feedback_ratings_tldr", tmp_path)
    rows = {(r["text_b"][-1], r["aspect"]): r for r in frames["sample"].to_dicts()}
    assert {aspect for number, aspect in rows if number == "0"} == {
        "overall", "coverage", "coherence"
    }  # fmt: skip
    assert (rows["4", "overall"]["rating"], rows["4", "overall"]["raters"]) == (5.5, 2)
    assert rows["0", "overall"]["raters"] == 1
    assert all(r["text_a"].startswith("Made post") for r in rows.values())


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_an_unknown_split_and_a_strange_choice_are_named(tmp_path: Path) -> None:
    row = {"info": {"post": "p"}, "summaries": [{"text": "a"}], "choice": 1, "split": "train"}
    path = write(tmp_path / "x", jsonl([row]))
    with pytest.raises(BenchError, match="no row is of split 'tain'; the files have train"):
        feedback_choices([path], "tain")
    with pytest.raises(BenchError, match="1 summaries and choice 1"):
        feedback_choices([path], "train")
    axes = {"overall": 9, "accuracy": 7, "coverage": None, "coherence": 0}
    rated = {"info": {"post": "p"}, "summary": {"text": "a", "axes": axes}, "split": "test"}
    nothing = rated | {"info": {"post": None, "article": None}}
    other = rated | {"info": {"post": None, "article": "a"}}
    found = feedback_ratings([write(tmp_path / "y", jsonl([rated, nothing, other]))], "post")
    assert (found.read, len(found.rows)) == (8, 1)
    assert found.dropped == {
        "no source text": 4,
        "no rating of coverage": 1,
        "rating of overall outside 1 to 7": 1,
        "rating of coherence outside 1 to 7": 1,
    }


def test_clustering_layouts_of_other_revisions(tmp_path: Path) -> None:
    """One row per set, or one per text as on the main branch of bioRxiv; gzip or plain."""
    plain = sets(labels_are_numbers=True)
    parsed = clustering_sets([write(tmp_path / "test", gzip.compress(plain))])
    assert parsed == clustering_sets([write(tmp_path / "plain", plain)])
    assert [row.label for row in parsed.rows[:3]] == ["0", "1", "2"]
    assert parsed.notes == [
        "Sets, one a row: 3 with 24 texts in all, 12 of them distinct; number 1 is used"
    ]
    first = clustering_sets([tmp_path / "plain"], which=0)
    assert (len(first.rows), "number 0" in first.notes[0]) == (4, True)
    with pytest.raises(BenchError, match="there is no set 3: the files hold 3"):
        clustering_sets([tmp_path / "plain"], which=3)
    loose = jsonl({"sentences": f"text {n}", "labels": f"l{n % 2}"} for n in range(5))
    parsed = clustering_sets([write(tmp_path / "loose", loose)])
    assert (parsed.read, [row.label for row in parsed.rows[:2]]) == (5, ["l0", "l1"])
    assert parsed.notes[0].startswith("A row per text, read as one set: 1 with 5 texts")
    bad = write(tmp_path / "bad", jsonl([{"sentences": ["a", "b"], "labels": ["x"]}]))
    with pytest.raises(BenchError, match="not as many"):
        clustering_sets([bad])


def test_beir_s_layouts_give_the_same_collection(tmp_path: Path) -> None:
    """JSON lines, gzip, Parquet; judgements as JSON lines or as tabs."""
    files = beir("test")

    def as_parquet(content: bytes) -> bytes:
        buffer = io.BytesIO()
        pl.read_ndjson(content).write_parquet(buffer)
        return buffer.getvalue()

    def parse(change: Callable[[bytes], bytes], qrels: str) -> object:
        paths = [
            write(tmp_path / "corpus", change(files["corpus.jsonl"])),
            write(tmp_path / "queries", change(files["queries.jsonl"])),
            write(tmp_path / "qrels", files[qrels]),
        ]
        return everything(parse_beir(paths))

    plain = parse(bytes, "qrels/test.jsonl")
    assert parse(bytes, "qrels/test.tsv") == plain
    assert parse(gzip.compress, "qrels/test.tsv") == plain
    assert parse(as_parquet, "qrels/test.tsv") == plain
    assert plain.rows[0].text.startswith("T0 Made passage 0")  # type: ignore[attr-defined]
    assert plain.left_out == {  # type: ignore[attr-defined]
        "judged with score 0 only": 1, "not judged in this split": 1
    }  # fmt: skip


BEIR_LIKE = sorted(n for n in KNOWN.hub if n.startswith(("beir_", "cqadupstack_")))


@pytest.mark.parametrize("name", BEIR_LIKE)
def test_every_set_of_beir_is_taken_in_both_layouts(name: str, tmp_path: Path) -> None:
    split = "dev" if name == "beir_msmarco" else "test"
    found = []
    for there in (beir(split), beir_parquet(split)):
        listed = listing.Listing("a" * 40, dict.fromkeys(there, listing.Known()))
        chosen = picked._choose(name, KNOWN.hub[name], listed)
        paths = [
            write(tmp_path / f"{len(found)}-{part}", there[chosen[part]])
            for part in ("corpus", "queries", "qrels")
        ]
        found.append(everything(parse_beir(paths)))
    assert found[0] == found[1]
    assert {row.doc_id for row in found[1].rows} == {f"d{n}" for n in range(12)}  # type: ignore[attr-defined]


def test_a_collection_without_an_id_says_what_it_looked_for(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, b'{"key": "1", "text": "a"}\n') for name in ("c", "q")]
    qrels = write(tmp_path / "r", b'{"query-id": "1", "corpus-id": "1", "score": 1}\n')
    with pytest.raises(BenchError, match="row 1 has no column '_id or id'; there are key, text"):
        parse_beir([*paths, qrels])


def test_the_relevance_of_a_duplicate_goes_to_the_one_kept(
    raw: Callable[[str], Path], tmp_path: Path
) -> None:
    for draw in (None, Draw(99, 1, "beir_nq", judged=True)):
        frames, _ = built(raw("beir_nq"), "beir_nq", tmp_path, draw)
        relevant = frames["qrels"].filter(pl.col("query_id") == "q1")["doc_id"].to_list()
        assert relevant == ["d3"]  # judged is d11, the same text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name,body\na,b\n", "row 1 has no column 'text'; there are name, body"),
        (b'{"body": 1}\n', "row 1 has no column 'text'; there are body.*schema has changed"),
        (b'{"text": "a"}\n{"text": \n', "line 2 is not JSON"),
        (b'{"text": "a"}\n[1]\n', "line 2 is no JSON object|row 2"),
        (b"\x1f\x8bnonsense", "cannot be read"),
        (b"PAR1nonsense", "cannot be read"),
        (b'{"text": 3}\n', "hold more than texts"),
    ],
)
def test_what_is_no_such_table_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path / "x", content)
    with pytest.raises(BenchError, match=message):
        list(table_documents([path], "text").rows())


def test_a_parquet_file_without_the_column(tmp_path: Path) -> None:
    pl.DataFrame({"document": ["a"]}).write_parquet(tmp_path / "x")
    with pytest.raises(BenchError, match="x has no column 'text'; there are document"):
        list(table_documents([tmp_path / "x"], "text").rows())


def test_real_rows_in_the_hub_s_layouts(shared: Path, tmp_path: Path) -> None:
    """Real texts: SciFact, CNN/DailyMail articles, newsgroup subjects, StackOverflow titles."""
    data = shared / "data"
    with serve() as hub, pytest.MonkeyPatch.context() as patch:
        for source, files in real_sets(data).items():
            hub.add(KNOWN.hub[source].hub, KNOWN.hub[source].revision, files)
        hub.cuts = 2
        provide = _fetching(hub, tmp_path, patch)
        frames, card = built(provide("beir_scifact"), "beir_scifact", tmp_path)
        assert card["counts"] == {"texts": 5183, "queries": 300, "judgements": 339}
        assert (card["rows_read"], card["dropped"], card["queries_left_out"]) == (5183, {}, {})
        assert frames["sample"]["text"].str.len_chars().mean() > 1000
        frames, card = built(provide("cnn_dailymail_test"), "cnn_dailymail_test", tmp_path)
        assert (card["rows"], frames["sample"]["summary"].null_count()) == (100, 0)
        frames, card = built(
            provide("mteb_twenty_newsgroups_subjects"), "mteb_twenty_newsgroups_subjects", tmp_path
        )
        assert card["rows_read"] == 5000
        assert card["counts"]["classes"] == 20
        assert "3 with 10,000 texts" in card["notes"][0]
        _, card = built(provide("mteb_stackexchange"), "mteb_stackexchange", tmp_path)
        assert card["rows_read"] == 9000
        assert statistics.median(card["words"]["text"]) > 3
