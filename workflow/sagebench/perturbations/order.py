"""The paper's two shuffles: the same words, another order (task 2, semantic)."""

import numpy as np

from sagebench.perturbations.base import Transform
from sagebench.registry import register


@register("perturbation", "sentence_shuffling")
class SentenceShuffling(Transform):
    """Shuffles the sentences and joins them with blank lines.

    A sentence ends at a line break or at a full stop with a space after it, and keeps its full
    stop. Empty lines are no sentences. The shuffle is drawn once: where it gives the order that
    was there (a single sentence, equal sentences, chance), the text is left untouched, so that
    it does not count as changed merely because its blank lines were.
    """

    name = "sentence_shuffling"
    title = "Sentence shuffling"
    kind = "semantic"
    method = "sentence"
    action = "swap"

    def _edit(self, text: str, generator: np.random.Generator) -> str:
        sentences = split_sentences(text)
        shuffled = _shuffled(sentences, generator)
        return text if shuffled == sentences else "\n\n".join(shuffled)


@register("perturbation", "word_shuffling")
class WordShuffling(Transform):
    """Shuffles the words, whatever white space lies between them, and joins them with a space.

    As with sentences, a shuffle that gives the order that was there leaves the text untouched.
    """

    name = "word_shuffling"
    title = "Word shuffling"
    kind = "semantic"
    method = "word"
    action = "swap"

    def _edit(self, text: str, generator: np.random.Generator) -> str:
        words = text.split()
        shuffled = _shuffled(words, generator)
        return text if shuffled == words else " ".join(shuffled)


def split_sentences(text: str) -> list[str]:
    """Sentences without the white space around them, in order; none is empty."""
    sentences: list[str] = []
    for line in text.split("\n"):
        *ended, last = line.split(". ")
        sentences += [f"{sentence.strip()}." for sentence in ended if sentence.strip()]
        sentences += [last.strip()] if last.strip() else []
    return sentences


def _shuffled(parts: list[str], generator: np.random.Generator) -> list[str]:
    return [parts[index] for index in generator.permutation(len(parts))]
