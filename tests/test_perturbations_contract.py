"""What holds for every perturbation: hostile texts, determinism, bookkeeping, errors, docs."""

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sagebench import frames, registry
from sagebench.errors import BenchError
from sagebench.perturbations import bridge
from sagebench.perturbations.apply import perturb
from sagebench.perturbations.base import Perturbation
from sagebench.perturbations.sets import PAPER, describe, names
from sagebench.tokens import cl100k

NAMES = list(registry.entries("perturbation"))
TRANSFORMS = [name for name in NAMES if name not in ("lorem_insertion", "span_removal")]
NEEDLES = {"sizes": [0.15, 0.5], "positions": [0.0, 0.5, 1.0]}
STORY = (
    "Laura met Tom on Monday, 12 May 2014. It is a good, cold day because people believe 25 "
    "stories.\n\nThe government can buy old houses. They don't like hot food, said Bob to Eve."
)
BAD_TEXTS = {
    "one word": "word",
    "one letter": "a",
    "one space": " ",
    "white space": " \n\t\u00a0\u2029 ",
    "no letters": "12 345 --- 6.7!?",
    "no sentence end": "is this a text without an end and with Anna in it",
    "emoji": "👩‍👩‍👧‍👦 is 🇩🇪 👍🏽 not 😀",
    "combining marks": "Z͑ͫ̓a̴l̷g̸o̶ e\u0301\u0301\u0301 is a\u0308",
    "right to left": "שלום עולם. \u202eالسلام عليكم\u202c is. לא 12",
    "nul": "is\0it\0 not. a\0b\0",
    "controls": "\x01is\x1f \x7f \x85 \ufeff\ufffe not",
    "surrogates": "is \ud800 lone \udfff. pair \ud83d\ude00 not",
    "markup": "<b>is</b> &amp; [[x]] %s {0} \\1 \\g<0> $1 <|endoftext|>",
    "path": "../../etc/passwd is C:\\NUL\\x.txt",
    "ligatures": "ﬁ ß ŉ İ ı ǅ is",
    "line breaks": "one\r\ntwo\rthree\x0bfour\u2028five. six",
    "line of 1 MB": "ab" * 500_000,
    "long line of words": STORY.replace("\n", " ") * 120,
}


@pytest.fixture(scope="module")
def folder(raw: Callable[..., Path]) -> Path:
    return raw("cl100k", "wordnet", "tagger")


@pytest.fixture(scope="module")
def made(folder: Path) -> dict[str, Perturbation]:
    """Every perturbation with its default parameters."""
    return {name: registry.load("perturbation", name)(folder) for name in NAMES}


def needle(perturbation: Perturbation) -> dict[str, float]:
    wanted = perturbation.kind in ("insertion", "removal")
    return {"size": 0.5, "position": 0.5} if wanted else {}


class TestHostileTexts:
    @pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
    @pytest.mark.parametrize("name", NAMES)
    def test_valid_text_and_the_same_again(
        self, made: dict[str, Perturbation], name: str, text: str
    ) -> None:
        perturbation = made[name]
        out = perturbation.apply(text, 1, **needle(perturbation))
        assert isinstance(out, str)
        out.encode("utf-8")
        if len(text) < 10_000:
            assert perturbation.apply(text, 1, **needle(perturbation)) == out
            assert not set(out) & set(map(chr, range(0xD800, 0xE000)))

    @pytest.mark.parametrize("name", NAMES)
    def test_empty_stays_empty(self, made: dict[str, Perturbation], name: str) -> None:
        assert made[name].apply("", 1, **needle(made[name])) == ""

    @settings(max_examples=150, deadline=None)
    @given(text=st.text(max_size=60), name=st.sampled_from(NAMES), seed=st.integers(0, 2**64))
    def test_any_text(self, made: dict[str, Perturbation], text: str, name: str, seed: int) -> None:
        made[name].apply(text, seed, **needle(made[name])).encode("utf-8")


