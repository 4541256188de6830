"""The plots that `dvc plots show` and `diff` draw from the tables.

Each has a Vega-Lite template of its name in .dvc/plots. DVC hands a template the rows of the CSV
file once per compared revision, told apart by the column `rev`; choosing and reshaping the rows
is the template's business.
"""

from typing import Any

# Plot -> its title and the table (results/tables/<table>.csv) that it shows.
PLOTS = {
    "summary": ("Scores by task, with 95 % intervals", "summary"),
    "sensitivity": ("Similarity against the edited share of a document", "sensitivity_grid"),
    "retention": ("Share of NDCG kept after each perturbation", "retrieval"),
}


def plots() -> list[dict[str, Any]]:
    """The top-level `plots:` of dvc.yaml."""
    return [
        {
            name: {
                "title": title,
                "template": name,
                "x": "value",
                "y": {f"results/tables/{table}.csv": "title"},
            }
        }
        for name, (title, table) in PLOTS.items()
    ]
