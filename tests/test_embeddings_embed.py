"""Each vector once: over texts, over runs, over a kill, over two jobs at the same time.

Run as a script this file embeds with a tiny encoder that notes every vector it computes.
"""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sagebench import frames
from sagebench.embeddings.base import Encoder, Reading
from sagebench.embeddings.embed import embed, embed_roles
from sagebench.embeddings.keys import text_key
from sagebench.embeddings.store import Store
from sagebench.errors import BenchError


class Tiny(Encoder):
    """Reads five words; its vector is a hash of them. Notes in `log` what it computes."""

    name, dim, max_tokens, fingerprint = "tiny", 8, 5, "0" * 64

    def __init__(self, log, pause=0.0):
        self.log, self.pause = Path(log), pause

    def _read(self, text):
        words = text.split()
        return Reading(text, len(words), " ".join(words[:5]).encode())

    def _compute(self, reading):
        time.sleep(self.pause)
        with open(self.log, "a", encoding="utf-8") as stream:
            stream.write(f"{os.getpid()} {hashlib.sha256(reading.visible).hexdigest()}\n")
        if reading.visible == b"zero":
            return np.zeros(8)
        if reading.visible == b"poison":
            return np.full(8, np.nan)
        return np.frombuffer(hashlib.sha256(reading.visible).digest(), "<u4") - 2.0**31


def texts_of(n):
    return [f"text number {i}" for i in range(n)]


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "tiny.sqlite", 8) as store:
        yield store


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log"
    path.touch()
    return path


def computed(log):
    return log.read_text().splitlines()


def test_parts_make_the_table_and_one_part_its_file(tmp_path, monkeypatch, log, capsys):
    monkeypatch.setenv("SAGEBENCH_STORE", str(tmp_path / "store"))
    texts = [*texts_of(50), "", "one two three four five six", "one two three four five seven"]
    parts = list(embed_roles({"similarity": texts}, Tiny(log), rows=7))
    assert [part.height for part in parts] == [7] * 7 + [4]
    assert len(computed(log)) == 51  # the two that are equal before the cut may lie apart
    assert "53 distinct texts, 51 distinct visible, 0 already stored, 51" in capsys.readouterr().err
    (whole,) = embed_roles({"similarity": texts}, Tiny(log))
    assert whole.equals(pl.concat(parts))
    assert "51 already stored, 0 computed" in capsys.readouterr().err
    one, many, plain = (tmp_path / f"{name}.parquet" for name in ("one", "many", "plain"))
    frames.write_parts([whole], one, frames.EMBEDDINGS)
    frames.write_parts(parts, many, frames.EMBEDDINGS)
    frames.write(whole, plain, frames.EMBEDDINGS)
    assert one.read_bytes() == plain.read_bytes()
    assert frames.read(many, frames.EMBEDDINGS).equals(whole)
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {
        "log", "one.parquet", "many.parquet", "plain.parquet",
    }  # fmt: skip


def test_without_texts_the_table_is_empty(tmp_path, monkeypatch, log):
    monkeypatch.setenv("SAGEBENCH_STORE", str(tmp_path / "store"))
    (table,) = embed_roles({"similarity": []}, Tiny(log))
    assert table.height == 0


def test_table_has_one_row_per_distinct_text(store, log, capsys):
    texts = ["b", "a", "b", "", "one two three four five six", "zero"]
    table = embed(texts, Tiny(log), store)
    frames.EMBEDDINGS.check(table)
    assert table["text_sha256"].to_list() == sorted({text_key(text) for text in texts})
    rows = {row["text_sha256"]: row for row in table.iter_rows(named=True)}
    assert rows[text_key("a")]["vector"] == Tiny(log).encode(["a"])[0].tolist()
    long = rows[text_key("one two three four five six")]
    assert (long["tokens"], long["truncated"], long["valid"]) == (6, True, True)
    for nothing in ("", "zero"):
        assert not rows[text_key(nothing)]["valid"]
        assert not any(rows[text_key(nothing)]["vector"])
    assert (
        "tiny: 5 distinct texts, 4 distinct visible, 0 already stored, 4 computed, 1 truncated, "
        "2 without direction"
    ) in capsys.readouterr().err


