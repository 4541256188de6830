"""Which record speaks of a file: Snakemake's own, one that came with the data, or none."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from snakemake.persistence import RECORD_FORMAT_VERSION, MetadataRecord
from snakemake.persistence.file import FilePersistence

from sagebench.errors import BenchError
from sagebench.lineage import records
from sagebench.lineage.ledger import UNKNOWN, Ledger
from sagebench.lineage.stages import Store
from sagebench.phases import Stage

SOURCE, RESULT = "data/raw/source.txt", "data/scores/result.parquet"


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch) -> Path:
    """Two files, the second made of the first, each with a record of Snakemake's."""
    monkeypatch.chdir(tmp_path)
    _write(SOURCE, "source")
    _write(RESULT, "result")
    _record(SOURCE)
    _record(RESULT, inputs=[SOURCE])
    return tmp_path


def _write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def _record(path: str, inputs: list[str] = (), **fields: object) -> None:
    record = {
        "rule": "make", "code": "make {output}", "params": ["'spec'"], "input": list(inputs),
        "input_checksums": {name: f"sha256:{_sha256(name)}" for name in inputs},
        "log": [], "shellcmd": f"make {path}", "software_stack_hash": "0", "incomplete": False,
        "record_format_version": RECORD_FORMAT_VERSION, "endtime": os.lstat(path).st_mtime,
    }  # fmt: skip
    FilePersistence(nolock=True)._write_record(path, MetadataRecord(**record | fields))


def _sha256(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _stage(*files: str) -> Stage:
    return Stage("score", "task", ["make"], [Path(file) for file in files], [Path("data/scores")])


def _doubt(path: str) -> str:
    return Store().ledger.find(path).doubt


def _forget() -> None:
    """As after a pull: no record of Snakemake's, and times that mean nothing."""
    for path in Path(".snakemake/metadata").iterdir():
        path.unlink()
    os.utime(RESULT, (1, 1))


def test_a_file_that_a_job_wrote_here_is_known():
    assert _doubt(RESULT) == ""
    assert Store().ledger.find(RESULT).own


def test_the_record_of_another_file_of_that_name_does_not_count():
    os.utime(RESULT, (1, 1))
    assert _doubt(RESULT) == UNKNOWN


def test_a_record_that_came_with_the_data_counts_for_its_bytes_alone():
    Store().collect(_stage(SOURCE, RESULT))
    _forget()
    assert _doubt(RESULT) == ""
    assert not Store().ledger.find(RESULT).own
    _write(RESULT, "edited")
    assert _doubt(RESULT) == UNKNOWN


def test_of_two_true_records_the_later_counts():
    """Two branches whose jobs wrote the same bytes: a checkout does not touch the file."""
    _record(RESULT, [SOURCE], params=["'of the branch'"])
    Store().collect(_stage(RESULT))
    _record(RESULT, [SOURCE], params=["'made here'"])
    json_file, made = records.path("score-task"), os.lstat(RESULT).st_mtime
    os.utime(json_file, (made + 9, made + 9))
    assert Store().ledger.find(RESULT).record.params == ["'of the branch'"]
    os.utime(json_file, (made - 9, made - 9))
    assert Store().ledger.find(RESULT).record.params == ["'made here'"]


def test_a_record_counts_only_with_the_inputs_it_names():
    Store().collect(_stage(SOURCE, RESULT))
    _forget()
    _write(SOURCE, "other")
    assert _doubt(RESULT) == f"its input {SOURCE} has other bytes"
    Path(SOURCE).unlink()
    assert _doubt(RESULT) == f"its input {SOURCE} is gone"


def test_where_both_files_were_made_here_their_times_are_left_to_snakemake():
    _write(SOURCE, "made again")
    _record(SOURCE)
    assert _doubt(RESULT) == ""
    os.utime(SOURCE, (1, 1))  # put there by another tool, older than the result
    assert _doubt(RESULT) == f"its input {SOURCE} has other bytes"


def test_a_record_of_another_version_of_snakemake_is_not_taken_over():
    _record(RESULT, [SOURCE], record_format_version=RECORD_FORMAT_VERSION - 1)
    Store().collect(_stage(RESULT))
    _forget()
    assert "another version" in _doubt(RESULT)


def test_records_are_restored_once_and_then_are_snakemakes_own():
    stage = _stage(SOURCE, RESULT)
    Store().collect(stage)
    _forget()
    assert Store().restore([stage]) == {}
    finding = Store().ledger.find(RESULT)
    assert finding.own
    assert (finding.record.rule, finding.record.params) == ("make", ["'spec'"])
    _write(RESULT, "edited")
    assert Store().restore([stage]) == {RESULT: UNKNOWN}


def test_records_have_the_same_bytes_whatever_the_times_and_are_not_written_again():
    stage = _stage(SOURCE, RESULT)
    Store().collect(stage)
    path = records.path(stage.name)
    first, time = path.read_bytes(), path.stat().st_mtime_ns
    os.utime(RESULT, (5, 5))
    _record(RESULT, [SOURCE], starttime=3)
    Store().collect(stage)
    assert path.read_bytes() == first
    assert path.stat().st_mtime_ns == time


def test_digests_that_snakemake_left_out_for_size_are_added():
    _record(RESULT, [SOURCE], input_checksums={})
    Store().collect(_stage(RESULT))
    job = json.loads(records.path("score-task").read_text())["jobs"][0]
    assert job["input_checksums"] == {SOURCE: f"sha256:{_sha256(SOURCE)}"}


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"jobs": [{}]}', '{"jobs": 3}', "null"])
def test_a_broken_file_of_records_counts_as_absent(broken):
    Store().collect(_stage(SOURCE, RESULT))
    _write("data/provenance/other.json", broken)
    assert set(records.read_all()) == {SOURCE, RESULT}


def test_only_files_of_known_jobs_are_collected():
    _write("data/scores/new.parquet", "x")
    with pytest.raises(BenchError, match=r"new\.parquet: no recorded job"):
        Store().collect(_stage("data/scores/new.parquet"))
    with pytest.raises(BenchError, match=r"gone\.parquet is missing"):
        Store().collect(_stage("data/scores/gone.parquet"))


def test_leftovers_of_jobs_are_removed_and_other_files_are_named():
    _write("data/scores/earlier/old.parquet", "x")
    _record("data/scores/earlier/old.parquet")
    _write("data/scores/.result.parquet.k1ll3d", "half")
    Store().prune(_stage(RESULT))
    assert [str(path) for path in Path("data/scores").rglob("*")] == [RESULT]
    _write("data/scores/notes.txt", "mine")
    with pytest.raises(BenchError, match=r"notes.txt is no file of this workflow"):
        Store().prune(_stage(RESULT))
    assert Path("data/scores/notes.txt").exists()


def test_a_ledger_digests_each_file_once(monkeypatch):
    Store().collect(_stage(SOURCE, RESULT))
    digested = []
    monkeypatch.setattr("sagebench.provenance.file_sha256",
                        lambda path: digested.append(path) or _sha256(path))  # fmt: skip
    ledger = Ledger(lambda path: None)
    for path in (SOURCE, RESULT, RESULT, SOURCE):
        assert ledger.find(path).doubt == ""
    assert sorted(digested) == [SOURCE, RESULT]