class TestDeterminism:
    @pytest.mark.parametrize("name", NAMES)
    def test_global_generators_are_left_alone(
        self, made: dict[str, Perturbation], name: str
    ) -> None:
        outs = []
        for start in (1, 2):
            random.seed(start)
            np.random.seed(start)
            before = random.getstate(), np.random.get_state()
            outs.append(made[name].apply(STORY, 7, **needle(made[name])))
            assert random.getstate() == before[0]
            after = np.random.get_state()
            assert all(np.array_equal(x, y) for x, y in zip(after, before[1], strict=True))
        assert outs[0] == outs[1]

    def test_global_generators_come_back_after_an_exception(self) -> None:
        before = random.getstate(), np.random.get_state()[1].tobytes()

        def fail() -> None:
            with bridge.seeded(2**127 + 1):
                raise ZeroDivisionError(random.random() + np.random.random())

        with pytest.raises(ZeroDivisionError):
            fail()
        assert (random.getstate(), np.random.get_state()[1].tobytes()) == before

    def test_seeded_uses_all_128_bits(self) -> None:
        seen = set()
        for seed in (0, 1, 1 << 40, 1 << 70, 1 << 127):
            with bridge.seeded(seed):
                seen.add((random.random(), np.random.random()))
        assert len(seen) == 5

    @pytest.mark.parametrize("name", [name for name in NAMES if name not in ("numerization",)])
    def test_depends_on_seed_only_where_it_draws(
        self, made: dict[str, Perturbation], name: str
    ) -> None:
        outs = {made[name].apply(STORY, seed, **needle(made[name])) for seed in range(8)}
        fixed = ("character_deletion", "negation_toggling", "lorem_insertion", "span_removal")
        assert (len(outs) == 1) == (name in fixed)

    def test_parameters_are_part_of_the_seed_and_defaults_are_not(self, folder: Path) -> None:
        make = registry.load("perturbation", "random_capitalization")
        text = "the quick brown fox jumps over the lazy dog " * 5
        assert make(folder).apply(text, 1) == make(folder, rate=0.25).apply(text, 1)
        low, high = (make(folder, rate=rate).apply(text, 1) for rate in (0.25, 0.26))
        assert sum(x != y for x, y in zip(low, high, strict=True)) > 40

    def test_order_and_company_do_not_matter(self, folder: Path) -> None:
        texts = {"a": STORY, "b": STORY[::-1], "c": "", "d": STORY + " Anna is 5."}
        forward = pl.DataFrame({"doc_id": list(texts), "text": list(texts.values())})
        for name in TRANSFORMS:
            one = perturb(forward, name, {}, 1, raw=folder, needles=None)
            other = perturb(forward.reverse(), name, {}, 1, raw=folder, needles=None)
            alone = [perturb(forward[i], name, {}, 1, raw=folder, needles=None) for i in range(4)]
            assert one.equals(other.reverse())
            assert one.equals(pl.concat(alone))

    def test_another_process_with_another_hash_seed(
        self, made: dict[str, Perturbation], folder: Path
    ) -> None:
        program = (
            "import hashlib, json, sys; from pathlib import Path\n"
            "from sagebench import registry\n"
            "folder, texts = Path(sys.argv[1]), json.load(sys.stdin)\n"
            "outs = {}\n"
            "for name in reversed(list(registry.entries('perturbation'))):\n"
            "    made = registry.load('perturbation', name)(folder)\n"
            "    place = [0.5, 0.5] if made.kind in ('insertion', 'removal') else []\n"
            "    outs[name] = [made.apply(text, 3, *place) for text in texts]\n"
            "print(json.dumps(outs))"
        )
        texts = [STORY, STORY[40:], BAD_TEXTS["emoji"], BAD_TEXTS["right to left"]]
        package = str(Path(registry.__file__).parents[1])
        environment = os.environ | {"PYTHONHASHSEED": "12345", "LC_ALL": "C"}
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder)],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=True,
            env=environment | {"PYTHONPATH": package},
        )
        expected = {
            name: [p.apply(text, 3, *needle(p).values()) for text in texts]
            for name, p in made.items()
        }
        assert json.loads(done.stdout) == expected


