"""What is drawn while a corpus streams by is what would have been drawn from all of it."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sagebench.corpora.clean import _config, repair
from sagebench.corpora.normalise import normalise
from sagebench.corpora.pool import Draw, draw, everything
from sagebench.corpora.records import Document, Query, Stream
from sagebench.corpora.sample import sample
from sagebench.errors import BenchError

ROOT = Path(__file__).resolve().parents[1]
# Few texts, so that there are duplicates; with blanks, outer space and mojibake among them.
TEXTS = st.sampled_from(
    ["a", "b", "c", "d", "e", "f", "g", " a ", "…", "", "cafÃ©", "café", "Â ", "\ud800"]
)


def whole_and_pool(
    role: str, stream: Stream, pool_n: int, n: int, seed: int, kind: str
) -> list[object]:
    """The sample of n from the whole corpus, and from the pool of pool_n; errors as their text."""
    found: list[object] = []
    for parsed in (
        everything(stream),
        draw(stream, Draw(pool_n, seed, "x", judged=kind == "judged")),
    ):
        try:
            frames = normalise(role, parsed).frames
            drawn = sample(role, frames, n, seed, "x", draw=kind)
            found.append({part: frame.to_dicts() for part, frame in drawn.items()})
        except BenchError as error:
            found.append(type(error))
    return found


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(TEXTS, st.sampled_from(["", "s", "t"])), max_size=25),
    st.integers(1, 12), st.integers(1, 12), st.integers(0, 3), st.booleans(),
)  # fmt: skip
def test_documents(rows: list[tuple[str, str]], one: int, two: int, seed: int, needs: bool) -> None:
    n, pool_n = sorted((one, two))
    stream = Stream(
        lambda: (Document(text, summary) for text, summary in rows), needs_summary=needs
    )
    whole, pool = whole_and_pool("documents", stream, pool_n, n, seed, "documents")
    assert whole == pool


@settings(deadline=None, max_examples=300)
@given(
    st.lists(TEXTS, max_size=20),
    st.lists(
        st.tuples(
            st.sampled_from(["one?", "two?", "three?", "?"]),
            st.lists(st.integers(0, 21), min_size=1, max_size=4),
        ),
        max_size=6,
    ),
    st.integers(1, 10), st.integers(1, 10), st.integers(0, 3),
    st.sampled_from(["documents", "judged"]),
)  # fmt: skip
def test_retrieval(
    texts: list[str], asked: list[tuple[str, list[int]]], one: int, two: int, seed: int, kind: str
) -> None:
    n, pool_n = sorted((one, two))
    queries = [
        Query(f"q{k}", text, tuple(f"d{i}" for i in relevant))
        for k, (text, relevant) in enumerate(asked)
    ]
    stream = Stream(
        lambda: (Document(text, doc_id=f"d{i}") for i, text in enumerate(texts)), queries
    )
    whole, pool = whole_and_pool("retrieval", stream, pool_n, n, seed, kind)
    if isinstance(whole, dict) and isinstance(pool, dict):
        # Of queries with equal texts the first that has a relevant document gives the id.
        for found in (whole, pool):
            names = {row["query_id"]: row["text"] for row in found["queries"]}
            found["qrels"] = sorted((names[r["query_id"]], r["doc_id"]) for r in found["qrels"])
            found["queries"] = sorted(names.values())
    assert whole == pool


def test_the_counts_add_up() -> None:
    texts = ["a", "b", "a", "", "c", "d", "e"]
    parsed = draw(Stream(lambda: map(Document, texts)), Draw(2, 1, "x"))
    assert parsed.read == 7
    assert parsed.dropped == {"no text": 1, "duplicate": 1, "not drawn": 3}
    assert len(parsed.rows) == 2


@pytest.mark.parametrize("streamed", [True, False])
def test_a_document_without_its_summary_is_counted(streamed: bool) -> None:
    rows = [Document("a", "s"), Document("b", ""), Document("c", None), Document("", "s")]
    stream = Stream(lambda: iter(rows), needs_summary=True)
    parsed = draw(stream, Draw(9, 1, "x")) if streamed else everything(stream)
    result = normalise("documents", parsed)
    assert (parsed.read, result.dropped) == (4, {"no summary": 2, "no text": 1})
    assert result.frames["sample"]["text"].to_list() == ["a"]


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_ascii_needs_no_repair(text: str) -> None:
    """The shortcut for ASCII gives what the repair gives."""
    import ftfy

    assert repair(text) == text == ftfy.fix_text(text, _config())


MEASURE = """
import json, sys
from pathlib import Path
from sagebench.corpora.pool import Draw, draw
from sagebench.corpora.parsers.beir import beir
from sagebench.corpora.parsers.tables import table_documents
import polars
folder, kind = Path(sys.argv[1]), sys.argv[2]
def peak():  # of this program alone: getrusage would count the one that started it
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM"))
files = [folder / name for name in ("corpus", "queries", "qrels")]
stream = beir(files) if kind == "beir" else table_documents([folder / "table"], "text")
before = peak()
parsed = draw(stream, Draw(1000, 1, "x", judged=kind == "beir"))
print(json.dumps({"before": before, "grown": peak() - before, "read": parsed.read,
                  "kept": len(parsed.rows)}))
