"""The audit's words for sources that are no package archives."""

from pathlib import Path

import pytest

from sagebench.audit.chain_text import archive
from sagebench.audit.check import check
from sagebench.audit.history import History, Job
from sagebench.audit.sources import identifier, rows
from sagebench.corpora import catalogue
from sagebench.corpora.catalogue import Catalogue
from sagebench.provenance import file_sha256
from sagebench.report import traces


def fetched(source: str, known: Catalogue) -> Job:
    files = tuple(
        f"data/raw/{source}/{name}" for name in (*known.source(source).files, "source.json")
    )
    spec = known.source(source).model_dump(mode="json")
    command = f"python -m sagebench fetch {source} --raw data/raw"
    return Job(f"fetch_{source}", command, (), files, spec, "0" * 16, {})


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Two fetched sources with all their files."""
    jobs = {p: job for name in ("beir_scifact", "beir_bioasq")
            for job in [fetched(name, catalogue.load())] for p in job.outputs}  # fmt: skip
    for path in jobs:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    return History(tmp_path, jobs, {path: file_sha256(tmp_path / path) for path in jobs})


def test_a_repository_is_named_with_its_revision(history: History) -> None:
    found = {row["source"]: row for row in rows(history)}
    hub = catalogue.load().hub["beir_scifact"]
    assert found["beir_scifact"]["archive"] == f"mteb/scifact@{hub.revision}"
    assert found["beir_scifact"]["licence"] == hub.licence
    assert [identifier(found[name]) for name in sorted(found)] == [
        "#folder-beir_bioasq",
        f"https://huggingface.co/datasets/mteb/scifact/tree/{hub.revision}",
    ]
    assert archive(history.all_jobs[0])["sha256"] == ""


def test_every_source_of_the_catalogue_can_be_named() -> None:
    """By the audit, and by the report, which shows them all behind a number."""
    known = catalogue.load()
    for name in [*known.sources, *known.hub, *known.own]:
        job = fetched(name, known)
        said = archive(job)
        shown = traces._archive(job, [])
        assert said["package"], name
        assert said["licence"], name
        assert (shown.source, shown.archive, shown.sha256) == (
            name, said["archive"], said["sha256"],
        ), name  # fmt: skip


def test_a_pinned_digest_is_checked(history: History) -> None:
    known = catalogue.load()
    assert check(history, known) == []
    entry = known.hub["beir_scifact"].model_dump()
    entry["files"]["queries"]["sha256"] = "0" * 64
    pinned = {"beir_scifact": type(known.hub["beir_scifact"]).model_validate(entry)}
    changed = known.model_copy(update={"hub": known.hub | pinned})
    (finding,) = check(history, changed)
    assert (finding.kind, finding.path) == ("other source", "data/raw/beir_scifact/queries")
