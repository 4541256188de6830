"""The packaged models: known values, what they read, and twins written out by hand."""

import math
import platform
import re
import sys

import numpy as np
import pytest

from sagebench import registry
from sagebench.corpora import catalogue
from sagebench.embeddings.base import build
from sagebench.errors import BenchError

# Cosine of a sentence with its paraphrase and with an unrelated one, measured independently.
FOOD = "A man is eating food"
RELATED = "A man eats something"
UNRELATED = "The stock market crashed in Tokyo yesterday"
KNOWN = {
    "minilm": (384, 0.867, -0.012),
    "minilm_int8": (384, 0.867, -0.008),
    "paraphrase_l3": (384, 0.835, 0.066),
    "wordllama": (256, 0.730, -0.029),
    "glove": (50, 0.939, 0.672),
    "use": (512, 0.830, 0.004),
    "e5_small": (384, 0.983, 0.746),
}
DEFAULT = ["minilm", "minilm_int8", "paraphrase_l3", "wordllama", "glove"]
CONTEXTUAL = ["minilm", "minilm_int8", "paraphrase_l3"]
HOSTILE = [
    "",
    " \n\t",
    "\0",
    "word",
    "\U0001f600",
    "e\u0301\u0301" * 40,
    "שלום עולם",
    "\ud800 lone",
    "<b>&amp;</b> [SEP] </s>",
    "../../etc/passwd",
    "\ufdfa" * 30,
    "x" * 500,
]


@pytest.fixture(scope="session")
def encoder(raw):
    built = {}

    def get(name):
        if name == "use":
            pytest.importorskip("sentencepiece")
        if name == "e5_small" and (sys.platform, platform.machine()) != ("linux", "x86_64"):
            pytest.skip("a compiled engine for Linux x86-64")
        if name not in built:
            built[name] = build(name, raw(*catalogue.load().model(name).sources))
        return built[name]

    return get


def test_every_encoder_is_in_the_catalogue_and_tested():
    models = catalogue.load().models
    assert {model.backend for model in models.values()} == set(registry.entries("encoder"))
    packaged = {name for name, model in models.items() if model.backend not in ("api", "open")}
    assert packaged == set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_known_values(encoder, name):
    dim, related, unrelated = KNOWN[name]
    vectors = encoder(name).encode([FOOD, RELATED, UNRELATED])
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, dim) == (3, encoder(name).dim)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert vectors[0] @ vectors[1] == pytest.approx(related, abs=0.02)
    assert vectors[0] @ vectors[2] == pytest.approx(unrelated, abs=0.02)


@pytest.mark.parametrize("name", KNOWN)
def test_hostile_texts_have_a_direction_or_none(encoder, name):
    model = encoder(name)
    vectors = model.encode(HOSTILE)
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-6) | (lengths == 0))
    assert not vectors[:2].any()
    assert vectors[3].any()
    assert all((length > 0) == bool(r) for length, r in zip(lengths, model.visible(HOSTILE)))


