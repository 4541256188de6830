"""One module per command: `configure(parser)` and `run(options)`, adapters without logic."""

import argparse
import json
from typing import Any


def json_spec(text: str) -> dict[str, Any]:
    """A job's parameters as one JSON object."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("must be a JSON object")
    return value
