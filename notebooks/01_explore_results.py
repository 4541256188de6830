# %% [markdown]
# # Explore the results
#
# Every table of `results/tables` is a CSV file of one shape: a row per system, corpus and measure,
# with the value, its 95 % interval and the number of units behind it. This notebook reads them,
# answers four questions and draws every figure again. It needs no data but those files.

# %%
# %matplotlib inline
import tempfile
from pathlib import Path

import pandas as pd

from sagebench import figures
from sagebench.figures import style
from sagebench.tables.context import ALL, TASKS
from sagebench.tables.picks import NEEDS
from sagebench.tables.table import read

TABLES = Path("../results/tables")  # or those of a run of your own
pd.set_option("display.precision", 3, "display.max_colwidth", None)
pd.set_option("display.html.use_mathjax", False)  # a "$" in a name is a dollar

summary = read(TABLES / "summary.csv")
summary.head()

# %% [markdown]
# ## One number per system and task
#
# The paper's own values stand in the same table (measure `paper`); here are ours alone. Reference
# rows know nothing of meaning: they show what a score is worth.

# %%
ours = summary[summary.corpus == ALL]
ours.pivot_table("value", ["kind", "title"], "measure", sort=False, observed=True)

# %% [markdown]
# ## Who is best at what, and which reference row comes near?

# %%
leaders = []
for task, title in {**TASKS, "overall": "Overall"}.items():
    scores = ours[ours.measure == task].set_index("title")
    top = scores[scores.kind != "reference"].value.idxmax()
    row = scores[scores.kind == "reference"].value.idxmax()
    found = scores.loc[top]
    leaders.append([title, top, found.value, found.low, found.high, row, scores.value[row]])
pd.DataFrame(
    leaders, columns=["task", "best", "value", "low", "high", "reference row", "its value"]
)

# %% [markdown]
# ## Which system for which purpose, and how sure is that?
#
# All systems are scored on the same resamples of the texts, so the difference of two is taken
# resample by resample. `leads` is the share of resamples in which the best system is first; those
# in the last column cannot be told from it: the interval of the difference holds 0.

# %%
picks = read(TABLES / "picks.csv")
lines = []
for need, (title, measure) in NEEDS.items():
    scores = picks[(picks.measure == need) & (picks.kind != "reference")].set_index("title")
    behind = picks[(picks.measure == f"behind:{need}") & (picks.kind != "reference")]
    leads = picks[picks.measure == f"first:{need}"].set_index("title").value
    best = scores.value.idxmax()
    level = behind[(behind.low <= 0) & (behind.title != best)].title
    lines.append([title, measure, best, scores.value[best], leads[best], "; ".join(level)])
pd.DataFrame(
    lines, columns=["for", "measured by", "best", "value", "leads", "cannot be told from it"]
)

# %% [markdown]
# ## Who is clearly better than a row that knows nothing?
#
# For each task, the systems whose whole interval lies above the best reference row.

# %%
for task, title in TASKS.items():
    scores = ours[ours.measure == task]
    reference = scores[scores.kind == "reference"].value.max()
    clear = scores[(scores.kind != "reference") & (scores.low > reference)]
    print(f"{title} (above {reference:.3f}): {'; '.join(clear.title) or 'none'}")

# %% [markdown]
# ## How far from the paper?
#
# The summary is made from other corpora than the paper's. The table `agreement` compares like with
# like: the paper's cells on CNN/DailyMail, computed on CNN/DailyMail texts.

# %%
agreement = read(TABLES / "agreement.csv")
cells = agreement.pivot_table("value", "title", "measure", sort=False)
names = ["robustness", "insertion", "removal"]
cells[[column for name in names for column in (name, f"paper:{name}")]]

# %% [markdown]
# ## The figures
#
# Each is drawn from one table. Change a table, or point `TABLES` elsewhere, and see it change.


# %%
def draw(name):
    """The figure, in the look of results/figures."""
    recipe = figures.FIGURES[name]
    with style.applied():
        figure = recipe.draw(read(TABLES / f"{recipe.table}.csv"))
        figure.draw_without_rendering()  # ticks are made now, in this look
    return figure


draw("summary_heatmap")

# %%
draw("overall_intervals")

# %%
draw("condition_rates")

# %%
draw("sensitivity_curves")

# %%
draw("retention")

# %% [markdown]
# Drawn to files, they are the committed ones, byte by byte, as long as matplotlib is the one of
# `requirements.lock`.

# %%
with tempfile.TemporaryDirectory() as folder:
    for name in figures.FIGURES:
        for path in figures.draw(name, TABLES, Path(folder)):
            kept = TABLES.parent / "figures" / path.name
            same = kept.is_file() and kept.read_bytes() == path.read_bytes()
            print(f"{path.name:<26}{'the committed bytes' if same else 'differs'}")
