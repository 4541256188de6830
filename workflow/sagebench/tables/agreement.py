"""The paper's own cells, recomputed with its classical metrics on texts of the same kind.

The check that the protocol here is the paper's: our value, the paper's, and whether the gap lies
within a tolerance that was set beforehand. Our texts are at best of the same collection, not the
same texts, so equality to the last digit is not expected. Corpora of another collection, the
nearest there are, stand apart: their gaps are shown and not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sagebench.errors import BenchError
from sagebench.tables import caption, paper
from sagebench.tables.context import Context, System
from sagebench.tables.estimate import Estimate
from sagebench.tables.panels import MISSING, score_cell
from sagebench.tables.scores import Scores
from sagebench.tables.table import Cell, Panel, Table, tidy

# A score that both have: title, task, measure, and the paper's table.
SCORES = {
    "robustness": ("Robustness", "agreement_robustness", "score", paper.ROBUSTNESS),
    "insertion": ("Insertion", "agreement_sensitivity", "insertion", paper.INSERTION),
    "removal": ("Removal", "agreement_sensitivity", "removal", paper.REMOVAL),
}
# Largest gap that counts as agreement, by system, on texts of the paper's own collection; BM25 has
# none, its scores depend on the batch.
TOLERANCES = {
    "robustness": {"levenshtein": 0.04, "rouge": 0.04, "jaccard": 0.04},
    "insertion": {"levenshtein": 0.01, "rouge": 0.01, "jaccard": 0.02},
    "removal": {"levenshtein": 0.01, "rouge": 0.01, "jaccard": 0.02},
}
EVERY = System("all systems", "All systems", "classical")  # a label with a space: no metric's


@dataclass(frozen=True)
class Comparison:
    """One score of one system: ours and the paper's. Without a tolerance nothing is judged."""

    system: System
    corpus: str
    score: str
    ours: Estimate
    reported: float
    tolerance: float | None
    provenance: str  # on which data the paper's value was computed

    @property
    def gap(self) -> Estimate:
        """Ours minus the paper's, with our interval shifted along."""
        # Six digits: a gap of exactly the tolerance must not fail by the last bit.
        value, low, high = (
            None if part is None else round(part - self.reported, 6)
            for part in (self.ours.value, self.ours.low, self.ours.high)
        )
        return Estimate(value, low, high, self.ours.n)

    @property
    def within(self) -> bool | None:
        """Whether the gap is within the tolerance; None without a tolerance or a value."""
        if self.tolerance is None or self.gap.value is None:
            return None
        return abs(self.gap.value) <= self.tolerance

    def rows(self) -> list[dict[str, Any]]:
        """Tidy rows: our score under its name; paper, gap, tolerance, within before a colon."""
        labels = self.system.labels | {"corpus": self.corpus}
        single = {
            "paper": (self.reported, self.provenance),
            "tolerance": (self.tolerance, ""),
            "within": (self.within, ""),
        }
        return [
            self.ours.row(**labels, measure=self.score),
            self.gap.row(**labels, measure=f"gap:{self.score}"),
            *(
                labels | {"measure": f"{name}:{self.score}", "value": value, "note": note}
                for name, (value, note) in single.items()
                if value is not None
            ),
        ]

    def cells(self) -> list[Cell]:
        """The line of the printed table."""
        ours, gap = self.ours.value, self.gap.value
        note = (self.system.note,) if self.system.note else ()
        return [
            Cell(SCORES[self.score][0]),
            Cell(self.system.title, notes=note),
            Cell(f"{self.reported:.3f}"),
            score_cell(ours, self.ours.low, self.ours.high, notes=self.ours.notes),
            Cell(MISSING if gap is None else f"{gap:+.3f}".replace("-", "−")),
            Cell("none" if self.tolerance is None else f"{self.tolerance:.2f}"),
            Cell({True: "yes", False: "NO", None: MISSING}[self.within]),
        ]


