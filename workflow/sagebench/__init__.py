"""SAGE rebuilt: a reproducible benchmark of semantic similarity (arXiv 2509.21310)."""

__version__ = "0.1.0"
