"""A pickle is data or it is not opened."""

import os
import pickle
from collections import OrderedDict
from pathlib import Path

import pytest

from sagebench.corpora.unpickle import safe_load_pickle
from sagebench.errors import BenchError


class Calls:
    """Pickles as a call of `function`."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_data_passes(tmp_path: Path, protocol: int) -> None:
    data = [{"a": 1.5}, {"b": ("c", None)}, {"NN", "VB"}]
    (tmp_path / "x.pickle").write_bytes(pickle.dumps(data, protocol))
    assert safe_load_pickle(tmp_path / "x.pickle") == data


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "hostile",
    [Calls(os.system, "touch marker"), Calls(eval, "open('marker', 'w')"), OrderedDict(), Calls],
    ids=["system", "eval", "harmless class", "class"],
)
def test_everything_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hostile: object, protocol: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.pickle").write_bytes(pickle.dumps({"weights": hostile}, protocol))
    with pytest.raises(BenchError, match="it names"):
        safe_load_pickle(Path("x.pickle"))
    assert not Path("marker").exists()


@pytest.mark.parametrize("content", [b"", b"\x80\x05", b"cos\nsystem\n", b"P1\n.", b"Ndeep\xff"])
def test_damage_is_an_error_that_names_the_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.pickle").write_bytes(content)
    with pytest.raises(BenchError, match=r"x\.pickle"):
        safe_load_pickle(tmp_path / "x.pickle")


def test_the_tagger_opens(raw) -> None:
    weights, tags, classes = safe_load_pickle(raw("tagger") / "tagger" / "trontagger-0.1.0.pickle")
    assert (len(weights), len(tags), len(classes)) == (94_208, 2_604, 45)
