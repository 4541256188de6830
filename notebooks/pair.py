"""Make each notebook's .ipynb from its .py: the same bytes for the same text, without outputs.

In Jupyter, with jupytext installed, saving either file writes both; then `make notebooks` takes
the outputs and whatever Jupyter adds out of the .ipynb again.
"""

import hashlib
from pathlib import Path

import jupytext

FOLDER = Path(__file__).parent
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(script: Path) -> str:
    """The text of the .ipynb that belongs to a .py; a cell's id depends on what it holds."""
    made = jupytext.read(script, fmt="py:percent")
    made.metadata = {"kernelspec": KERNEL}
    made.nbformat, made.nbformat_minor = 4, 5
    seen: set[str] = set()
    for cell in made.cells:
        text, number = cell.source, 0
        while (key := hashlib.sha256(f"{number}{text}".encode()).hexdigest()[:8]) in seen:
            number += 1
        seen.add(key)
        cell.id = key
    return jupytext.writes(made, fmt="ipynb") + "\n"


def scripts() -> list[Path]:
    """The notebooks, in order."""
    return sorted(FOLDER.glob("[0-9][0-9]_*.py"))


if __name__ == "__main__":
    for path in scripts():
        path.with_suffix(".ipynb").write_text(notebook(path), encoding="utf-8")
