"""The extended set: what nlpaug's augmenters and the fact changes do, and what they leave alone."""

import math
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sagebench import registry
from sagebench.errors import BenchError
from sagebench.perturbations import nltk_data
from sagebench.perturbations.base import Perturbation
from sagebench.perturbations.typos import clean_misspellings

Make = Callable[..., Perturbation]
few = settings(max_examples=60, deadline=None)
TEXT = (
    "  The big dog isn't old, it's 3.14 years;\u00a0a good friend.\n\n\tShe likes hot food "
    "because people always believe the first cold government “story” (see p. 5)...  \n"
)


@pytest.fixture(scope="module")
def make(raw: Callable[..., Path]) -> Make:
    """`make(name, **params)` -> the perturbation."""
    folder = raw("cl100k", "wordnet", "tagger")
    return lambda name, **params: registry.load("perturbation", name)(folder, **params)


@pytest.mark.parametrize(
    "name", ["keyboard_typos", "ocr_noise", "misspelling", "wordnet_synonyms", "wordnet_antonyms"]
)
class TestBorrowed:
    def test_only_words_change(self, make: Make, name: str) -> None:
        for seed in range(8):
            out = make(name, rate=1.0).apply(TEXT, seed)
            assert out != TEXT
            # White space, line breaks, quotes and punctuation, each in its place. OCR may read
            # a letter or a digit as @ or &, so those two are not looked at.
            gaps = [re.findall(r"[^\w'’@&-]+", text) for text in (TEXT, out)]
            if "wordnet" in name:  # a synonym may be several words
                gaps = [[gap for gap in found if gap != " "] for found in gaps]
            assert gaps[0] == gaps[1]

    def test_rate_zero_changes_nothing(self, make: Make, name: str) -> None:
        assert make(name, rate=0).apply(TEXT * 20, 1) == TEXT * 20

    def test_pieces_of_a_long_text_all_change(self, make: Make, name: str) -> None:
        sentence = "The good people always believe a cold story because fools like hot soap. "
        out = make(name).apply(sentence * 150, 1)
        assert out.count(". ") == 150
        quarter = len(out) // 4
        for start in range(4):
            assert out[start * quarter :][:quarter] not in sentence * 150


@pytest.mark.parametrize("name", ["keyboard_typos", "ocr_noise"])
class TestCharacterNoise:
    def test_as_many_words_as_asked_for(self, make: Make, name: str) -> None:
        text = " ".join(["solo"] * 1000)
        out = make(name, rate=0.3).apply(text, 1).split(" ")
        # nlpaug by itself stops at ten.
        assert sum(word != "solo" for word in out) == 300

    def test_one_character_of_a_short_word(self, make: Make, name: str) -> None:
        words = ["solo", "broom", "corrosion"] * 20
        out = make(name, rate=1).apply(" ".join(words), 1).split(" ")
        for word, noisy in zip(words, out, strict=True):
            assert sum(x != y for x, y in zip(word, noisy, strict=True)) == 1

    def test_rate_of_characters(self, make: Make, name: str) -> None:
        out = make(name, rate=1, character_rate=0.5).apply("oooooooooo", 1)
        assert out.count("o") == 5


class TestMisspelling:
    def test_share_of_words(self, make: Make) -> None:
        text = " ".join(["because"] * 500)
        out = make("misspelling", rate=0.2).apply(text, 1).split(" ")
        assert sum(word != "because" for word in out) == 100
        assert len(set(out)) > 20

    def test_list_is_cleaned(self) -> None:
        observed = {
            "their": ["there", "thier", "[[ther", "THERE", "thei?", "thier"],
            "there": ["their", "their's", "thre"],
            "the": ["teh"],
        }
        assert clean_misspellings(observed) == {"their": ["thier"], "there": ["their's", "thre"]}


