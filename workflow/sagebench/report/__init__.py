"""results/report.html: the tables, pictures, sources and traces on one page without network."""

from pathlib import Path

TEMPLATES = Path(__file__).parents[2] / "report"  # captions, and the page's template
