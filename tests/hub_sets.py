"""The paper's data sets in the Hub's layouts, for the Hub of `hub_server`.

MADE: the texts below were made for the tests to the exact schema of each set; they are not the
sets' rows. Where real rows are at hand, `real_sets` packs them in the same layouts.
"""

import gzip
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
from hub_server import Hub

from sagebench.corpora import catalogue
from sagebench.corpora.catalogue import Catalogue

DOCUMENTS = 9  # distinct texts of every made table; one more is empty, one is there twice
_SUBJECTS = ("rivers", "engines", "markets", "planets", "gardens", "harbours", "forests", "trains",
             "islands")  # fmt: skip


def text(kind: str, number: int) -> str:
    """A made text of two lines; some have characters that a careless reader would trip over."""
    subject = _SUBJECTS[number % len(_SUBJECTS)]
    return (
        f"Made {kind} {number} on {subject}: it is long, and it can be read in {number + 2} ways.\n"
        f"A second line says “more”\u2028 about {subject}, with 3,000 words left out."
    )


def parquet(rows: list[dict[str, Any]], schema: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(buffer)
    return buffer.getvalue()


def jsonl(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def _table(kind: str, columns: dict[str, Any], start: int = 0) -> list[dict[str, Any]]:
    """`DOCUMENTS` rows, an empty one, and the first one again."""
    numbers = [*range(start, start + DOCUMENTS), None, start]
    return [
        {
            name: ("" if n is None else f"{text(kind, n)} [{name}]")
            if dtype == pl.String
            else n or 0
            for name, dtype in columns.items()
        }
        for n in numbers
    ]


_TABLES = {
    "cnn_dailymail_hub": {"article": pl.String, "highlights": pl.String, "id": pl.String},
    "billsum": {"text": pl.String, "summary": pl.String, "title": pl.String},
    "sumpubmed": {"line_text": pl.String, "filename_text": pl.Int64, "text": pl.String,
                  "shorter_abstract": pl.String, "abstract": pl.String},
    "amazon_polarity": {"label": pl.Int64, "title": pl.String, "content": pl.String},
}  # fmt: skip


def _essays() -> bytes:
    rows = _table("essay", {"title": pl.String, "date": pl.String, "text": pl.String})
    return pl.DataFrame(rows).write_csv().encode()


_INFO = pl.Struct(dict.fromkeys(("id", "post", "title", "subreddit", "site", "article"), pl.String))
_SAID = {"text": pl.String, "policy": pl.String, "note": pl.String}
_WORK = {"worker": pl.String, "batch": pl.String, "split": pl.String}
_AXES = pl.Struct(
    dict.fromkeys(("overall", "accuracy", "coverage", "coherence"), pl.Int32)
    | {"compatible": pl.Boolean}
)


def _info(number: int, article: bool) -> dict[str, str | None]:
    found = text("article" if article else "post", number)
    return {
        "id": f"t3_{number}", "title": None, "subreddit": None, "site": None,
        "post": None if article else found, "article": found if article else None,
    }  # fmt: skip


def comparisons(splits: list[str]) -> bytes:
    """Each split: 6 pairs of TL;DR and CNN/DM; the first judged 3 times, the second evenly."""
    rows = []
    for split in splits:
        votes = [(0, 1), (0, 1), (0, 0), (1, 0), (1, 1), (2, 1), (3, 0), (4, 1), (5, 0)]
        for worker, (number, choice) in enumerate(votes):
            summaries = [
                {"text": f"{split} says {w} on {number}", "policy": w, "note": None}
                for w in ("this", "that")
            ]
            rows.append(
                {
                    "info": _info(number, article=number == 5),
                    "summaries": summaries,
                    "choice": choice,
                    "worker": f"w{worker}",
                    "batch": "b",
                    "split": split,
                    "extra": {"confidence": None if worker % 2 else worker},
                }
            )
    schema = {"info": _INFO, "summaries": pl.List(pl.Struct(_SAID)), "choice": pl.Int32, **_WORK,
              "extra": pl.Struct({"confidence": pl.Int32})}  # fmt: skip
    return parquet(rows, schema)


def axis(split: str, article: bool) -> bytes:
    """5 summaries, the last rated twice; 3 of 24 ratings are null, each on its own."""
    rows = []
    for worker, number in enumerate((0, 1, 2, 3, 4, 4)):
        axes: dict[str, Any] = {
            name: 1 + (worker + place) % 7
            for place, name in enumerate(("overall", "accuracy", "coverage", "coherence"))
        }
        nulls = {0: "accuracy", 1: "coverage", 2: "coherence"}
        if number in nulls:
            axes[nulls[number]] = None
        summary = {"text": f"A summary of {number}", "policy": "p", "note": None,
                   "axes": axes | {"compatible": None}}  # fmt: skip
        rows.append({"info": _info(number, article), "summary": summary, "worker": f"w{worker}",
                     "batch": "b", "split": split})  # fmt: skip
    return parquet(rows, {"info": _INFO, "summary": pl.Struct(_SAID | {"axes": _AXES}), **_WORK})


def sets(labels_are_numbers: bool) -> bytes:
    """Three sets that overlap: 4, 12 and 8 texts; the largest has 3 classes."""
    rows = []
    for size in (4, 12, 8):
        labels = [n % 3 if labels_are_numbers else f"{_SUBJECTS[n % 3]}.txt" for n in range(size)]
        rows.append({"sentences": [text("title", n) for n in range(size)], "labels": labels})
    return jsonl(rows)


def beir(split: str) -> dict[str, bytes]:
    """12 documents (two with one text), 6 queries of which 4 are judged positively here."""
    documents = [{"_id": f"d{n}", "title": f"T{n}", "text": text("passage", n)} for n in range(11)]
    documents.append({**documents[3], "_id": "d11"})
    queries = [{"_id": f"q{n}", "text": f"Which {_SUBJECTS[n]}?"} for n in range(6)]
    judged = [("q0", "d0", 1), ("q0", "d1", 2), ("q1", "d11", 1), ("q2", "d5", 1), ("q2", "d6", 0),
              ("q3", "d8", 1), ("q4", "d9", 0)]  # fmt: skip
    qrels = [{"query-id": q, "corpus-id": d, "score": float(score)} for q, d, score in judged]
    tsv = "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{s}\n" for q, d, s in judged)
    return {
        "corpus.jsonl": jsonl(documents),
        "queries.jsonl": jsonl(queries),
        f"qrels/{split}.jsonl": jsonl(qrels),
        f"qrels/{split}.tsv": tsv.encode(),
    }


def made(name: str, known: Catalogue) -> dict[str, bytes]:
    """Every file of a source of the catalogue's Hub entries, under the name it has there."""
    source = known.hub[name]
    names = {k: pick.pick[0].replace("*", "-e6f81a233b9d8609") for k, pick in source.files.items()}
    if name == "summarize_from_feedback":
        found = {
            "comparisons-train": comparisons(["train"]),
            "comparisons-validation": comparisons(["valid1", "valid2"]),
            "axis-test": axis("test", article=True),
            "axis-validation": axis("valid1", article=False),
        }
        return {names[file_id]: content for file_id, content in found.items()}
    if name == "paul_graham_essays":
        return {names["essays"]: _essays()}
    if name in _TABLES:
        return {
            remote: parquet(_table(name, _TABLES[name], start=100 * place), _TABLES[name])
            for place, remote in enumerate(names.values())
        }
    if name.startswith("mteb_"):
        content = sets(labels_are_numbers="newsgroups" in name)
        packed = gzip.compress(content, mtime=0) if names["test"].endswith(".gz") else content
        # stackexchange-clustering also has sets for validation, which are not the paper's.
        return {names["test"]: packed, "valid.jsonl": b"not asked for"}
    split = "dev" if "qrels/dev.jsonl" in names.values() else "test"
    return beir_parquet(split) if name == "cqadupstack_android" else beir(split)


def beir_parquet(split: str) -> dict[str, bytes]:
    """The same collection as MTEB's newer commits lay it out: Parquet, and `id` for `_id`."""
    plain = beir(split)

    def table(name: str) -> bytes:
        found = pl.read_ndjson(plain[name]).rename({"_id": "id"}, strict=False)
        return parquet(found.to_dicts(), dict(found.schema))

    sources = {
        "corpus": "corpus.jsonl",
        "queries": "queries.jsonl",
        "qrels": f"qrels/{split}.jsonl",
    }
    return {f"{k}/{split}-00000-of-00001.parquet": table(v) for k, v in sources.items()}


def serve_made(hub: Hub) -> None:
    """Put every set of the catalogue on the Hub."""
    known = catalogue.load()
    for name, source in known.hub.items():
        readme = {"README.md": b"# made", f"{source.hub.split('/')[1]}.py": b"raise SystemExit(1)"}
        hub.add(source.hub, source.revision, made(name, known) | readme)


def real_sets(data: Path) -> dict[str, dict[str, bytes]]:
    """Real rows, re-packed: source of the catalogue -> its files."""

    def lines(path: str) -> list[dict[str, Any]]:
        raw = (data / path).read_bytes()
        plain = gzip.decompress(raw) if path.endswith(".gz") else raw
        return [json.loads(line) for line in plain.decode().split("\n") if line]

    def as_sets(path: str, sizes: tuple[int, ...]) -> bytes:
        rows = lines(path)
        step = len(rows) // len(sizes)
        chosen = [[rows[(k * step + i * 7) % len(rows)] for i in range(n)]
                  for k, n in enumerate(sizes)]  # fmt: skip
        return jsonl(
            {"sentences": [r["text"] for r in c], "labels": [r["label"] for r in c]} for c in chosen
        )

    articles = [
        {"article": r["document"], "highlights": r["summary"], "id": r["id"]}
        for r in lines("long_documents/cnn_dailymail_realsumm/test.jsonl")
    ]
    scifact = data / "retrieval" / "scifact"
    return {
        "beir_scifact": {
            "corpus.jsonl": gzip.decompress((scifact / "corpus.jsonl.gz").read_bytes()),
            "queries.jsonl": (scifact / "queries.jsonl").read_bytes(),
            "qrels/test.tsv": (scifact / "qrels" / "test.tsv").read_bytes(),
        },
        "mteb_twenty_newsgroups_subjects": {
            "test.jsonl": as_sets(
                "clustering/twentynewsgroups_subjects/data.jsonl.gz", (2000, 5000, 3000)
            )
        },
        "mteb_stackexchange": {
            "test.jsonl": as_sets("clustering/stackoverflow/data.jsonl.gz", (4000, 9000))
        },
        "cnn_dailymail_hub": {
            "3.0.0/test-00000-of-00001.parquet": parquet(articles, _TABLES["cnn_dailymail_hub"])
        },
    }
