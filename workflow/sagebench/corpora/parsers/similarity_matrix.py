"""Short documents, one a line, and the matrix of their similarity as people judged it."""

import itertools
from pathlib import Path

from sagebench.corpora.records import Parsed, Rating
from sagebench.errors import BenchError
from sagebench.registry import register


@register("parser", "similarity_matrix")
def similarity_matrix(
    files: list[Path], encoding: str, aspect: str = "similarity"
) -> Parsed[Rating]:
    """Role ratings: the upper triangle, pair by pair, on the matrix's own scale.

    `files` are the documents and the square matrix; the source gives means, no raters.
    """
    documents_file, matrix_file = files
    documents = [line for line in documents_file.read_text(encoding).splitlines() if line.strip()]
    matrix = [
        [float(value) for value in line.split()]
        for line in matrix_file.read_text("utf-8").splitlines()
        if line.strip()
    ]
    if {len(matrix), *map(len, matrix)} != {len(documents)}:
        raise BenchError(f"{matrix_file.name} is not a square over {len(documents)} documents")
    pairs = list(itertools.combinations(range(len(documents)), 2))
    ratings = [Rating(documents[i], documents[j], aspect, matrix[i][j], 0) for i, j in pairs]
    return Parsed(len(pairs), ratings)