@pytest.mark.parametrize("name", DEFAULT)
def test_a_line_of_a_megabyte(encoder, name):
    model = encoder(name)
    reading = model.read("lorem ipsum dolor, " * 55_000)
    assert reading.tokens >= 165_000
    assert len(reading.visible) < 10_000 or model.max_tokens is None
    assert np.linalg.norm(model.vector(reading)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", KNOWN)
def test_bytes_do_not_depend_on_the_other_texts(encoder, name):
    texts = [FOOD, "", UNRELATED, "one " * 60, RELATED]
    forth, back = encoder(name).encode(texts), encoder(name).encode(texts[::-1])
    assert forth.tobytes() == back[::-1].tobytes()
    assert forth[4].tobytes() == encoder(name).encode([RELATED])[0].tobytes()


@pytest.mark.parametrize("name", CONTEXTUAL)
def test_an_edit_behind_the_cut_is_invisible(encoder, name):
    model = encoder(name)
    limit = model.max_tokens
    assert limit == (128 if name == "paraphrase_l3" else 256)
    fits, long, edited = ("word " * n for n in (limit - 2, limit, limit + 500))
    edited += "completely different"
    assert model.tokens([fits, long]) == [limit, limit + 2]  # [CLS] and [SEP] count
    a, b, c = model.visible([fits, long, edited])
    assert a == b == c
    assert model.visible(["other " + long])[0] != a
    assert model.encode([long]).tobytes() == model.encode([edited]).tobytes()


@pytest.mark.parametrize("name", ["wordllama", "glove"])
def test_static_models_read_everything_but_the_order(encoder, name):
    model = encoder(name)
    assert model.max_tokens is None
    words = [" market", " food", " man", " crashed"] * 500
    text, shuffled = "".join(words), "".join(sorted(words))
    assert model.encode([text]).tobytes() == model.encode([shuffled]).tobytes()
    assert model.visible([text]) != model.visible([text + " end"])
    assert model.tokens([text])[0] >= len(words)


def test_minilm_equals_plain_sentence_transformers_in_batches(encoder, raw):
    from sentence_transformers import SentenceTransformer

    texts = [f"{UNRELATED}, {FOOD.lower()} {i}. " * (1 + i % 9) for i in range(18)]
    texts.append(" ".join(texts))
    plain = SentenceTransformer(str(raw("minilm") / "minilm" / "model"), device="cpu")
    expected = plain.encode(texts, batch_size=32, show_progress_bar=False)
    np.testing.assert_allclose(encoder("minilm").encode(texts), expected, atol=1e-5)


def test_int8_is_the_same_model_with_a_small_loss(encoder):
    texts = [FOOD, UNRELATED, RELATED * 20]
    cosines = (encoder("minilm").encode(texts) * encoder("minilm_int8").encode(texts)).sum(axis=1)
    assert np.all(cosines > 0.98)
    assert np.all(cosines < 1 - 1e-5)


def test_wordllama_equals_plain_static_embedding(encoder, raw):
    from safetensors.numpy import load_file
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    folder = raw("wordllama") / "wordllama"
    weights = load_file(folder / "weights.safetensors")["embedding.weight"].astype("float32")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    module = StaticEmbedding(tokenizer, embedding_weights=weights)
    plain = SentenceTransformer(modules=[module], device="cpu")
    texts = [FOOD, UNRELATED * 300]
    expected = plain.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    np.testing.assert_allclose(encoder("wordllama").encode(texts), expected, atol=1e-5)


def test_glove_is_the_mean_of_the_known_words(encoder, raw):
    import polars as pl

    folder = raw("glove") / "glove"
    words = pl.read_parquet(folder / "words.parquet")["index"].to_list()
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    text = "The man DIDN’T eat zzzqqqxxx food, isn't he?"
    parts = ["the", "man", "did", "n't", "eat", "zzzqqqxxx", "food", "is", "n't", "he"]
    total = [0.0] * 50
    for part in parts:
        if part in words:
            total = [x + float(y) for x, y in zip(total, vectors[words.index(part)])]
    length = math.sqrt(sum(x * x for x in total))
    model = encoder("glove")
    np.testing.assert_allclose(model.encode([text])[0], np.array(total) / length, atol=1e-6)
    assert model.tokens([text]) == [len(parts)]
    assert not model.encode(["zzzqqqxxx 日本語"]).any()


def test_fingerprint_knows_the_settings_and_nothing_of_the_place(raw, tmp_path, encoder):
    folder = raw("minilm") / "minilm" / "model"
    moved = tmp_path / "copy"
    moved.symlink_to(folder)
    marks = {
        key: build({"name": "mine", "path": str(path), **options}, tmp_path).fingerprint
        for key, path, options in [
            ("here", folder, {}),
            ("there", moved, {}),
            ("short", folder, {"max_tokens": 64}),
            ("prompt", folder, {"prompt": "query: "}),
        ]
    }
    assert marks["here"] == marks["there"] == encoder("minilm").fingerprint
    assert len(set(marks.values())) == 3


def test_a_users_folder_with_a_prompt_and_a_limit(raw, encoder):
    folder = raw("minilm") / "minilm" / "model"
    mine = build(
        {"name": "mine", "path": str(folder), "max_tokens": 16, "prompt": "query: "},
        folder,
    )
    expected = encoder("minilm").encode([f"query: {FOOD}"])
    np.testing.assert_allclose(mine.encode([FOOD]), expected, atol=1e-6)
    assert mine.tokens([FOOD]) == encoder("minilm").tokens([f"query: {FOOD}"])
    assert mine.visible(["word " * 20]) == mine.visible(["word " * 30])
    assert not mine.encode([" "]).any()


def test_a_model_of_the_hub_is_read_from_its_cache_offline(raw, tmp_path, monkeypatch, encoder):
    repository = tmp_path / "models--some--model"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("c0ffee" * 6 + "beef")
    (repository / "snapshots").mkdir()
    snapshot = repository / "snapshots" / ("c0ffee" * 6 + "beef")
    snapshot.symlink_to(raw("minilm") / "minilm" / "model")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for revision in (None, snapshot.name):
        own = {"name": "own", "path": "some/model", "revision": revision}
        assert build(own, tmp_path).fingerprint == encoder("minilm").fingerprint
    with pytest.raises(BenchError, match="at revision v2"):
        build({"name": "own", "path": "some/model", "revision": "v2"}, tmp_path)


def test_a_limit_beyond_the_models_positions_is_refused(raw, tmp_path):
    folder = raw("minilm") / "minilm" / "model"
    with pytest.raises(BenchError, match="no positions for max_tokens 600"):
        build({"name": "mine", "path": str(folder), "max_tokens": 600}, tmp_path)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("minillm", "did you mean 'minilm'"),
        ("minilm", "sagebench fetch minilm"),
        ({"name": "x", "path": "no-such/model"}, "'no-such/model' is neither a folder nor"),
        ({"name": "x", "path": "."}, "does not load as a sentence-transformers model"),
    ],
)
def test_what_cannot_be_built_is_explained(tmp_path, monkeypatch, model, message):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BenchError, match=re.escape(message)):
        build(model, tmp_path)


def test_e5_refuses_another_platform(monkeypatch, tmp_path):
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    with pytest.raises(BenchError, match="only on Linux x86-64"):
        build("e5_small", tmp_path)