class TestWordNet:
    def test_antonyms(self, make: Make) -> None:
        out = make("wordnet_antonyms", rate=1).apply("It was a cold, dishonest victory.", 1)
        assert out == "It was a hot, honest victory."

    def test_capital_letter_is_left_alone(self, make: Make) -> None:
        assert make("wordnet_antonyms", rate=1).apply("Cold Big I is 1.", 1) == "Cold Big I is 1."

    def test_synonyms_stand_in_wordnet(self, make: Make, raw: Callable[..., Path]) -> None:
        synsets = nltk_data.wordnet(raw("wordnet")).synsets("food")
        lemmas = {lemma.name().lower() for synset in synsets for lemma in synset.lemmas()}
        seen = {make("wordnet_synonyms", rate=1).apply("the food", seed) for seed in range(20)}
        assert len(seen) > 2
        assert seen <= {f"the {name.replace('_', ' ')}" for name in lemmas}

    def test_whole_lexicon_is_there(self, raw: Callable[..., Path]) -> None:
        reader = nltk_data.wordnet(raw("wordnet"))
        # Lemmas and synsets of WordNet 3.0, as its documentation counts them (wnstats).
        assert len(reader._lemma_pos_offset_map) == 147_306
        # The last noun stands behind the joint of the two files.
        assert reader.synsets("zymurgy")[0].definition().startswith("the branch of chemistry")

    def test_tagger(self, raw: Callable[..., Path]) -> None:
        tagged = nltk_data.tagger(raw("tagger")).tag(
            ["She", "quickly", "bought", "the", "old", "house", "."]
        )
        assert [tag for _, tag in tagged] == ["PRP", "RB", "VBD", "DT", "JJ", "NN", "."]

    def test_nothing_is_downloaded(self, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        import nltk

        def fail(*_: object, **__: object) -> None:
            raise AssertionError("NLTK tried to download")

        monkeypatch.setattr(nltk, "download", fail)
        monkeypatch.setattr("socket.socket.connect", fail)
        make("wordnet_synonyms").apply(TEXT, 1)
        make("wordnet_antonyms").apply(TEXT, 1)

    def test_damaged_nouns(self, raw: Callable[..., Path], tmp_path: Path) -> None:
        source = tmp_path / "raw" / "wordnet"
        source.mkdir(parents=True)
        for path in (raw("wordnet") / "wordnet").iterdir():
            (source / path.name).symlink_to(path)
        (source / "data.noun2").unlink()
        (source / "data.noun2").write_bytes(b"00000000 nothing\n")
        with pytest.raises(BenchError, match=r"data\.noun.*fetch it again"):
            nltk_data.assemble_wordnet(tmp_path / "raw", tmp_path / "nltk")


class TestNumberChanges:
    @few
    @given(text=st.text("0019.,:/- x", max_size=60))
    def test_shape_stays_and_value_changes(self, make: Make, text: str) -> None:
        out = make("number_changes").apply(text, 1)
        assert re.sub("[0-9]", "0", out) == re.sub("[0-9]", "0", text)
        number = r"(?<!\w)[0-9]+(?:[.,:/-][0-9]+)*(?!\w)"
        before, after = re.findall(number, text), re.findall(number, out)
        assert len(before) == len(after)
        for one, other in zip(before, after, strict=True):
            assert one != other
            if one.strip("0.,:/-"):
                zeros = re.match(r"[0.,:/-]*", one)
                assert re.match(r"[0.,:/-]*", other) == zeros or other.startswith(zeros[0])
        assert re.sub(number, "", out) == re.sub(number, "", text)

    def test_digits_in_words_stay(self, make: Make) -> None:
        assert make("number_changes").apply("B2B 3rd x1 1990s v2", 1) == "B2B 3rd x1 1990s v2"

    def test_every_other_digit_is_reached(self, make: Make) -> None:
        for digit in "123456789":
            seen = {make("number_changes").apply(digit, seed) for seed in range(150)}
            assert seen == set("123456789") - {digit}


class TestDateChanges:
    def test_months_have_the_day(self, make: Make) -> None:
        for seed in range(60):
            out = make("date_changes").apply("on 31 January, May 31st or the 30th of June", seed)
            first, second, third = re.findall(r"[A-Z][a-z]+", out)
            assert first in {"March", "May", "July", "August", "October", "December"}
            assert second in {
                *("January", "March", "July", "August", "October", "December"),
            }
            assert third not in {"June", "February"}
            assert re.sub("[A-Z][a-z]+", "M", out) == "on 31 M, M 31st or the 30th of M"

    @few
    @given(day=st.dates(date(1000, 1, 1), date(2999, 12, 31)), seed=st.integers(0, 99))
    def test_iso_dates_stay_valid(self, make: Make, day: date, seed: int) -> None:
        out = make("date_changes").apply(f"({day.isoformat()})", seed)
        changed = date.fromisoformat(out.strip("()"))
        assert changed != day
        assert abs(changed - day).days <= 30 * 365

    @pytest.mark.parametrize("text", ["31/12/1999", "1.2.2003", "09-30-2020"])
    def test_numeric_dates_are_valid_in_either_order(self, make: Make, text: str) -> None:
        for seed in range(30):
            out = make("date_changes").apply(text, seed)
            first, second, year = re.split("[./-]", out)
            assert re.sub("[0-9]", "0", out) == re.sub("[0-9]", "0", text)
            assert 1 <= int(first) <= 12
            assert 1 <= int(second) <= 12
            assert year == text[-4:]
            assert out[:-4] != text[:-4]

    def test_years_and_weekdays(self, make: Make) -> None:
        out = make("date_changes").apply("Monday, Tuesday 1984 (1999-2001).", 3)
        days, years = re.findall("[A-Z][a-z]+", out), re.findall("[0-9]{4}", out)
        assert days[0] != "Monday"
        assert days[1] != "Tuesday"
        for before, after in zip((1984, 1999, 2001), map(int, years), strict=True):
            assert 0 < abs(before - after) <= 30

    @pytest.mark.parametrize(
        "text",
        [
            "we may march on, mon ami, sat in the sun",
            "Mar vel, Jan and Dec went home",
            "1,984 of 2000.5 cost $1999 or 1850%, 1990s, 2020-13-45, x1999, 31415",
            "الاثنين 月曜日",
        ],
    )
    def test_no_dates(self, make: Make, text: str) -> None:
        assert make("date_changes").apply(text, 1) == text


class TestNameChanges:
    def test_two_names_change_places(self, make: Make) -> None:
        out = make("name_changes").apply("So Anna met Bob. Bob's dog likes Anna, not us.", 1)
        assert out == "So Bob met Anna. Anna's dog likes Bob, not us."

    def test_every_name_moves_and_none_is_lost(self, make: Make) -> None:
        text = "He saw Ann, Ben, Cid, Dan and Eva."
        for seed in range(20):
            out = make("name_changes").apply(text, seed)
            before, after = re.findall("[A-Z][a-z]{2}", text), re.findall("[A-Z][a-z]{2}", out)
            assert sorted(before) == sorted(after)
            assert all(x != y for x, y in zip(before, after, strict=True))

    def test_single_name_gets_one_from_the_list(self, make: Make) -> None:
        seen = {make("name_changes").apply("we saw Adams", seed) for seed in range(60)}
        assert len(seen) > 4
        assert "we saw Adams" not in seen

    @pytest.mark.parametrize(
        "text",
        [
            "The dog. Then it slept.\nAgain “What?” (No.)",
            "the Dog saw another dog",
            "on Monday in March I saw NATO and Mr McDonald",
            "ללא שמות",
        ],
    )
    def test_no_names(self, make: Make, text: str) -> None:
        assert make("name_changes").apply(text, 1) == text


def test_nlpaug_rounds_its_number_of_edits_up(make: Make) -> None:
    """What `rate` means on short texts: at least one word."""
    text = "solo polo golf"
    out = make("keyboard_typos", rate=0.01).apply(text, 1)
    changed = sum(x != y for x, y in zip(out.split(), text.split(), strict=True))
    assert changed == math.ceil(0.01 * 3)
