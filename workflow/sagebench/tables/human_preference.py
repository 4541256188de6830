"""Task 1 (paper, tables 2 and 3): choices between summaries, and ratings."""

from __future__ import annotations

from typing import Any

from sagebench.tables import caption, paper, truncation
from sagebench.tables.context import ALL, Context, System
from sagebench.tables.estimate import Estimate
from sagebench.tables.panels import Column, by_system
from sagebench.tables.scores import Scores
from sagebench.tables.table import Panel, Table, tidy

TASK = "human_preference"
CHOICES = {"accuracy": "Accuracy", "precision": "Precision", "recall": "Recall", "f1": "F1"}
RATING = "rating:"
REPORTED = f"{paper.OTHER}: openai/summarize_from_feedback"


class Preferences:
    """The task's scores, told apart by kind of corpus."""

    def __init__(self, context: Context) -> None:
        settings = context.params.tasks.human_preference
        self.found = Scores(context, TASK)
        self.choices = list(settings.preferences)
        self.ratings = list(settings.ratings)
        # Aspect -> the corpora that rate it; which aspects there are, the scores say.
        self.aspects: dict[str, list[str]] = {}
        for corpus in self.ratings:
            for measure in self.found.measures(corpus, RATING):
                self.aspects.setdefault(measure.removeprefix(RATING), []).append(corpus)

    def choice_score(self, system: str, ties: str = "") -> Estimate:
        """Mean of the four numbers, each averaged over the corpora of choices.

        `ties` names another tie rule than the run's.
        """
        rule = f":{ties}" if ties else ""
        parts = [self.found.mean(system, measure + rule, self.choices) for measure in CHOICES]
        return self.found.combine(parts, parts[0].n)

    def rating_score(self, system: str) -> Estimate:
        """Mean over aspects, each averaged over the corpora that rate it."""
        parts = [
            self.found.mean(system, RATING + aspect, corpora)
            for aspect, corpora in self.aspects.items()
        ]
        items = sum(self.found.cell(system, corpus, "score").n for corpus in self.ratings)
        return self.found.combine(parts, items)

    def task_score(self, system: str, ties: str = "") -> Estimate:
        """Mean of the choices' and the ratings' score.

        The paper takes the mean of eight numbers: four of its choices and four rated aspects.
        With four aspects this is that mean; with any other number choices and ratings still
        weigh the same.
        """
        return self.found.combine([self.choice_score(system, ties), self.rating_score(system)])


def build(context: Context) -> Table:
    """The task's score, then its numbers per corpus, then the paper's eight."""
    preferences = Preferences(context)
    rows = [row for system in context.systems for row in _rows(preferences, system)]
    rows += truncation.rows(context, [TASK])
    rows += paper.rows(context, paper.SUMMARY, "Human Pref", REPORTED)
    for name in paper.columns(paper.PREFERENCE):
        rows += paper.rows(context, paper.PREFERENCE, name, REPORTED)
    frame = tidy(rows)
    panels = [
        by_system(frame, _score_columns(), context.system_notes),
        *(_choices(context, frame, corpus) for corpus in preferences.choices),
        _ratings(context, frame, preferences),
        paper.panel(frame, {name: name for name in paper.columns(paper.PREFERENCE)}),
    ]
    title = "Human preference alignment (task 1)"
    return Table(title, _caption(context, preferences), frame, panels)


def _rows(preferences: Preferences, system: System) -> list[dict[str, Any]]:
    found, name = preferences.found, system.name
    rows = []
    for corpus in preferences.choices:
        for measure in (*CHOICES, "score"):
            cell = found.cell(name, corpus, measure)
            rows.append(cell.row(**system.labels, corpus=corpus, measure=measure))
    for aspect, corpora in preferences.aspects.items():
        for corpus in corpora:
            for measure in (f"pearson:{aspect}", RATING + aspect):
                cell = found.cell(name, corpus, measure)
                rows.append(cell.row(**system.labels, corpus=corpus, measure=measure))
    scores = {
        "choices": preferences.choice_score(name),
        "ratings": preferences.rating_score(name),
        "score": preferences.task_score(name),
    }
    for measure, score in scores.items():
        rows.append(score.row(**system.labels, corpus=ALL, measure=measure))
    ties = found.ties(name, "accuracy", preferences.choices)
    labels = system.labels | {"corpus": ALL, "measure": "ties"}
    return [*rows, labels | {"value": ties, "note": ""}]


def _score_columns() -> list[Column]:
    return [
        Column("Choices", ALL, "choices"),
        Column("Ratings", ALL, "ratings"),
        Column("Score", ALL, "score"),
        paper.column("Paper", "Human Pref"),
        Column("Ties", ALL, "ties", form="count", best=False),
        truncation.COLUMN,
    ]


def _choices(context: Context, frame: Any, corpus: str) -> Panel:
    columns = [Column(title, corpus, measure) for measure, title in CHOICES.items()]
    title = f"Choices: {context.corpus_title(corpus)}"
    return by_system(frame, columns, context.system_notes, title)


def _ratings(context: Context, frame: Any, preferences: Preferences) -> Panel:
    columns = [
        Column(f"{aspect.capitalize()}, {context.corpus_title(corpus)}", corpus, RATING + aspect)
        for aspect, corpora in preferences.aspects.items()
        for corpus in corpora
    ]
    title = "Ratings: 0.5 (r + 1), r Pearson's correlation of similarity with the rating"
    return by_system(frame, columns, context.system_notes, title)


def _caption(context: Context, preferences: Preferences) -> str:
    settings = context.params.tasks.human_preference
    units = preferences.found.units("score")
    choices = {name: units[name] for name in preferences.choices}
    ratings = {name: units[name] for name in preferences.ratings}
    return caption.join(
        caption.corpora(context, choices, "pairs", "Choices"),
        caption.corpora(context, ratings, "items", "Ratings"),
        "The score of the choices is the mean of accuracy, precision, recall and F1, the summary "
        "more similar to the text being predicted; of the ratings, the mean over aspects; of the "
        "task, the mean of both. Random similarities end near 0.5, and length alone predicts some "
        "of what people prefer: see the reference rows.",
        truncation.CAPTION,
        caption.settings(context, "pairs and items", ties=settings.ties, min_gap=settings.min_gap),
    )
