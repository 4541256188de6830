"""Models behind APIs: each provider's format, its limits and roles, faults, keys, payment once.

Run as a script this file embeds through a server, to be killed.
"""

import email.utils
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from api_support import DIM, KEY, LIMITS, hashed, serve

from sagebench.embeddings import patience
from sagebench.embeddings.base import build
from sagebench.embeddings.embed import embed, embed_roles
from sagebench.embeddings.keys import query_key, text_key
from sagebench.embeddings.patience import find_key
from sagebench.embeddings.store import Store, path_of
from sagebench.embeddings.wires import WIRES, numbers
from sagebench.errors import BenchError

PROVIDERS = ["openai", "cohere", "voyage", "gemini", "ollama"]
VARIABLES = ("OPENAI_API_KEY", "CO_API_KEY", "VOYAGE_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SAGEBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SAGEBENCH_STORE", str(tmp_path / "store"))
    monkeypatch.setattr(patience, "DELAYS", (0.01,) * 5)
    monkeypatch.setenv("TEST_KEY", KEY)


@pytest.fixture
def endpoint(raw):
    folder = raw("cl100k")

    def make(api, **settings):
        known = {"name": "mine", "provider": api.provider, "model": "m", "dimensions": DIM}
        known |= {"base_url": api.url, "key": "" if api.provider == "ollama" else "TEST_KEY"}
        return build(known | settings, folder)

    return make


def unit(texts):
    rows = np.array(hashed(texts))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def texts_of(n, size=3):
    return [f"text {i} " + "word " * size for i in range(n)]


# --- formats ---------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_gives_the_servers_vectors_in_batches_within_its_limit(provider, endpoint):
    with serve(provider) as api:
        encoder = endpoint(api)
        texts = [*texts_of(210), "", " \n", "\0", "\ud800 lone", "😀"]
        vectors = encoder.encode(texts)
    sent = [text for text in texts if text.strip()]
    assert sorted(api.asked) == sorted(text.replace("\ud800", "�") for text in sent)
    assert max(len(request["texts"]) for request in api.requests) <= LIMITS[provider]
    np.testing.assert_allclose(vectors[:210], unit(texts[:210]), atol=1e-6)
    assert not vectors[210:212].any()
    np.testing.assert_allclose(np.linalg.norm(vectors[212:], axis=1), 1, atol=1e-6)


def test_batches_keep_the_limit_on_tokens_and_a_long_text_goes_alone(endpoint):
    with serve() as api:
        encoder = endpoint(api, tokens_per_request=100, batch=7)
        texts = [*texts_of(20, 10), "long " * 300, *texts_of(30, 1)]
        encoder.encode(texts)
    sizes = [[encoder.read(text).tokens for text in r["texts"]] for r in api.requests]
    assert all(len(size) <= 7 for size in sizes)
    assert all(sum(size) <= 80 or len(size) == 1 for size in sizes)  # 80 %: tokens are estimated
    assert len(sizes) < 20


def test_the_roles_reach_the_provider(endpoint):
    expected = {
        "cohere": ("search_document", "clustering", "search_document", "search_query"),
        "voyage": (None, None, "document", "query"),
        "gemini": ("SEMANTIC_SIMILARITY", "CLUSTERING", "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"),
        "openai": (None, None, None, None),
    }
    for provider, wanted in expected.items():
        with serve(provider) as api:
            for role in ("similarity", "clustering", "document", "query"):
                endpoint(api).for_role(role).encode(["a"])
        bodies = [r["body"] for r in api.requests]
        found = [b.get("input_type", b.get("requests", [{}])[0].get("taskType")) for b in bodies]
        assert tuple(found) == wanted, provider
        if provider == "cohere":
            assert {b["truncate"] for b in bodies} == {"NONE"}
        if provider == "voyage":
            assert {b["truncation"] for b in bodies} == {False}


def test_cohere_without_an_input_type_is_refused_here(endpoint):
    with serve("cohere") as api, pytest.raises(BenchError, match="needs an input type"):
        endpoint(api, input_types={"similarity": None})


