"""Write the JSON schemas of params.yaml and of the catalogue into workflow/schemas.

example:
  python -m sagebench schema
"""

import argparse
import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "schemas"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write")


def run(options: argparse.Namespace) -> None:
    """Generate both from the pydantic classes, which are the single description."""
    from sagebench.corpora import catalogue
    from sagebench.params import Params

    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schemas = {
        "params.schema.json": draft | Params.model_json_schema(),
        "catalogue.schema.json": catalogue.schema(),
    }
    for name, schema in schemas.items():
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        (options.folder / name).write_text(text, encoding="utf-8")
