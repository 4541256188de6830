"""WordNet and the tagger for nlpaug, from fetched files: nothing is ever downloaded by NLTK."""

import atexit
import hashlib
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from sagebench.corpora.unpickle import safe_load_pickle
from sagebench.errors import BenchError

WORDNET = "wordnet"  # the catalogue's sources
TAGGER = "tagger"
_PARTS_OF_SPEECH = ("adj", "adv", "noun", "verb")
_COPIED = (
    *("lexnames", "data.adj", "data.adv", "data.verb"),
    *(f"index.{part}" for part in _PARTS_OF_SPEECH),
)
_NOUN_SHA256 = "489f145e0f68877c0be5bd0eb4117adaaac52f38f6204eb8d85dbe2158b614cc"


def assemble_wordnet(raw: Path, folder: Path) -> Path:
    """WordNet 3.0 as NLTK reads it, in `folder`/corpora/wordnet; returns that path.

    The source's nouns come in two files: offsets in them count a line break in between. It has
    no exception lists, so irregular forms (geese, ran) are not traced to their lemma.
    BenchError if the nouns do not have WordNet 3.0's digest.
    """
    source, target = raw / WORDNET, folder / "corpora" / "wordnet"
    target.mkdir(parents=True)
    for name in _COPIED:
        shutil.copyfile(source / name, target / name)
    nouns = b"\n".join((source / f"data.noun{half}").read_bytes() for half in (1, 2))
    digest = hashlib.sha256(nouns).hexdigest()
    if digest != _NOUN_SHA256:
        raise BenchError(
            f"data.noun assembled from {source} has sha256 {digest}, WordNet 3.0's is "
            f"{_NOUN_SHA256}; delete {source} and fetch it again"
        )
    (target / "data.noun").write_bytes(nouns)
    for part in _PARTS_OF_SPEECH:
        (target / f"{part}.exc").touch()
    return target


@cache
def wordnet(raw: Path) -> Any:
    """NLTK's reader over the source `wordnet`, about 1.2 s, once per process.

    It reads a copy of 25 MB in a temporary folder that goes when the process ends.
    """
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class EnglishWordNet(WordNetCorpusReader):
        """Without the maps to other WordNets, which NLTK looks for in its own folders."""

        def map_wn(self, *_: str) -> None:
            return None

    folder = tempfile.mkdtemp(prefix="sagebench-nltk-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = assemble_wordnet(raw, Path(folder))
    # NLTK reads only below its search path; last in it, our copy hides no other from anyone.
    nltk.data.path.append(folder)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The multilingual functions")
        return EnglishWordNet(str(root), None)


@cache
def tagger(raw: Path) -> Any:
    """NLTK's averaged perceptron tagger with the weights of the source `tagger`."""
    from nltk.tag.perceptron import PerceptronTagger

    trained = PerceptronTagger(load=False)
    trained.decode_json_params(safe_load_pickle(raw / TAGGER / "trontagger-0.1.0.pickle"))
    return trained