@pytest.mark.parametrize("provider", PROVIDERS)
def test_shorter_vectors_are_asked_for_and_of_length_one(provider, endpoint):
    with serve(provider, embed=lambda texts: [row[:4] for row in hashed(texts)]) as api:
        vectors = endpoint(api, dimensions=4, shorten=True).encode(["a", "b"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert " 4" in json.dumps(api.requests[0]["body"])


def test_base64_and_another_order_are_understood(endpoint):
    with serve(base64=True, shuffled=True) as api:
        vectors = endpoint(api).encode(["a", "b", "c"])
    np.testing.assert_allclose(vectors, unit(["a", "b", "c"]), atol=1e-6)
    assert api.requests[0]["body"]["encoding_format"] == "float"


@pytest.mark.parametrize("row", [["a"], [[1.0]], "not base64!", None])
def test_a_row_that_is_no_vector_is_refused(row):
    with pytest.raises((ValueError, TypeError)):
        numbers(row)


@pytest.mark.parametrize(
    ("embed", "message"),
    [
        (lambda texts: [row[:5] for row in hashed(texts)], "have 5 dimensions, not 8"),
        (lambda texts: hashed(texts)[1:], "1 vectors for 2 texts"),
        (lambda texts: [[float("nan")] * DIM for _ in texts], "not finite"),
        (lambda texts: [{"x": 1} for _ in texts], "answer is not of provider 'openai'"),
    ],
)
def test_a_wrong_answer_is_explained(endpoint, embed, message):
    with serve(embed=embed) as api, pytest.raises(BenchError, match=message):
        endpoint(api).encode(["a", "b"])


# --- what is read ----------------------------------------------------------------------------


def test_long_texts_are_cut_before_they_are_sent_and_counted(endpoint, raw):
    from sagebench.tokens import cl100k

    text = "naïve 日本語 😀 " * 40
    with serve() as api:
        for limit in range(1, 60, 7):
            encoder = endpoint(api, max_tokens=limit)
            reading = encoder.read(text)
            assert reading.tokens == len(cl100k(raw("cl100k")).encode(text)) > limit
            assert text.startswith(reading.text)
            assert len(cl100k(raw("cl100k")).encode(reading.text)) <= limit
            assert encoder.sent(reading) == limit
        fits, edited = endpoint(api, max_tokens=50).visible(["word " * 60, "word " * 60 + "end"])
    assert fits == edited


def test_the_models_own_tokenizer_counts_exactly(endpoint, raw):
    tokenizer = raw("minilm") / "minilm" / "model" / "tokenizer.json"
    local = build("paraphrase_l3", raw("minilm", "paraphrase_l3"))  # of the same vocabulary
    with serve() as api:
        encoder = endpoint(api, tokenizer=str(tokenizer), max_tokens=32)
    for text in ["a man eats", "Unaffordable! " * 40, "😀 naïve " * 30]:
        assert encoder.read(text).tokens == local.read(text).tokens
        assert local.read(encoder.read(text).text).tokens <= 32
    with serve() as api, pytest.raises(BenchError, match="is missing"):
        endpoint(api, tokenizer="no/such/tokenizer.json")


@pytest.mark.parametrize("provider", ["cohere", "voyage", "ollama", "openai"])
def test_a_text_that_is_too_long_for_the_server_is_an_error_that_names_it(provider, endpoint):
    with serve(provider, longest=10) as api, pytest.raises(BenchError, match="'the long one"):
        endpoint(api, concurrency=1).encode([*texts_of(9), "the long one " + "x " * 20])


def test_a_server_that_cuts_silently_is_found_out(endpoint, raw):
    tokenizer = raw("minilm") / "minilm" / "model" / "tokenizer.json"
    with serve(longest=10, cuts=True) as api, pytest.raises(BenchError, match="cuts texts silent"):
        endpoint(api, tokenizer=str(tokenizer)).encode(["word " * 40])


def test_a_batch_limit_that_is_not_known_here_is_met_by_halving(endpoint):
    with serve(limit=3) as api:
        vectors = endpoint(api, batch=20).encode(texts_of(20))
    np.testing.assert_allclose(vectors, unit(texts_of(20)), atol=1e-6)
    assert sorted(api.answered) == sorted(texts_of(20))


# --- faults ----------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
def test_busy_broken_and_slow_answers_are_borne(provider, endpoint):
    busy = (429, {"Retry-After": "0"}, {"message": "slow down"})
    faults = [busy, (503, {}, b"<html>"), "cut", 0.05, (500, {}, b""), (200, {}, b"<html>")]
    with serve(provider, faults=list(faults)) as api:
        vectors = endpoint(api, concurrency=1, batch=5).encode(texts_of(12))
    np.testing.assert_allclose(vectors, unit(texts_of(12)), atol=1e-6)
    assert sorted(api.answered) == sorted(texts_of(12))


def test_retry_after_is_waited_for(endpoint):
    for headers, least in [({"Retry-After": "1"}, 0.9), ({"retry-after-ms": "300"}, 0.28)]:
        with serve(faults=[(429, headers, b"")]) as api:
            started = time.monotonic()
            endpoint(api).encode(["a"])
            assert time.monotonic() - started >= least


def test_retry_after_may_be_a_date_or_nonsense():
    date = email.utils.formatdate(time.time() + 500, usegmt=True)
    assert 400 < patience._retry_after({"Retry-After": date}) <= 500
    past = email.utils.formatdate(time.time() - 500, usegmt=True)
    assert patience._retry_after({"Retry-After": past}) == 0
    assert patience._retry_after({"Retry-After": "soon"}) is None
    assert patience._retry_after({}) is None


@pytest.mark.parametrize(
    ("fault", "message", "requests"),
    [
        ((429, {"Retry-After": "3600"}, b""), "asks to wait 3600 s", 1),
        ((429, {}, {"error": {"message": "x", "code": "insufficient_quota"}}), "no credit", 1),
        ((402, {}, b"pay"), "no credit", 1),
        ((404, {}, {"error": {"message": "no such model"}}), "404: no such model. Check", 1),
        ((301, {"Location": "http://127.0.0.1:9/"}, b""), "answers 301", 1),
        ((503, {}, b""), "did not answer at 6 tries", 6),
    ],
)
def test_what_waiting_does_not_help_ends_with_a_way_out(endpoint, fault, message, requests):
    with serve(faults=[fault] * 6) as api, pytest.raises(BenchError, match=message):
        endpoint(api, concurrency=1).encode(["a"])
    assert len(api.requests) == requests


def test_a_server_that_is_away(endpoint):
    with serve() as api:
        pass
    with pytest.raises(BenchError, match="ConnectError"):
        endpoint(api).encode(["a"])


def test_a_slow_server_is_given_up_after_its_time(endpoint):
    with serve(faults=[0.5] * 6) as api, pytest.raises(BenchError, match="ReadTimeout"):
        endpoint(api, timeout=0.05, concurrency=1).encode(["a"])


def test_requests_run_side_by_side_up_to_the_limit(endpoint):
    for limit in (1, 3):
        with serve(faults=[0.05] * 8) as api:
            encoder = endpoint(api, concurrency=limit, batch=2, revision=str(limit))
            with Store.of(encoder) as store:
                embed(texts_of(16), encoder, store)
        assert api.most == limit


# --- keys ------------------------------------------------------------------------------------


def test_a_missing_or_odd_key_is_explained_and_nothing_is_sent(endpoint, monkeypatch):
    with serve() as api:
        monkeypatch.delenv("TEST_KEY")
        with pytest.raises(BenchError, match="needs a key in the environment variable TEST_KEY"):
            endpoint(api).encode(["a"])
        monkeypatch.setenv("TEST_KEY", "odd“key”\n2")
        with pytest.raises(BenchError, match="TEST_KEY has characters") as caught:
            endpoint(api).encode(["a"])
    assert "odd" not in str(caught.value)
    assert not api.requests


def test_every_providers_own_variables_are_found(monkeypatch):
    for wire in WIRES.values():
        for variable in wire.keys:
            monkeypatch.setenv(variable, f" {KEY}\n")
            assert find_key("m", wire.keys) == KEY
            monkeypatch.delenv(variable)
    assert find_key("m", ()) is None
    assert WIRES["voyage"].base_url("al-x") != WIRES["voyage"].base_url("pa-x")


# --- once ------------------------------------------------------------------------------------


def test_every_batch_is_kept_although_a_later_one_fails(endpoint):
    bad = (400, {}, {"error": {"message": "no"}})
    with serve(faults=[None, None, bad, bad, bad, bad]) as api:
        encoder = endpoint(api, concurrency=1, batch=5)
        with Store.of(encoder) as store, pytest.raises(BenchError, match="refuses"):
            embed(texts_of(30), encoder, store)
        kept = list(api.answered)
        assert len(kept) == 10
        with Store.of(encoder) as store:
            embed(texts_of(30), encoder, store)
    assert sorted(api.answered) == sorted(texts_of(30))


def test_queries_are_asked_for_apart_and_only_where_the_model_tells_them_apart(endpoint):
    texts = {"document": ["both", "document"], "query": ["both", "query"]}
    with serve("cohere") as api:
        table = pl.concat(embed_roles(texts, endpoint(api), rows=2))
    assert sorted(api.asked) == ["both", "both", "document", "query"]
    keys = {text_key("both"), text_key("document"), query_key("both"), query_key("query")}
    assert set(table["text_sha256"]) == keys
    with serve("openai") as api:
        table = pl.concat(embed_roles(texts, endpoint(api), rows=2))
    assert sorted(api.asked) == ["both", "document", "query"]
    assert set(table["text_sha256"]) == {text_key(t) for t in ("both", "document", "query")}


def test_fingerprint_is_what_was_asked_and_nothing_else(endpoint):
    with serve() as api:
        mark = endpoint(api).fingerprint
        same = [
            {"batch": 3},
            {"concurrency": 9},
            {"timeout": 1.0},
            {"max_tokens": 9},
            {"name": "x"},
        ]
        other = [{"revision": "2"}, {"model": "n"}, {"base_url": "http://x/v1"}, {"shorten": True},
                 {"prompts": {"similarity": "p: "}}, {"dimensions": 4}]  # fmt: skip
        assert all(endpoint(api, **settings).fingerprint == mark for settings in same)
        marks = [endpoint(api, **settings).fingerprint for settings in other]
    assert len({mark, *marks}) == 1 + len(other)


def test_paid_vectors_lie_where_no_clean_reaches_them(endpoint, monkeypatch, tmp_path):
    monkeypatch.delenv("SAGEBENCH_STORE")
    with serve() as api:
        paid, own = endpoint(api), endpoint(api, key="")
    assert path_of(paid).is_relative_to(tmp_path / "cache")
    assert not path_of(own).is_absolute()


def test_killed_and_resumed_no_answered_text_is_sent_again(endpoint, raw, tmp_path):
    """Kill -9 while two requests are under way, after eight of which the answers have come."""
    import threading

    texts = texts_of(60)
    with serve(gate=threading.Event(), free=8) as api:
        settings = {"base_url": api.url, "concurrency": 2, "batch": 5}
        job = subprocess.Popen(
            [sys.executable, __file__, str(raw("cl100k")), json.dumps(settings), "60"],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        encoder = endpoint(api, concurrency=2, batch=5)
        until = time.monotonic() + 60
        kept = 0
        while kept < 40:
            assert time.monotonic() < until, "the job does not get on"
            time.sleep(0.02)
            if path_of(encoder).exists():
                with Store.of(encoder) as store:
                    kept = store.stat().vectors
        job.send_signal(signal.SIGKILL)
        job.wait()
        api.gate.set()
        time.sleep(0.1)
        paid = set(api.answered[:40])
        before = len(api.requests)
        with Store.of(encoder) as store:
            table = embed(texts, encoder, store)
        again = {text for request in api.requests[before:] for text in request["texts"]}
    assert len(paid) == 40
    assert not again & paid
    assert again | paid == set(texts)
    rows = dict(zip(table["text_sha256"], table["vector"].to_list(), strict=True))
    got = np.array([rows[text_key(text)] for text in texts])
    np.testing.assert_allclose(got, unit(texts), atol=1e-6)


def main(folder, settings, n):
    known = {"name": "mine", "provider": "openai", "model": "m", "dimensions": DIM,
             "key": "TEST_KEY"}  # fmt: skip
    encoder = build(known | json.loads(settings), Path(folder))
    with Store.of(encoder) as store:
        embed(texts_of(int(n)), encoder, store)


if __name__ == "__main__":
    main(*sys.argv[1:])
