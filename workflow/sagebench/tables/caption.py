"""Sentences that every caption shares: which corpora really, which choices, which intervals."""

from __future__ import annotations

from sagebench.tables.context import Context


def corpora(context: Context, units: dict[str, int], unit: str = "", label: str = "Corpora") -> str:
    """Name the corpora as the catalogue does, with the units of each behind its scores."""
    named = [
        f"{context.corpus_title(name)} ({f'{count:,} {unit}'.strip()})"
        for name, count in units.items()
    ]
    return f"{label}: {'; '.join(named)}."


def settings(context: Context, resampled: str = "", **choices: object) -> str:
    """The run's size, seed and intervals, and what it chose where the paper is silent."""
    run = f"Size {context.params.size}, seed {context.params.seed}."
    if resampled:
        bootstrap = context.params.bootstrap
        run += (
            f" Brackets: {bootstrap.level:.0%} bootstrap intervals over {resampled}"
            f" ({bootstrap.resamples:,} resamples)."
        )
    if not choices:
        return run
    chosen = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in choices.items())
    return f"{run} Chosen where the paper is silent: {chosen}."


def join(*sentences: str) -> str:
    """A caption of those sentences that are not empty."""
    return " ".join(sentence for sentence in sentences if sentence)
