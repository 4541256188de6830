"""The phases embed, similarity and score for a few systems, in one process."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from sagebench import frames, layout, registry
from sagebench.embeddings.keys import text_key
from sagebench.evaluation.subjects import Subject
from sagebench.evaluation.workspace import Workspace
from sagebench.metrics.cosine import Cosine
from sagebench.tasks.base import System, Task

Place = tuple[str, str]  # task, corpus


def run(tasks: Sequence[str], subjects: Sequence[Subject], workspace: Workspace, out: Path) -> None:
    """Write the scores of all subjects on the tasks, and of embedded ones the embeddings, to `out`.

    `out` then is a data folder that the tables can be made from.
    """
    places = [(task, c) for task in tasks for c in workspace.plan.tasks[task].corpora]
    inputs = {place: workspace.inputs(*place) for place in places}
    loaded: dict[str, Task] = {task: registry.load("task", task)() for task in tasks}
    texts = {
        task: {t for place in places if place[0] == task for t in loaded[task].texts(inputs[place])}
        for task in tasks
    }
    settings = {place: _settings(workspace, place) for place in places}
    similarities: dict[Place, dict[str, pl.DataFrame]] = {place: {} for place in places}
    for subject in subjects:
        system = _system(subject, texts, out)
        for place in places:
            kept = workspace.similarity(*place, subject.row.name) if subject.packaged else None
            schema = frames.SIMILARITY[place[0]]
            if kept and kept.is_file():
                found = frames.read(kept, schema)
            else:
                found = loaded[place[0]].similarity(inputs[place], system(), settings[place])
                schema.check(found, f"the similarities of {subject.row.name}")
                if kept:
                    frames.write(found, kept, schema)
            similarities[place][subject.row.name] = found
    for place in places:
        parts = loaded[place[0]].score(inputs[place], similarities[place], settings[place])
        for (part, schema), frame in zip(layout.SCORE_PARTS.items(), parts, strict=True):
            frames.write(frame, layout.scores(out, *place, part), schema)


def _settings(workspace: Workspace, place: Place) -> Any:
    """The parameters that a task reads; for `similarity` the workflow gives it fewer of them."""
    return json.loads(workspace.jobs.score_spec(*place))["settings"]


def _system(subject: Subject, texts: dict[str, set[str]], out: Path) -> Callable[[], System]:
    """The system, loaded when it is first needed; embeddings of each task's texts go to `out`."""
    if subject.metric:
        return cache(subject.metric)
    assert subject.embed is not None
    table = subject.embed(sorted(set().union(*texts.values())))
    for task, shown in texts.items():
        keys = {text_key(text) for text in shown}
        part = table.filter(pl.col("text_sha256").is_in(keys))
        frames.write(part, layout.embeddings(out, task, subject.row.name), frames.EMBEDDINGS)
    cosine = Cosine(table)
    return lambda: cosine
