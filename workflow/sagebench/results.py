"""The files of results/: what the whole workflow is for."""

from pathlib import Path

from sagebench import figures, tables


def results_files(folder: Path) -> list[Path]:
    """Every table, figure, the data card, the metrics and the report, under `folder`."""
    made = [path for name in tables.TABLES for path in tables.outputs(name, folder / "tables")]
    made += [path for name in figures.FIGURES for path in figures.outputs(name, folder / "figures")]
    return [*made, folder / "corpora.md", folder / "metrics.json", folder / "report.html"]