def test_texts_that_differ_behind_the_cut_are_computed_once(store, log):
    table = embed([f"a b c d e {i}" for i in range(9)], Tiny(log), store)
    assert len(computed(log)) == 1
    assert table["vector"].n_unique() == 1
    assert table["truncated"].all()


def test_nothing_is_computed_again_and_another_model_shares_nothing(store, log):
    first = embed(texts_of(50), Tiny(log), store)
    assert embed(texts_of(50), Tiny(log), store).equals(first)
    assert len(computed(log)) == 50
    embed(texts_of(60), Tiny(log), store)
    assert len(computed(log)) == 60
    other = Tiny(log)
    other.fingerprint = "1" * 64
    embed(texts_of(50), other, store)
    assert len(computed(log)) == 110


def test_bytes_do_not_depend_on_order_or_on_what_was_there(tmp_path, log):
    paths = []
    for number, texts in enumerate([texts_of(80), texts_of(80)[::-1]]):
        with Store(tmp_path / f"{number}.sqlite", 8) as store:
            embed(texts[: number * 30], Tiny(log), store)
            paths.append(tmp_path / f"{number}.parquet")
            frames.write(embed(texts, Tiny(log), store), paths[-1], frames.EMBEDDINGS)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_no_texts(store, log):
    table = embed([], Tiny(log), store)
    assert frames.EMBEDDINGS.check(table).height == 0


def test_a_failure_keeps_what_was_computed_and_names_the_text(store, log):
    with pytest.raises(BenchError, match=r"not finite.*'poison'"):
        embed([*texts_of(200), "poison"], Tiny(log), store)
    done = len(computed(log)) - 1
    embed(texts_of(200), Tiny(log), store)
    assert len(computed(log)) == 1 + 200
    assert done < 201


def start(folder, n, pause):
    return subprocess.Popen(
        [sys.executable, __file__, str(folder), str(n), str(pause)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.DEVNULL,
    )


def wait_for(log, lines):
    until = time.monotonic() + 60
    while len(computed(log)) < lines:
        assert time.monotonic() < until, "the job does not get on"
        time.sleep(0.01)


def test_killed_and_resumed_gives_the_bytes_of_an_undisturbed_run(tmp_path, log):
    job = start(tmp_path, 300, 0.01)
    wait_for(log, 100)
    job.send_signal(signal.SIGKILL)
    job.wait()
    lost_at_most = 20  # the texts of one shard, of which there are 64
    with Store(tmp_path / "tiny.sqlite", 8) as store:
        kept = store.verify()
        assert kept >= len(computed(log)) - lost_at_most
        resumed = embed(texts_of(300), Tiny(log), store)
    assert len(computed(log)) <= 300 + lost_at_most
    with Store(tmp_path / "fresh.sqlite", 8) as store:
        undisturbed = embed(texts_of(300), Tiny(log), store)
    for name, table in (("a", resumed), ("b", undisturbed)):
        frames.write(table, tmp_path / name, frames.EMBEDDINGS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_two_jobs_of_one_model_divide_the_work(tmp_path, log):
    jobs = [start(tmp_path, 400, 0.01) for _ in range(2)]
    assert [job.wait(60) for job in jobs] == [0, 0]
    by = [line.split() for line in computed(log)]
    assert len(by) == len({key for _, key in by}) == 400
    assert len({pid for pid, _ in by}) == 2
    tables = [pl.read_parquet(path) for path in tmp_path.glob("table-*.parquet")]
    assert len(tables) == 2
    assert tables[0].equals(tables[1])


def main(folder, n, pause):
    folder = Path(folder)
    with Store(folder / "tiny.sqlite", 8) as store:
        table = embed(texts_of(int(n)), Tiny(folder / "log", float(pause)), store)
    frames.write(table, folder / f"table-{os.getpid()}.parquet", frames.EMBEDDINGS)


if __name__ == "__main__":
    main(*sys.argv[1:])
