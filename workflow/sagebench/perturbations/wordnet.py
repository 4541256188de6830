"""nlpaug's WordNet augmenters: synonyms (superficial) and antonyms (semantic)."""

import re
from functools import lru_cache
from typing import Any

from sagebench.perturbations import nltk_data
from sagebench.perturbations.base import Borrowed
from sagebench.registry import register

# Punctuation is a token too, because the tagger uses it; a run of it is one.
_TOKENS = re.compile(r"\b\w{1,40}(?:['’-]\w{1,40})*\b|[^\w\s]+")
# nlpaug looks up whatever it draws: "I" gives iodine and "is" gives differ. So what is no content
# word stays: names and other capitalised words, numbers, one or two letters, function words.
_FUNCTION_WORDS = """
    about after against all among and any are because been before being below between both but
    can could did does doing down during each few for from further had has have having her here
    hers him his how into its just may might more most must nor not now off once only onto other
    our ours out over own same shall she should some such than that the their theirs them then
    there these they this those through too under until upon very was were what when where which
    while who whom whose why will with would you your yours
"""
_SKIPPED = rf"[A-Z0-9]|.{{1,2}}$|(?:{'|'.join(_FUNCTION_WORDS.split())})$"


class _WordNet(Borrowed):
    pattern = _TOKENS

    def _options(self) -> dict[str, Any]:
        return {
            "aug_p": self.parameters.rate,
            "aug_min": 1,
            "aug_max": None,
            "stopwords_regex": _SKIPPED,
        }

    def _model(self, is_synonym: bool) -> Any:
        """nlpaug's lexicon over the fetched files; its own would download what it misses."""
        from nlpaug.model.word_dict import WordNet

        reader, tagger = nltk_data.wordnet(self.raw), nltk_data.tagger(self.raw)

        class FetchedWordNet(WordNet):
            def read(self) -> Any:
                return reader

            @classmethod
            def pos_tag(cls, tokens: list[str]) -> list[tuple[str, str]]:
                return tagger.tag(tokens)

        model = FetchedWordNet(lang="eng", is_synonym=is_synonym)
        # An antonym is looked up three times per word.
        model.predict = lru_cache(maxsize=50_000)(model.predict)
        return model


@register("perturbation", "wordnet_synonyms", needs=("wordnet", "tagger"))
class WordNetSynonyms(_WordNet):
    """Replaces content words by WordNet synonyms of their part of speech (nlpaug SynonymAug).

    Up to `rate` of the words and punctuation marks; one drawn that has no synonym stays. WordNet
    does not know which sense is meant, and gives lemmas: "dogs" may become "domestic dog".
    """

    name = "wordnet_synonyms"
    title = "WordNet synonyms"
    kind = "superficial"

    def _build(self) -> Any:
        from nlpaug.augmenter.word.synonym import SynonymAug

        model = self._model(is_synonym=True)

        class FetchedSynonymAug(SynonymAug):
            @classmethod
            def get_model(cls, *_: Any) -> Any:
                return model

        return FetchedSynonymAug(**self._options())


@register("perturbation", "wordnet_antonyms", needs=("wordnet", "tagger"))
class WordNetAntonyms(_WordNet):
    """Replaces verbs, adjectives and adverbs by WordNet antonyms (nlpaug AntonymAug).

    Up to `rate` of the words and punctuation marks, chosen among those that have an antonym.
    """

    name = "wordnet_antonyms"
    title = "WordNet antonyms"
    kind = "semantic"

    def _build(self) -> Any:
        from nlpaug.augmenter.word.antonym import AntonymAug

        model = self._model(is_synonym=False)

        class FetchedAntonymAug(AntonymAug):
            @classmethod
            def get_model(cls, *_: Any) -> Any:
                return model

        return FetchedAntonymAug(**self._options())
