"""The paper's transforms and needles: exact outputs, and twins written from the protocol."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sagebench import registry
from sagebench.errors import BenchError
from sagebench.perturbations.base import Perturbation
from sagebench.perturbations.lorem import OPENING, lorem_text
from sagebench.tokens import Tokenizer, cl100k

Make = Callable[..., Perturbation]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
NEEDLE = {"size": st.sampled_from([0.15, 0.5, 0.9, 1.0]), "position": st.floats(0, 1)}
few = settings(max_examples=60, deadline=None)


@pytest.fixture(scope="module")
def make(raw: Callable[..., Path]) -> Make:
    """`make(name, **params)` -> the perturbation."""
    folder = raw("cl100k")
    return lambda name, **params: registry.load("perturbation", name)(folder, **params)


@pytest.fixture(scope="module")
def tokens(raw: Callable[..., Path]) -> Tokenizer:
    return cl100k(raw("cl100k"))


class TestRandomCapitalization:
    def test_a_quarter_of_all_characters(self, make: Make) -> None:
        text = "abcd efgh ijkl mnop " * 2000
        out = make("random_capitalization").apply(text, 1)
        letters = sum(char != " " for char in text)
        changed = sum(one != other for one, other in zip(text, out, strict=True))
        assert changed / letters == pytest.approx(0.25, abs=0.01)
        assert out.lower() == text
        # Every letter as often as the others: no pattern along the text.
        for letter in "aeim":
            assert out.count(letter.upper()) / 2000 == pytest.approx(0.25, abs=0.04)

    def test_rate_is_of_characters_not_of_letters_that_can_change(self, make: Make) -> None:
        text = "aA1 " * 5000
        out = make("random_capitalization").apply(text, 1)
        assert sum(x != y for x, y in zip(text, out, strict=True)) == pytest.approx(1250, abs=120)

    def test_ends_of_the_rate(self, make: Make) -> None:
        text = "Hello wörld, 1st"
        assert make("random_capitalization", rate=0).apply(text, 1) == text
        assert make("random_capitalization", rate=1.0).apply(text, 1) == "HELLO WÖRLD, 1ST"

    def test_length_never_changes(self, make: Make) -> None:
        assert make("random_capitalization", rate=1).apply("straße ﬁn ŉ", 1) == "STRAßE ﬁN ŉ"

    def test_pinned(self, make: Make) -> None:
        out = make("random_capitalization").apply("the quick brown fox", 1)
        assert out == PINNED["random_capitalization"]


class TestCharacterDeletion:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("abcdefghijklmnopqrstuvwxyz", "abcdefghiklmnopqrsuvwxyz"),
            ("abcdefghi", "abcdefghi"),
            ("abcdefghij", "abcdefghi"),
            # Doubled: "one  two  three  four": the 10th is one of two spaces, the 20th is u.
            ("one two three four", "one two three for"),
            # "ab  cd  ef  gh": the 10th is f.
            ("ab cd ef gh", "ab cd e gh"),
            ("a\nb\nc\nd\ne\nf", "a\nb\nc\nd\nef"),
        ],
    )
    def test_examples(self, make: Make, text: str, expected: str) -> None:
        assert make("character_deletion").apply(text, 1) == expected

    @few
    @given(text=st.text("ab \n", max_size=120), every=st.integers(2, 12))
    def test_twin(self, make: Make, text: str, every: int) -> None:
        doubled = "".join(char * 2 if char == " " else char for char in text)
        kept = "".join(c for number, c in enumerate(doubled, start=1) if number % every)
        halved, index = "", 0
        while index < len(kept):
            halved += kept[index]
            index += 2 if kept[index : index + 2] == "  " else 1
        assert make("character_deletion", every=every).apply(text, 1) == halved

    @few
    @given(text=st.text("abcde ", max_size=200))
    def test_words_stay_apart(self, make: Make, text: str) -> None:
        out = make("character_deletion").apply(text, 1)
        assert (" " in text) == (" " in out)
        if "  " not in text:
            # A word of one letter may vanish; none may merge with its neighbour.
            gaps = [len(word) for word in text.split(" ")]
            assert len(out.split(" ")) == len(gaps)


class TestNumerization:
    def test_lower_case_only(self, make: Make) -> None:
        out = make("numerization").apply("Elite IO: a zoo, é and ı stay; EIAO", 1)
        assert out == "El1t3 IO: 4 z00, é 4nd ı st4y; EIAO"

    @few
    @given(text=TEXT)
    def test_twin(self, make: Make, text: str) -> None:
        table = {"e": "3", "i": "1", "a": "4", "o": "0"}
        expected = "".join(table.get(char, char) for char in text)
        assert make("numerization").apply(text, 1) == expected


class TestNegationToggling:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("It is red.", "It is not red."),
            ("It is not red.", "It is red."),
            ("It isn't red.", "It is red."),
            ("It isn’t red.", "It is red."),
            ("We can go.", "We cannot go."),
            ("We cannot go.", "We can go."),
            ("We can not go, we can't.", "We can go, we can."),
            ("She won't; I will.", "She will; I will not."),
            ("I am here, I'm not there.", "I am not here, I am there."),
            ("at 10 am", "at 10 am"),
            ("Is it? IS IT? Is not it? IS NOT IT?", "Is not it? IS NOT IT? Is it? IS IT?"),
            ("Can't he? CAN'T HE? CAN HE?", "Can he? CAN HE? CANNOT HE?"),
            ("is not is", "is is not"),
            ("is\n not", "is"),
            ("isle, canal, this, doer", "isle, canal, this, doer"),
            ("In May Will may sing", "In May Will may not sing"),
            ("They don't and they did.", "They do and they did not."),
            ("שלום is 😀", "שלום is not 😀"),
        ],
    )
    def test_examples(self, make: Make, text: str, expected: str) -> None:
        assert make("negation_toggling").apply(text, 1) == expected

    def test_only_the_pairs_named_in_the_paper(self, make: Make) -> None:
        named = make("negation_toggling", patterns="named_in_paper")
        assert named.apply("It is so; he was; I can't.", 1) == "It is not so; he was; I can."

    forms = st.sampled_from(
        ["is", "is not", "can", "cannot", "will", "will not", "Have", "HAVE NOT", "red", "I", "."]
    )

    @few
    @given(words=st.lists(forms, max_size=20))
    def test_twice_is_the_original(self, make: Make, words: list[str]) -> None:
        toggling = make("negation_toggling")
        text = ", ".join(words)
        assert toggling.apply(toggling.apply(text, 1), 1) == text

    def test_unknown_list_names_the_others(self, make: Make) -> None:
        with pytest.raises(BenchError, match="did you mean 'auxiliaries'"):
            make("negation_toggling", patterns="auxiliary")


class TestShuffles:
    def test_sentences_keep_their_full_stops(self, make: Make) -> None:
        text = "One a. Two b.\n\nThree 3.5 c! Four\nFive.  Six e.f."
        sentences = ["One a.", "Two b.", "Three 3.5 c! Four", "Five.", "Six e.f."]
        shuffling = make("sentence_shuffling")
        outs = [shuffling.apply(text, seed) for seed in range(30)]
        assert all(sorted(out.split("\n\n")) == sorted(sentences) for out in outs)
        assert len(set(outs)) > 20

    def test_words_are_joined_by_a_space(self, make: Make) -> None:
        out = make("word_shuffling").apply("  a b\tc\n\nd\u00a0e  ", 1)
        assert Counter(out.split(" ")) == Counter("abcde")

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("sentence_shuffling", "\n One sentence, no more.\n\n"),
            ("sentence_shuffling", "Same. Same. Same."),
            ("word_shuffling", "  word\n"),
            ("word_shuffling", "la  la"),
            ("word_shuffling", " \n "),
        ],
    )
    def test_same_order_leaves_the_text_untouched(self, make: Make, name: str, text: str) -> None:
        assert all(make(name).apply(text, seed) == text for seed in range(5))

    def test_every_order_is_drawn_equally_often(self, make: Make) -> None:
        shuffling = make("word_shuffling")
        orders = Counter(shuffling.apply("a b c", seed) for seed in range(1200))
        assert len(orders) == 6
        assert all(count == pytest.approx(200, abs=60) for count in orders.values())

    def test_pinned(self, make: Make) -> None:
        assert make("word_shuffling").apply("a b c d e f g h", 1) == PINNED["word_shuffling"]


class TestLorem:
    def test_as_many_different_tokens_as_in_the_authors_text(self, tokens: Tokenizer) -> None:
        ids = tokens.encode(lorem_text())
        for first, different in ((500, 224), (2000, 361), (6000, 429)):
            assert len(set(ids[:first])) == pytest.approx(different, rel=0.1)

    def test_the_text_is_pinned(self) -> None:
        text = lorem_text()
        assert text.startswith(OPENING)
        assert text.isascii()
        assert len(text.split()) == pytest.approx(13_000, rel=0.05)
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert digest == "bd54ab70151dddea5859e819cc1295dcdd1a87750f323d82ea81ec1dff868777"


class TestInsertion:
    def test_example(self, make: Make) -> None:
        # Ten tokens; half of them is five.
        text = "one two three four five six seven eight nine ten"
        out = make("lorem_insertion").apply(text, 1, 0.5, 0.5)
        assert out == "one two three four five Lorem ipsum dolor sit ametsix seven eight nine ten"

    @few
    @given(text=TEXT, **NEEDLE)
    def test_twin(
        self, make: Make, tokens: Tokenizer, text: str, size: float, position: float
    ) -> None:
        out = make("lorem_insertion").apply(text, 1, size, position)
        count = int(size * len(tokens.encode(text)))
        needle = tokens.decode(tokens.encode(lorem_text()[:2000])[:count])
        assert len(tokens.encode(needle)) == count
        place = int(position * len(text))
        assert out == text[:place] + needle + text[place:]

    def test_goes_on_from_the_beginning_when_it_runs_out(
        self, make: Make, tokens: Tokenizer
    ) -> None:
        insertion: Any = make("lorem_insertion")
        whole = len(tokens.encode(lorem_text() + "\n\n"))
        needle = insertion.needle(2 * whole + 5)
        assert needle == f"{lorem_text()}\n\n" * 2 + "Lorem ipsum dolor sit amet"


class TestRemoval:
    ten = "one two three four five six seven eight nine ten"

    @pytest.mark.parametrize(
        ("size", "position", "expected"),
        [
            (0.5, 0.0, " six seven eight nine ten"),
            (0.5, 1.0, "one two three four five"),
            (0.5, 0.5, "one two eight nine ten"),
            (0.15, 0.0, " two three four five six seven eight nine ten"),
            # int(10 · 1 · (1 - 0.15)) = 8: the last token is not the one that goes.
            (0.15, 1.0, "one two three four five six seven eight ten"),
            (1.0, 0.5, ""),
            (0.05, 0.5, ten),
        ],
    )
    def test_examples(self, make: Make, size: float, position: float, expected: str) -> None:
        assert make("span_removal").apply(self.ten, 1, size, position) == expected

    @few
    @given(text=TEXT, **NEEDLE)
    def test_twin(
        self, make: Make, tokens: Tokenizer, text: str, size: float, position: float
    ) -> None:
        pieces = [tokens.decode_bytes([token]) for token in tokens.encode(text)]
        n = len(pieces)
        start, length = int(n * position * (1 - size)), int(size * n)
        kept = [piece for i, piece in enumerate(pieces) if not start <= i < start + length]
        assert len(kept) == n - length
        out = make("span_removal").apply(text, 1, size, position)
        assert out == b"".join(kept).decode("utf-8", errors="replace")

    def test_half_a_character_becomes_the_replacement_character(
        self, make: Make, tokens: Tokenizer
    ) -> None:
        text = "𓀀𓀁"
        assert len(tokens.encode(text)) > len(text)
        outs = {make("span_removal").apply(text, 1, 0.2, p / 20) for p in range(21)}
        assert any("\ufffd" in out for out in outs)
        assert all(out.encode("utf-8") for out in outs)


@pytest.mark.parametrize("name", ["lorem_insertion", "span_removal"])
@pytest.mark.parametrize(
    ("size", "position"), [(None, 0.5), (0.5, None), (1.5, 0.5), (0.5, -0.1), (float("nan"), 0)]
)
def test_needles_need_a_size_and_a_position(
    make: Make, name: str, size: float | None, position: float | None
) -> None:
    with pytest.raises(BenchError, match=rf"{name}.*from 0 to 1"):
        make(name).apply("text", 1, size, position)


def test_transforms_take_neither(make: Make) -> None:
    with pytest.raises(BenchError, match="takes no size"):
        make("numerization").apply("text", 1, 0.5, 0.5)


# What seed 1 gives: a change here means that every published result changes.
PINNED = {
    "random_capitalization": "THe quick brown foX",
    "word_shuffling": "a f h c e b d g",
}


@pytest.fixture(autouse=True)
def _no_global_state() -> Iterator[None]:
    """None of these may touch the global generators."""
    import random

    import numpy as np

    before = random.getstate(), np.random.get_state()[1].tobytes()
    yield
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == before