"""


on_linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")


def measured(folder: Path, kind: str) -> dict[str, int]:
    """MiB of memory at its highest, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow"), "POLARS_MAX_THREADS": "1"}
    command = [sys.executable, "-c", MEASURE, str(folder), kind]
    done = subprocess.run(
        command, env=environment, text=True, capture_output=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout)
    print(kind, found)
    return found


def collection(folder: Path, documents: int) -> int:
    """A made collection in BEIR's layout, 500 queries; bytes of its corpus."""
    words = random.Random(1).choices(["alpha", "beta", "gamma", "delta", "epsilon"], k=99)
    with open(folder / "corpus", "w", encoding="utf-8") as stream:
        for n in range(documents):
            text = " ".join(words[n % 60 :]) * 2
            stream.write(
                json.dumps({"_id": f"d{n}", "title": f"T{n}", "text": f"{n} {text}"}) + "\n"
            )
    every = documents // 500
    queries = [{"_id": f"q{n}", "text": f"query {n}"} for n in range(500)]
    (folder / "queries").write_text("".join(json.dumps(q) + "\n" for q in queries))
    lines = "".join(f"q{n}\td{n * every}\t1\n" for n in range(500))
    (folder / "qrels").write_text("query-id\tcorpus-id\tscore\n" + lines)
    return (folder / "corpus").stat().st_size


@on_linux
# Bounds in MiB: a constant for buffers and numpy's first use, and 100 bytes a document.
@pytest.mark.parametrize(
    ("documents", "bound"),
    [(60_000, 20), pytest.param(1_000_000, 160, marks=pytest.mark.slow)],
)
def test_memory_does_not_grow_with_the_text(tmp_path: Path, documents: int, bound: int) -> None:
    size = collection(tmp_path, documents) >> 20
    found = measured(tmp_path, "beir")
    assert (found["read"], found["kept"]) == (documents, 1000)
    assert found["grown"] < bound
    assert documents < 1_000_000 or size > 500


@on_linux
def test_memory_of_parquet(tmp_path: Path) -> None:
    """One file of 100,000 long rows: a batch is in memory, not the table."""
    import polars as pl

    filler = " ".join(str(n) for n in range(400))
    rows = pl.DataFrame({"text": [f"{n} {filler}" for n in range(100_000)]})
    rows.write_parquet(tmp_path / "table", row_group_size=2_000)
    assert rows.estimated_size("mb") > 130
    found = measured(tmp_path, "table")
    assert (found["read"], found["kept"]) == (100_000, 1000)
    assert found["grown"] < 90
