# %% [markdown]
# # Add your own model
#
# Write a function from texts to vectors, and `sagebench.evaluate` puts it through all five tasks.
# At size `smoke` (a handful of texts) that takes a minute or two, the first time with a download.

# %%
# %matplotlib inline
import os

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.feature_extraction.text import HashingVectorizer

from sagebench import BenchError, evaluate
from sagebench.figures import dots, style
from sagebench.figures.rows import Rows
from sagebench.tables.context import ALL, TASKS

os.environ["TQDM_DISABLE"] = "1"  # no progress bars between the outputs
pd.set_option("display.precision", 3, "display.max_colwidth", None)
pd.set_option("display.html.use_mathjax", False)  # a "$" in a name is a dollar

# %% [markdown]
# ## The model
#
# Any function will do that takes a list of texts and gives one vector each, of any length. This one
# counts character trigrams; put yours in its place. An object with such a method `encode`, like a
# SentenceTransformer, is taken as it is.

# %%
counts = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 3), n_features=1024, norm=None)


def encode(texts):
    """(n, 1024) damped counts of character trigrams."""
    found = counts.transform(texts).toarray()
    return np.sign(found) * np.log1p(np.abs(found))


# %% [markdown]
# ## All five tasks
#
# Beside a text metric and a row that knows nothing of meaning: a score is worth what it is above
# the latter.

# %%
SIZE = "smoke"  # "default" for scores to rely on
table = evaluate(encode, name="trigrams", size=SIZE, beside=["jaccard", "random"])
scores = pd.DataFrame(table.to_dicts())
summary = scores[scores.table == "summary"]
summary.pivot_table("value", "title", "measure", sort=False)

# %% [markdown]
# ## How sure is that?
#
# Each score with its 95 % interval. On a handful of texts they are wide: most differences at this
# size mean nothing yet.

# %%
with style.applied():
    rows = Rows(summary)
    figure = Figure(figsize=(style.WIDTH, 3.2))
    panels = figure.subplots(1, len(TASKS), sharey=True)
    figure.subplots_adjust(left=0.14, right=0.98, wspace=0.12)
    for axes, (task, title) in zip(panels, TASKS.items(), strict=True):
        dots.draw(axes, summary, rows, task)
        axes.set_title(title)
        axes.set_xlim(-0.05, 1.05)
    rows.label(panels[0])
    for axes in panels[1:]:
        axes.tick_params(axis="y", length=0, labelleft=False)
    figure.draw_without_rendering()  # ticks are made now, in this look
figure

# %% [markdown]
# ## Behind a score
#
# The cells of each task's own table are there too: here what is left of the ranking after each
# perturbation of the documents.

# %%
retrieval = scores[(scores.table == "retrieval") & (scores.corpus == ALL)]
retention = retrieval[retrieval.measure.str.startswith("retention:")]
retention.pivot_table("value", "measure", "title", sort=False)

# %% [markdown]
# ## A mistake is named
#
# What a function returns is checked before a number rests on it.

# %%
try:
    evaluate(lambda texts: np.full((len(texts), 3), np.nan), tasks="clustering", size=SIZE)
except BenchError as error:
    print(error)

# %% [markdown]
# ## From here
#
# ```py
# evaluate("sentence-transformers/all-mpnet-base-v2")       # a Hub id, or a folder
# evaluate("my_module:encode", tasks=["retrieval"])         # a function of a file beside you
# evaluate(similarity)                                      # similarity(a, b) of two lists
# evaluate(encode, size="default", beside=["minilm"])       # the committed tables' texts
# ```
#
# At size `default` the numbers are comparable with `results/tables`: the texts are the same. For a
# row of its own in every table, figure and the report, name the model in `params.yaml` and run
# `make results`:
#
# ```yaml
# models:
#   - minilm
#   - {name: mine, path: ./my-model, max_tokens: 512, prompt: ""}
# ```
