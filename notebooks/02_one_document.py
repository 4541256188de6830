# %% [markdown]
# # One document through everything
#
# A document and its summary from the benchmark's own sample, every perturbation that there is, and
# what each system makes of it. The packaged corpora are fetched on first use and kept per user.

# %%
# %matplotlib inline
import os
import warnings
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from sagebench import registry, score
from sagebench.evaluation.workspace import Workspace
from sagebench.figures import style
from sagebench.figures.cells import Cells
from sagebench.perturbations import sets
from sagebench.plan import Plan
from sagebench.tables.context import Context
from sagebench.textdiff import edits, printable, shown

os.environ["TQDM_DISABLE"] = "1"  # no progress bars between the outputs
warnings.filterwarnings("ignore", message="IProgress not found")
pd.set_option("display.precision", 3, "display.max_colwidth", None)
pd.set_option("display.html.use_mathjax", False)  # a "$" in a text is a dollar

plan = Plan.read("../params.yaml", "../config/smoke.yaml")
workspace = Workspace(plan)
sample = workspace.inputs("robustness", "cnn_dailymail")["sample"]
document = sample.row(0, named=True)  # or {"text": "a text of your own", "summary": "…"}

print(printable(document["text"][:600]), "…\n")
print("summary:", printable(document["summary"]))

# %% [markdown]
# ## Every perturbation of it
#
# Superficial ones leave the meaning, semantic ones change it, an insertion or a removal makes up
# half as many tokens as the text has, in its middle. Parameters and seed are those of
# `params.yaml`, so the texts of the paper's transforms are those that the benchmark scores.


# %%
def perturbed(name, text, size=0.5, position=0.5):
    """The text after one perturbation; size and position only where they mean something."""
    workspace.fetch(plan.needs("perturbation", name))
    change = registry.load("perturbation", name)(
        workspace.raw, **plan.params.perturbations.get(name, {})
    )
    place = (size, position) if change.kind in ("insertion", "removal") else (None, None)
    return change.apply(text, plan.params.seed, *place)


perturbations = sets.describe()
versions = {row.title: perturbed(row.name, document["text"]) for row in perturbations}
pd.DataFrame([row._asdict() for row in perturbations]).set_index("title")

# %% [markdown]
# ## What each one did
#
# Removed text stands in ⟦-…⟧, added text in ⟦+…⟧, long stretches are cut. Small edits are shown
# character by character, others word by word. Whatever a text holds is shown as text: characters
# that cannot be seen are backslash escapes.

# %%
for row in perturbations:
    small = row.kind == "superficial" and not row.name.startswith("wordnet")
    by = "character" if small else "word"
    found = edits(document["text"], versions[row.title], by)
    count = sum(edit.kind != "kept" for edit in found)
    print(f"{row.title} ({row.kind}): {count:,} edits by {by}")
    print(f"  {shown(found, around=30, most=10)}\n")

# %% [markdown]
# ## What each system makes of it
#
# The similarity of the document with each version of it and with its summary. All pairs are one
# batch, on which the values of BM25Plus depend; *normalise: self* has no such batch.

# %%
others = {**versions, "Its summary": document["summary"]}
systems = Context(plan.params, plan.catalogue, Path()).systems
table = pd.DataFrame(
    {
        system.title: score([document["text"]] * len(others), [*others.values()], system.name)
        for system in systems
    },
    index=[*others],
)
table


# %%
def heat_map(table):
    """Rows × columns of similarities between 0 (dark) and 1."""
    with style.applied():
        figure = Figure(figsize=(style.WIDTH, 0.3 * len(table) + 1.9))
        axes = figure.add_axes((0.2, 0.02, 0.74, 1 - 1.8 / figure.get_figheight()))
        cells = Cells(axes, digits=2, size=8)
        for y, values in enumerate(table.to_numpy()):
            for x, value in enumerate(values):
                cells.draw(x, y, value)
        axes.set_xlim(-0.5, table.shape[1] - 0.5)
        axes.set_ylim(len(table) - 0.5, -0.5)
        names = [style.short(title, 26) for title in table.columns]
        axes.set_xticks(range(len(names)), names, rotation=40, ha="left", rotation_mode="anchor")
        axes.set_yticks(range(len(table)), [style.short(title, 26) for title in table.index])
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.spines[:].set_visible(False)
        figure.draw_without_rendering()  # ticks are made now, in this look
    return figure


heat_map(table)

# %% [markdown]
# ## The three conditions of the robustness task, for this document
#
# Over the paper's transforms: is the summary above every change of meaning, every superficial copy
# above the summary, every superficial copy above every change of meaning?

# %%
section = plan.params.tasks.robustness
titles = {row.name: row.title for row in perturbations}
superficial = table.loc[[titles[name] for name in section.superficial]]
semantic = table.loc[[titles[name] for name in section.semantic]]
summary = table.loc["Its summary"]
pd.DataFrame(
    {
        "summary > meaning": summary > semantic.max(),
        "surface > summary": superficial.min() > summary,
        "surface > meaning": superficial.min() > semantic.max(),
    }
)

# %% [markdown]
# ## Hostile text is text
#
# Markup, terminal codes, a direction override and formulas go through the same steps and come out
# as what they are.

# %%
hostile = (
    "<script>alert('x')</script> \x1b[31mred\x1b[0m $\\frac{1}{2}$ \u202eevil\u202c ⟦+not an edit⟧"
)
changed = perturbed("random_capitalization", hostile)
print(shown(edits(hostile, changed, "character"), most=20))
for name in ("jaccard", "levenshtein"):
    print(f"{name}: {score([hostile], [changed], name)[0]:.3f}")