def build(context: Context) -> Table:
    """System × score: the paper's value, ours, the gap and whether it is within the tolerance."""
    found = {task: Scores(context, task) for _, task, _, _ in SCORES.values()}
    systems = context.pick(context.params.agreement.systems)
    rows: list[dict[str, Any]] = []
    groups: list[tuple[str, list[list[Cell]]]] = []
    means: list[list[Cell]] = []
    for corpus in sorted(context.params.agreement.corpora, key=lambda c: not _near(context, c)):
        comparisons = [
            _compare(context, found, corpus, score, system)
            for score in SCORES
            for system in systems
        ]
        gaps = {
            system: _mean_gap([each for each in comparisons if system in (each.system, EVERY)])
            for system in (*systems, EVERY)
        }
        rows += [row for comparison in comparisons for row in comparison.rows()]
        rows += [
            gap.row(**system.labels, corpus=corpus, measure="mean_absolute_gap")
            for system, gap in gaps.items()
        ]
        title = _title(context, corpus)
        groups.append((title, [each.cells() for each in comparisons]))
        means.append([Cell(title), *(_gap_cell(gap) for gap in gaps.values())])
    notes = dict.fromkeys(row["note"] for row in rows if row["measure"].startswith("paper:"))
    header = [Cell("Score"), Cell("System"), Cell("Paper", notes=tuple(notes))]
    header += [Cell(text) for text in ("Ours", "Gap", "Tolerance", "Within")]
    text = caption.join(
        caption.corpora(context, found["agreement_robustness"].units("score"), "documents"),
        "The paper's cells for the data that these corpora stand for, recomputed; gap: ours minus "
        "the paper's. A tolerance is set only for texts of the paper's own collection.",
        *_differences(context),
        caption.settings(context, "documents", reading=context.params.tasks.robustness.reading),
    )
    mean_header = [Cell("Corpus"), *(Cell(system.title) for system in (*systems, EVERY))]
    panels = [
        Panel(header, groups),
        Panel(mean_header, [("", means)], f"Mean absolute gap over the {len(SCORES)} scores"),
    ]
    return Table("Agreement with the paper", text, tidy(rows), panels)


def _near(context: Context, corpus: str) -> bool:
    """Whether the corpus is of the collection that the paper used."""
    stands_for = context.catalogue.corpus(corpus).stands_for
    return stands_for is not None and (stands_for.same or stands_for.collection)


def _title(context: Context, corpus: str) -> str:
    """The corpus, and for which data of the paper it stands if they are another collection."""
    title, stands_for = context.corpus_title(corpus), context.catalogue.corpus(corpus).stands_for
    if stands_for is None or _near(context, corpus):
        return title
    return f"{title}: nearest to the paper's {stands_for.dataset}, another collection"


def _mean_gap(comparisons: list[Comparison]) -> Estimate:
    """The mean absolute gap of single cells; those without a value are counted in the note."""
    gaps = [abs(each.gap.value) for each in comparisons if each.gap.value is not None]
    lost = len(comparisons) - len(gaps)
    notes = (f"{lost} of {len(comparisons)} cells have no value",) if lost else ()
    if not gaps:
        return Estimate(None, notes=notes)
    return Estimate(round(sum(gaps) / len(gaps), 6), n=len(gaps), notes=notes)


def _gap_cell(gap: Estimate) -> Cell:
    return Cell(MISSING if gap.value is None else f"{gap.value:.3f}", notes=gap.notes)


def _differences(context: Context) -> list[str]:
    """What sets our corpora apart from the paper's data, as the catalogue states it."""
    found = []
    for corpus in context.params.agreement.corpora:
        quirks = " ".join(context.catalogue.corpus(corpus).quirks)
        found.append(f"Of {context.corpus_title(corpus)}: {quirks}" if quirks else "")
    return found


def _compare(
    context: Context, found: dict[str, Scores], corpus: str, score: str, system: System
) -> Comparison:
    _, task, measure, table = SCORES[score]
    column, name = paper.dataset(context, corpus, table), paper.name_of(context, system.name)
    if column is None:
        raise BenchError(
            f"agreement: corpus {corpus!r} stands for none of the paper's data "
            f"({', '.join(paper.columns(table))}); remove it from agreement.corpora"
        )
    if name is None:
        raise BenchError(
            f"agreement: the paper has no system like {system.name!r} with these parameters; "
            f"agreement.systems may hold {', '.join(paper.SYSTEMS)}"
        )
    ours = found[task].cell(system.name, corpus, measure)
    tolerance = TOLERANCES[score].get(system.name) if _near(context, corpus) else None
    reported = paper.reported()[table, name, column]
    provenance = paper.provenance(context, corpus)
    return Comparison(system, corpus, score, ours, reported, tolerance, provenance)
