"""Repair, duplicates, empty and hostile texts: counted, never fatal."""

import hashlib
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sagebench import frames
from sagebench.corpora.clean import Cleaner, has_word
from sagebench.corpora.normalise import content_id, normalise
from sagebench.corpora.records import Choice, Document, Labelled, Parsed, Query, Rating

HOSTILE = [
    "",
    " \n\t",
    "?!…",
    "word",
    "😀",
    "e\u0301",
    "שלום עולם",
    "a\0b",
    "\ud83d alone",
    "<b>|x|</b> $y$",
    "../../etc/passwd",
    "x " * 500_000,
]


@pytest.mark.parametrize(
    ("broken", "right"),
    [
        ("paid Â£4.50", "paid £4.50"),
        ("thatâ€™s it", "that’s it"),
        ("cafÃ© crÃ¨me", "café crème"),
        ("quote \x93this\x94", "quote “this”"),  # C1 controls that are Windows-1252
        ("\ud83d\ude00 pair", "😀 pair"),
        ("lone \ud83d half", "lone \ufffd half"),
    ],
)
def test_mojibake_is_repaired_and_counted(broken: str, right: str) -> None:
    clean = Cleaner()
    assert clean(broken) == clean(broken) == right
    assert clean.repaired == 1


@pytest.mark.parametrize(
    "text",
    ["“curly” ‘quotes’", "ﬁ ligature", "ｆｕｌｌ", "&amp; <b>", "e\u0301", "\x1b[31mred", "a\r\nb"],
)
def test_other_unicode_stays(text: str) -> None:
    clean = Cleaner()
    assert clean(text) == text
    assert clean.repaired == 0


def test_lost_characters_are_counted() -> None:
    clean = Cleaner()
    clean("cost \ufffd100")
    assert (clean.repaired, clean.lost_characters) == (0, 1)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_a_clean_text_has_no_outer_space_and_fits_into_a_file(text: str) -> None:
    cleaned = Cleaner()(text)
    assert cleaned == cleaned.strip()
    cleaned.encode("utf-8")


@pytest.mark.parametrize("role", ["documents", "labelled", "ratings", "preferences", "retrieval"])
def test_hostile_texts_pass_or_are_counted(tmp_path: Path, role: str) -> None:
    records = {
        "documents": [Document(text, "a summary") for text in HOSTILE],
        "labelled": [Labelled(text, "a") for text in HOSTILE],
        "ratings": [Rating(text, "other", "overall", 1.0, 3) for text in HOSTILE],
        "preferences": [Choice(text, "one", "two", 1.0, 2.0) for text in HOSTILE],
        "retrieval": [Document(text, doc_id=str(n)) for n, text in enumerate(HOSTILE)],
    }[role]
    queries = [Query("q", "word", tuple(map(str, range(len(HOSTILE)))))]
    result = normalise(role, Parsed(len(records), records, queries))
    wordless = sum(not has_word(text) for text in HOSTILE)
    assert result.dropped == {"no text": wordless}
    assert wordless == 4
    frame = result.frames["sample"]
    assert frame.height == len(HOSTILE) - wordless
    frames.write(frame, tmp_path / "x.parquet", frames.ROLES[role])
    assert frames.read(tmp_path / "x.parquet", frames.ROLES[role]).equals(frame)


def test_the_first_duplicate_stays_and_disagreement_is_counted() -> None:
    rows = [
        Labelled("same text", "sport", "b"),
        Labelled(" same text\n", "sport", "a"),
        Labelled("same text", "tech", "c"),
        Labelled("same  text", "tech", "d"),
    ]
    result = normalise("labelled", Parsed(4, rows))
    assert result.frames["sample"].rows() == [
        ("b", "same text", "sport"),
        ("d", "same  text", "tech"),
    ]
    assert result.dropped == {"duplicate": 2}
    assert result.conflicts == 1


def test_repair_comes_before_the_search_for_duplicates() -> None:
    result = normalise("documents", Parsed(2, [Document("cafÃ©"), Document("café")]))
    assert result.frames["sample"]["text"].to_list() == ["café"]
    assert result.dropped == {"duplicate": 1}


def test_ids_are_the_sources_own_or_the_texts() -> None:
    rows = [Document("own", "s", "id-1"), Document("text", "?")]
    frame = normalise("documents", Parsed(2, rows)).frames["sample"]
    expected = hashlib.sha256(b"text").hexdigest()[:12]
    assert dict(zip(frame["doc_id"], frame["summary"], strict=True)) == {
        "id-1": "s",
        expected: None,
    }
    assert content_id("a", "b") != content_id("ab", "")


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=4), st.sampled_from("ab")), max_size=12))
def test_order_of_distinct_records_does_not_matter(pairs: list[tuple[str, str]]) -> None:
    rows = list({text: Labelled(text, label) for text, label in pairs}.values())
    clean = Cleaner()
    distinct = list({clean(row.text): row for row in rows}.values())
    one = normalise("labelled", Parsed(0, distinct)).frames["sample"]
    two = normalise("labelled", Parsed(0, distinct[::-1])).frames["sample"]
    assert one.equals(two)
    assert one["doc_id"].is_sorted()


def test_choices_are_balanced_and_right() -> None:
    rows = [
        Choice(f"text {n}", f"good {n}", f"bad {n}", 3.0, 1.0 + (n % 2) * 2.0) for n in range(800)
    ]
    result = normalise("preferences", Parsed(800, rows))
    frame = result.frames["sample"]
    assert result.dropped == {"equal human scores": 400}
    assert 160 <= (frame["choice"] == 1).sum() <= 240
    chosen = frame.select(
        pl.when(pl.col("choice") == 1).then("summary_1").otherwise("summary_2").alias("chosen")
    )["chosen"]
    assert all(text.startswith("good") for text in chosen)
    assert set(frame["gap"]) == {2.0}


def test_a_choice_does_not_depend_on_which_came_first() -> None:
    one = normalise("preferences", Parsed(1, [Choice("t", "a", "b", 1.0, 2.5)])).frames["sample"]
    two = normalise("preferences", Parsed(1, [Choice("t", "b", "a", 2.5, 1.0)])).frames["sample"]
    assert one.equals(two)


def test_retrieval_moves_judgements_to_what_is_kept() -> None:
    documents = [
        Document("one", doc_id="1"),
        Document("one", doc_id="2"),
        Document("?", doc_id="3"),
    ]
    queries = [
        Query("a", "first", ("1", "2")),
        Query("b", "second", ("2",)),
        Query("c", " second ", ("1",)),
        Query("d", "third", ("3",)),
        Query("e", "...", ("1",)),
        Query("f", "fourth", ("no such",)),
    ]
    result = normalise("retrieval", Parsed(3, documents, queries))
    assert result.frames["sample"]["doc_id"].to_list() == ["1"]
    assert result.frames["queries"].rows() == [("a", "first"), ("b", "second")]
    assert result.frames["qrels"].rows() == [("a", "1", 1), ("b", "1", 1)]
    assert result.left_out == {"no relevant document": 2, "duplicate": 1, "no text": 1}


def test_rated_items_share_an_id_over_aspects() -> None:
    rows = [Rating("a", "b", aspect, 1.0, 3) for aspect in ("fluent", "compact", "fluent")]
    result = normalise("ratings", Parsed(3, rows))
    frame = result.frames["sample"]
    assert frame["aspect"].to_list() == ["compact", "fluent"]
    assert frame["item_id"].n_unique() == 1
    assert result.dropped == {"duplicate": 1}