class TestPerturb:
    documents = pl.DataFrame(
        {
            "doc_id": ["z", "a", "m"],
            "text": [STORY, "", "BCD 🙂"],
            "summary": ["s", None, "s"],
        }
    )

    def test_rows_of_a_transform(self, folder: Path) -> None:
        frame = perturb(self.documents, "numerization", {}, 1, raw=folder, needles=None)
        frames.PERTURBED.check(frame)
        assert frame["doc_id"].to_list() == ["z", "a", "m"]
        assert frame["size"].null_count() == frame["position"].null_count() == 3
        assert frame["changed"].to_list() == [True, False, False]
        encode = cl100k(folder).encode
        for column, texts in (
            ("tokens_before", self.documents["text"]),
            ("tokens_after", frame["text"]),
        ):
            assert frame[column].to_list() == [len(encode(text)) for text in texts]

    @pytest.mark.parametrize("name", ["lorem_insertion", "span_removal"])
    def test_rows_of_a_needle(self, folder: Path, name: str) -> None:
        frame = perturb(self.documents, name, {}, 1, raw=folder, needles=NEEDLES)
        assert frame.height == 3 * 6
        places = [(s, p) for s in (0.15, 0.5) for p in (0.0, 0.5, 1.0)]
        assert list(frame.select("size", "position").iter_rows()) == places * 3
        assert frame["doc_id"].to_list() == ["z"] * 6 + ["a"] * 6 + ["m"] * 6
        story = frame.head(6)
        sign = 1 if name == "lorem_insertion" else -1
        before = story["tokens_before"][0]
        for size, after in story.select("size", "tokens_after").iter_rows():
            # Where the edit meets the text, tokens may join or part.
            assert after == pytest.approx(before + sign * int(size * before), abs=3)
        assert story["changed"].all()
        assert not frame.filter(pl.col("doc_id") == "a")["changed"].any()

    @pytest.mark.parametrize("name", NAMES)
    def test_two_runs_give_the_same_bytes(self, folder: Path, name: str, tmp_path: Path) -> None:
        needles = None if name in TRANSFORMS else NEEDLES
        digests = set()
        for run in ("one", "two"):
            frame = perturb(self.documents, name, {}, 1, raw=folder, needles=needles)
            frames.write(frame, tmp_path / run, frames.PERTURBED)
            digests.add(hashlib.sha256((tmp_path / run).read_bytes()).hexdigest())
        assert len(digests) == 1

    def test_changed_says_what_could_not_change(self, folder: Path) -> None:
        same = {
            "random_capitalization": "ABC 123",
            "character_deletion": "eight ch",
            "numerization": "BCD",
            "negation_toggling": "No verb here.",
            "sentence_shuffling": "Only one sentence.",
            "word_shuffling": "word",
            "keyboard_typos": "a bc def",
            "ocr_noise": "xvw",
            "misspelling": "xqzt",
            "wordnet_synonyms": "the and of",
            "wordnet_antonyms": "the house",
            "number_changes": "no numbers",
            "date_changes": "no dates",
            "name_changes": "no names",
        }
        assert sorted(same) == sorted(TRANSFORMS)
        for name, text in same.items():
            frame = pl.DataFrame({"doc_id": ["same", "other"], "text": [text, STORY]})
            out = perturb(frame, name, {}, 1, raw=folder, needles=None)
            assert out["changed"].to_list() == [False, True], name
            assert out["text"][0] == text

    def test_no_documents(self, folder: Path) -> None:
        empty = perturb(self.documents.clear(), "numerization", {}, 1, raw=folder, needles=None)
        assert empty.equals(frames.PERTURBED.empty())

    def test_progress_goes_to_standard_error(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        perturb(self.documents, "numerization", {}, 1, raw=folder, needles=None)
        out, err = capsys.readouterr()
        assert out == ""
        assert "numerization" in err


class TestErrors:
    @pytest.mark.parametrize(
        ("name", "params", "message"),
        [
            (
                "numerisation",
                {},
                "unknown perturbation 'numerisation': did you mean 'numerization'",
            ),
            ("numerization", {"rate": 1}, "'numerization' takes no parameters: remove 'rate'"),
            ("random_capitalization", {"rat": 1}, "did you mean 'rate'"),
            ("random_capitalization", {"rate": "0.5"}, r"'rate'.*number.*got '0\.5'"),
            ("random_capitalization", {"rate": 1.5}, r"'rate'.*less than or equal to 1.*1\.5"),
            ("character_deletion", {"every": 1}, "'every'.*greater than or equal to 2.*1"),
            ("character_deletion", {"every": 2.5}, "'every'.*integer"),
            ("keyboard_typos", {"character_rate": 0}, "'character_rate'.*greater than 0"),
        ],
    )
    def test_wrong_name_or_parameter(
        self, folder: Path, name: str, params: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(BenchError, match=message):
            perturb(TestPerturb.documents, name, params, 1, raw=folder, needles=None)

    def test_needles_for_a_transform(self, folder: Path) -> None:
        with pytest.raises(BenchError, match="takes no sizes"):
            perturb(TestPerturb.documents, "numerization", {}, 1, raw=folder, needles=NEEDLES)

    def test_no_needles_for_an_insertion(self, folder: Path) -> None:
        with pytest.raises(BenchError, match="needs sizes and positions"):
            perturb(TestPerturb.documents, "lorem_insertion", {}, 1, raw=folder, needles=None)


class TestRegistry:
    def test_every_perturbation_runs_as_an_nlpaug_augmenter(
        self, made: dict[str, Perturbation], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from nlpaug.base_augmenter import Augmenter

        ran: list[Any] = []
        run = bridge.run

        def watch(augmenter: Any, text: str) -> str:
            ran.append(augmenter)
            return run(augmenter, text)

        monkeypatch.setattr(bridge, "run", watch)
        for perturbation in made.values():
            ran.clear()
            perturbation.apply(STORY, 1, **needle(perturbation))
            assert len(ran) == 1
            assert isinstance(ran[0], Augmenter)
            # The augmenter implements the action that it declares.
            assert getattr(type(ran[0]), ran[0].action) is not getattr(Augmenter, ran[0].action)

    def test_names_are_the_registered_ones(self, made: dict[str, Perturbation]) -> None:
        assert {name: p.name for name, p in made.items()} == {name: name for name in made}

    def test_sources_are_declared(self) -> None:
        for name, entry in registry.entries("perturbation").items():
            expected = ("wordnet", "tagger") if name.startswith("wordnet") else ()
            if name in ("lorem_insertion", "span_removal"):
                expected = ("cl100k",)
            assert entry.needs == expected

    def test_sets(self) -> None:
        assert names("paper") == list(PAPER)
        assert names("insertion") == ["lorem_insertion"]
        assert names("removal") == ["span_removal"]
        paper = {kind: set(names(kind)) & set(PAPER) for kind in ("superficial", "semantic")}
        assert paper["superficial"] == {
            "random_capitalization",
            "character_deletion",
            "numerization",
        }
        assert paper["semantic"] == {"negation_toggling", "sentence_shuffling", "word_shuffling"}
        extended = set(names("extended"))
        assert extended & set(names("superficial")) == {
            "keyboard_typos",
            "ocr_noise",
            "misspelling",
            "wordnet_synonyms",
        }
        assert extended & set(names("semantic")) == {
            "wordnet_antonyms",
            "number_changes",
            "date_changes",
            "name_changes",
        }
        with pytest.raises(BenchError, match="did you mean 'semantic'"):
            names("semantics")

    def test_descriptions(self) -> None:
        rows = describe()
        assert [row.name for row in rows[: len(PAPER)]] == list(PAPER)
        assert len(rows) == len(NAMES) == len({row.title for row in rows})
        for row in rows:
            assert row.summary.endswith(".")
            assert 20 < len(row.summary) <= 100

    def test_looking_them_up_does_not_import_nlpaug(self) -> None:
        program = (
            "import sys; from sagebench.perturbations.sets import describe; describe()\n"
            "sys.exit(any(name in sys.modules for name in ('nlpaug', 'torch', 'nltk', 'pandas')))"
        )
        package = str(Path(registry.__file__).parents[1])
        environment = os.environ | {"PYTHONPATH": package}
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)
