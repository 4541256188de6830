"""The store of vectors: what comes back, what a damaged file does, several jobs at once."""

import hashlib
import multiprocessing
import sqlite3

import numpy as np
import pytest

from sagebench.embeddings.keys import vector_key
from sagebench.embeddings.store import Store
from sagebench.errors import BenchError


def vectors_of(numbers, dim=8):
    keys = [hashlib.sha256(str(number).encode()).digest() for number in numbers]
    return {
        key: np.random.default_rng(number).normal(size=dim).astype(np.float32)
        for key, number in zip(keys, numbers, strict=True)
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store" / "model.sqlite"


def same(found, expected):
    return found.keys() == expected.keys() and all(
        np.array_equal(found[key], expected[key]) for key in expected
    )


def test_what_was_put_comes_back_also_after_reopening(path):
    put = vectors_of(range(2_500))
    with Store(path, 8) as store:
        assert store.get_many(put) == {}
        store.put_many(put)
        assert same(store.get_many(put), put)
    with Store(path, 8) as store:
        assert same(store.get_many([*put, b"x" * 32]), put)
        assert store.stat().vectors == store.verify() == 2_500
        assert store.stat().size == path.stat().st_size


def test_putting_again_changes_nothing(path):
    put = vectors_of(range(10))
    with Store(path, 8) as store:
        store.put_many(put)
        store.put_many(put)
        assert store.stat().vectors == 10


def test_a_vector_of_another_width_is_a_defect(path):
    with Store(path, 8) as store, pytest.raises(ValueError, match="shape"):
        store.put_many(vectors_of([1], dim=9))


def test_key_depends_on_model_and_visible_bytes_unambiguously():
    keys = {vector_key(*pair) for pair in [("a", b"b"), ("ab", b""), ("a", b""), ("", b"ab")]}
    assert len(keys) == 4
    assert {len(key) for key in keys} == {32}


def test_environment_chooses_the_folder(tmp_path, monkeypatch):
    class Model:
        name, fingerprint, dim, paid = "tiny", "f" * 64, 8, False

    monkeypatch.setenv("SAGEBENCH_STORE", str(tmp_path / "elsewhere"))
    with Store.of(Model()) as store:
        assert store.path == tmp_path / "elsewhere" / f"tiny-{'f' * 16}.sqlite"


@pytest.mark.parametrize("where", ["head", "everything", "cut"])
def test_a_damaged_file_is_set_aside_and_rebuilt(path, capsys, where):
    put = vectors_of(range(3_000))
    with Store(path, 8) as store:
        store.put_many(put)
    content = path.read_bytes()
    damaged = {
        "head": b"garbage!" * 20 + content[160:],
        "everything": b"\xff" * len(content),
        "cut": content[: len(content) // 2],
    }[where]
    path.write_bytes(damaged)
    with Store(path, 8) as store:
        found = store.get_many(put)
        assert found == {}
        store.put_many(put)
        assert same(store.get_many(put), put)
        assert store.verify() == 3_000
    (aside,) = path.parent.glob("*.damaged-1")
    assert aside.read_bytes() == damaged
    message = capsys.readouterr().err
    assert "was damaged" in message
    assert aside.name in message


def flip(path, key):
    """Change one vector behind the store's back, in a way that SQLite cannot notice."""
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE vectors SET vector = zeroblob(length(vector)) WHERE key = ?", (key,)
        )
    connection.close()


def test_a_changed_vector_is_noticed(path, capsys):
    put = vectors_of(range(20))
    with Store(path, 8) as store:
        store.put_many(put)
    flip(path, next(iter(put)))
    with Store(path, 8) as store:
        with pytest.raises(BenchError, match="is damaged"):
            store.verify()
        assert store.get_many(put) == {}
    assert "not what was written" in capsys.readouterr().err


def test_two_jobs_that_meet_damage_set_it_aside_once(path):
    put = vectors_of(range(20))
    with Store(path, 8) as first, Store(path, 8) as second:
        first.put_many(put)
        flip(path, next(iter(put)))
        assert first.get_many(put) == {}
        first.put_many(put)
        assert same(second.get_many(put), put)  # moves on to the new file, and leaves it in place
    assert len(list(path.parent.glob("*.damaged-*"))) == 1


def test_a_folder_that_cannot_be_used_is_an_error_with_a_way_out(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchError, match="SAGEBENCH_STORE"):
        Store(tmp_path / "file" / "model.sqlite", 8)


def write(path, start):
    with Store(path, 8) as store:
        for number in range(start, start + 200, 10):
            store.put_many(vectors_of(range(number, number + 10)))


def test_parallel_writers_lose_nothing(path):
    context = multiprocessing.get_context("spawn")
    jobs = [context.Process(target=write, args=(path, start)) for start in (0, 100, 200)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0, 0, 0]
    put = vectors_of(range(400))
    with Store(path, 8) as store:
        assert same(store.get_many(put), put)
        assert store.verify() == 400


def hold_shard(path, ready, done):
    with Store(path, 8) as store, store.attempt(3) as mine:
        assert mine
        ready.set()
        done.wait(30)


def test_a_shard_belongs_to_one_job_and_is_free_when_the_job_is_killed(path):
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    job = context.Process(target=hold_shard, args=(path, ready, done))
    job.start()
    assert ready.wait(30)
    with Store(path, 8) as store:
        with store.attempt(3) as mine:
            assert not mine
        with store.attempt(4) as other:
            assert other
        job.kill()
        job.join()
        with store.attempt(3) as mine:
            assert mine
