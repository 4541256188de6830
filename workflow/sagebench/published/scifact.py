"""SciFact (BEIR): claims as queries, abstracts as documents."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sagebench.published.folder import Folder
from sagebench.published.vectors import Vectors

_FOLDER = "retrieval/scifact"
_CUTOFFS = (1, 3, 5, 10, 20, 100, 1000)
_NAMES = {"ndcg": "nDCG", "map": "AP", "recall": "R", "precision": "P", "mrr": "RR"}
_DIGITS = 5  # MTEB's rounding of retrieval scores


@dataclass(frozen=True)
class SciFact:
    """Document id -> title and abstract; query id -> claim; query id -> {document id: 1}."""

    documents: dict[str, str]
    queries: dict[str, str]
    relevant: dict[str, dict[str, int]]

    @classmethod
    def read(cls, folder: Folder) -> "SciFact":
        """The whole collection and the test part's judgements."""
        corpus = folder.json_lines(f"{_FOLDER}/corpus.jsonl.gz", "_id", "title", "text")
        queries = folder.json_lines(f"{_FOLDER}/queries.jsonl", "_id", "text")
        judged = folder.table(
            f"{_FOLDER}/qrels/test.tsv", "query-id", "corpus-id", "score", delimiter="\t"
        )
        for name, rows, wanted in (
            ("corpus.jsonl.gz", corpus, 5_183),
            ("queries.jsonl", queries, 300),
            ("qrels/test.tsv", judged, 339),
        ):
            folder.count(f"{_FOLDER}/{name}", len(rows), wanted)
        relevant: dict[str, dict[str, int]] = {}
        for row in judged:
            relevant.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
        return cls(
            {row["_id"]: f"{row['title']} {row['text']}".strip() for row in corpus},
            {row["_id"]: row["text"] for row in queries},
            relevant,
        )

    @property
    def texts(self) -> list[str]:
        """Documents and the queries that are judged."""
        return [*self.documents.values(), *(self.queries[name] for name in self.relevant)]

    def scores(self, vectors: Vectors) -> dict[str, Any]:
        """Every measure at every cutoff; equal cosines come in the order of document ids."""
        import ir_measures

        ids = np.array(sorted(self.documents))
        asked = [self.queries[name] for name in self.relevant]
        cosines = vectors.cosine.matrix(asked, [self.documents[name] for name in ids])
        run = {}
        for name, row in zip(self.relevant, cosines, strict=True):
            best = np.argsort(-row, kind="stable")[: max(_CUTOFFS)]
            # Ranks as scores: the library would order equal cosines by its own rule.
            run[name] = {ids[place]: float(-rank) for rank, place in enumerate(best)}
        measures = {
            f"{ours}_at_{cutoff}": ir_measures.parse_measure(f"{theirs}@{cutoff}")
            for ours, theirs in _NAMES.items()
            for cutoff in _CUTOFFS
        }
        found = ir_measures.calc_aggregate(list(measures.values()), self.relevant, run)
        return {name: round(float(found[each]), _DIGITS) for name, each in measures.items()}
