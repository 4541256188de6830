# %% [markdown]
# # What the scores hide
#
# The five scores are the paper's. Tables of `results/tables` ask what each of them cannot tell;
# [docs/validity.md](../docs/validity.md) says how they are made. This notebook draws each finding
# from its table and needs no other data.

# %%
# %matplotlib inline
from collections import Counter
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from sagebench.figures import dots, style
from sagebench.figures.rows import Rows
from sagebench.tables.context import ALL, TASKS
from sagebench.tables.table import read

TABLES = Path("../results/tables")  # or those of a run of your own
pd.set_option("display.precision", 3, "display.max_colwidth", None)
pd.set_option("display.html.use_mathjax", False)  # a "$" in a name is a dollar


def values(frame, measures):
    """System × measure, reference rows last."""
    part = frame[(frame.corpus == ALL) & frame.measure.isin(measures)]
    return part.pivot_table("value", "title", "measure", sort=False)[list(measures)]


def side_by_side(frame, measures, lines=None):
    """A panel per measure: each system's value and interval; a dashed line at lines[measure]."""
    frame = frame[frame.corpus == ALL]
    with style.applied():
        rows = Rows(frame[frame.measure.isin(measures)])
        figure = Figure(figsize=(style.WIDTH, 0.25 * rows.height + 0.9))
        panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
        figure.subplots_adjust(left=0.22, right=0.98, wspace=0.08, top=0.92)
        for axes, (measure, title) in zip(panels, measures.items(), strict=True):
            dots.draw(axes, frame, rows, measure)
            axes.set_title(title)
            if measure in (lines or {}):
                axes.axvline(lines[measure], color=style.INK, lw=0.8, ls="--", zorder=0)
        rows.label(panels[0])
        for axes in panels[1:]:
            axes.tick_params(axis="y", length=0, labelleft=False)
        figure.draw_without_rendering()  # ticks are made now, in this look
    return figure


# %% [markdown]
# ## Robustness has a cap; an AUC has none
#
# The score is the mean of three conditions. Whatever treats a text as a bag of words sees no
# difference after a shuffle, so two of the three can hardly hold and the score ends near 1/3. The
# AUC asks how often a superficially edited copy lies above one of changed meaning: 0.5 is chance,
# and most systems are below it.

# %%
robustness = read(TABLES / "robustness_separation.csv")
side_by_side(robustness, {"score": "Score", "auc": "AUC"}, lines={"score": 1 / 3, "auc": 0.5})

# %% [markdown]
# Which condition holds how often:

# %%
conditions = ["summary_above_semantic", "superficial_above_summary", "superficial_above_semantic"]
values(robustness, conditions)

# %% [markdown]
# The AUC of each transform: of superficial ones against all changes of meaning, and the reverse.

# %%
kinds = dict.fromkeys(m for m in robustness.measure if m.startswith("auc:"))
values(robustness, kinds).rename(columns=lambda name: name.removeprefix("auc:").replace("_", " "))

# %% [markdown]
# ## Sensitivity is won by a constant
#
# A similarity of 2/3, whatever the texts, is near 1/(1 + p) for every p. *Explained* is the share
# of the best constant's squared error that a system takes away once its scale is set right on
# other documents: a constant explains 0.

# %%
sensitivity = read(TABLES / "sensitivity_recalibrated.csv")
measures = {"score": "Score", "explained": "Explained", "rank": "Rank correlation"}
side_by_side(sensitivity, measures)

# %% [markdown]
# ## People prefer the longer summary, and so do the token metrics
#
# *Balanced* is the mean accuracy where people preferred the longer and where they preferred the
# shorter summary: 0.5 (dashed) for a system that looks at length alone.

# %%
length = read(TABLES / "preference_length.csv")
side_by_side(
    length,
    {"accuracy": "Accuracy", "accuracy:balanced": "Balanced"},
    lines={"accuracy:balanced": 0.5},
)

# %%
values(length, ["pearson:choice", "partial:choice", "ratings:pearson", "ratings:partial"])

# %% [markdown]
# ## Retention says nothing of how well a system ranks
#
# Retention divides a system's ranking quality under noise by its own without. On the left that
# quality, then its retention where copies compete with their originals (the paper's score), then
# where the copies are searched alone.

# %%
layouts = read(TABLES / "retrieval_layouts.csv")
measures = {
    "ndcg": "NDCG@10",
    "score:paired": "Retention, paired",
    "score:replace": "Retention, replace",
}
side_by_side(layouts, measures)

# %% [markdown]
# ## Five axes on one scale
#
# (score − floor) / (ceiling − floor): the floor is the random row, the ceiling an ideal system
# scored by the same code. Overall, raw and corrected:

# %%
summary = read(TABLES / "summary.csv")
corrected = read(TABLES / "chance_corrected.csv")
raw = summary[summary.measure == "overall"].assign(measure="raw")
both = pd.concat([raw, corrected[corrected.measure == "overall"]])
side_by_side(both, {"raw": "Overall", "overall": "Overall, corrected for chance"})

# %%
ends = corrected[corrected.kind.isin(["floor", "ceiling"])]
ends.pivot_table("value", "title", "measure", sort=False).T

# %%
values(corrected, [*TASKS, "overall"])

# %% [markdown]
# ## Who wins, and how surely
#
# The rank of each system's Overall with its interval over the resamples, and the share of
# resamples in which it comes first.

# %%
ranks = read(TABLES / "ranks.csv")
side_by_side(ranks, {"rank:overall": "Rank", "first:overall": "Comes first in"})

# %%
differences = read(TABLES / "differences.csv")
names = [*TASKS, "overall"]
systems = list(dict.fromkeys(differences.system))
counts = {}
for task in names:
    tests = [f"p:{task}-{other}" for other in systems]
    p = differences[differences.measure.isin(tests)].value
    counts[task] = [(p <= 0.05).sum() // 2, len(p) // 2]  # each pair stands there twice
pd.DataFrame(counts, index=["pairs that differ (Holm, 0.05)", "pairs"]).T

# %% [markdown]
# ## Every reading of the protocol
#
# The paper leaves open how ties count, how the three conditions make a score and what is searched.
# Which system leads under how many of the combinations:

# %%
readings = read(TABLES / "readings.csv")
combined = readings[readings.measure.str.startswith("overall:") & (readings.kind != "reference")]
winners = Counter()
for _, part in combined.groupby("measure"):
    winners.update(part[part.value.round(6) == part.value.max().round(6)].title)
pd.Series(dict(winners.most_common()), name="combinations led").to_frame()
