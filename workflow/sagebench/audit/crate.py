"""The whole as a Workflow Run RO-Crate: what was run, on what, with which results.

Profiles: Workflow Run Crate 0.5 (https://w3id.org/ro/wfrun/workflow/0.5) and those that it
extends, on RO-Crate 1.1. The crate lies in results/audit and describes the project around it, so
its paths begin with "../../". Run times are in artifacts.csv: two audits of equal results give
equal crates.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from sagebench.audit import sources
from sagebench.audit.checksums import Checksum
from sagebench.audit.crate_terms import (
    CONTEXT,
    OUTPUTS,
    PROFILES,
    WORKFLOW_PROFILE,
    media_type,
    moved,
)
from sagebench.audit.history import History, Job

if TYPE_CHECKING:
    from rocrate.model.entity import Entity
    from rocrate.rocrate import ROCrate

BESIDE = ("index.md", "dag.svg", "artifacts.csv", "software.csv", "sources.csv")  # in its folder


def render(history: History, known: Mapping[str, Checksum], folder: Path, published: str) -> bytes:
    """The crate's metadata file, to be written into `folder` (relative to the project).

    `known` has the digests of every file that is described; `published` is an ISO 8601 date.
    """
    crate = _Builder(history, known, published).build()
    content = moved(crate.metadata.generate(), folder)
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


class _Builder:
    """Builds the crate with paths relative to the project."""

    def __init__(self, history: History, known: Mapping[str, Checksum], published: str) -> None:
        from rocrate.rocrate import ROCrate

        self._history, self._known = history, known
        self._crate: ROCrate = ROCrate(version="1.1")
        self._crate.metadata.extra_contexts.append(CONTEXT)
        self._crate.datePublished = published
        self._settings = next(job for job in history.all_jobs if job.name == "table").spec

    def build(self) -> ROCrate:
        """Root, workflow, sources, artifacts, and the action that links them."""
        self._authors = self._add("#authors", "Organization", name="The sagebench authors")
        self._licence = self._file("LICENSE", name="MIT License, of the code")
        workflow = self._workflow()
        archives = self._archives()
        folders = self._artifacts(archives)
        self._root()
        self._run(workflow, [*archives.values()], folders)
        return self._crate

    def _root(self) -> None:
        root = self._crate.root_dataset
        root["name"] = f"SAGE, rebuilt: results at size {self._settings['size']}"
        root["description"] = (
            "A reproducible DVC and Snakemake workflow of the SAGE benchmark of semantic "
            "similarity: sources, parameters, every intermediate artifact, tables and figures."
        )
        root["license"] = self._licence
        root["author"] = self._authors
        root["conformsTo"] = [
            self._add(uri, "CreativeWork", name=name, version=uri.rpartition("/")[2])
            for uri, name in PROFILES.items()
        ]

    def _workflow(self) -> Entity:
        from importlib.metadata import version

        workflow = self._crate.add_workflow(
            self._history.root / "Snakefile", "Snakefile", main=True, lang="snakemake",
            lang_version=version("snakemake"),
            properties=self._described("Snakefile") | {
                "name": "sagebench", "version": version("sagebench"),
                "conformsTo": {"@id": WORKFLOW_PROFILE},
            },
        )  # fmt: skip
        workflow["license"], workflow["creator"] = self._licence, self._authors
        rules = sorted((self._history.root / "workflow" / "rules").glob("*.smk"))
        workflow["hasPart"] = [
            self._file(path.relative_to(self._history.root).as_posix()) for path in rules
        ]
        workflow["input"] = [
            self._slot("params.yaml", "File", "every parameter of the benchmark"),
            self._slot("sources", "File", "pinned archives of corpora, resources and models"),
        ]
        workflow["output"] = [
            self._slot(name, "Dataset" if name in ("tables", "figures") else "File", text)
            for name, text in OUTPUTS.items()
        ]
        return workflow

    def _archives(self) -> dict[str, Entity]:
        """Source -> its archive, as a file of a package index; a repository; a user's folder."""
        found = {}
        for row in sources.rows(self._history):
            shared = {
                "citation": row["citation"], "license": self._licence_of(row["licence"]),
                "exampleOfWork": {"@id": "#sources"}, "description": f"read by: {row['used_by']}",
            }  # fmt: skip
            if row["sha256"]:
                found[row["source"]] = self._add(
                    sources.identifier(row), "File", name=row["archive"],
                    version=row["version"], sha256=row["sha256"],
                    encodingFormat=media_type(row["archive"]), **shared,
                )  # fmt: skip
            else:
                found[row["source"]] = self._add(
                    sources.identifier(row),
                    "Dataset",
                    name=row["archive"] or row["source"],
                    **shared,
                )
        return found

    def _artifacts(self, archives: dict[str, Entity]) -> list[Entity]:
        """A data set per folder of data/ and results/, and the files of results/ itself."""
        folders: dict[str, list[Entity]] = {}
        single: list[Entity] = []
        for path, job in self._history.jobs.items():
            entity = self._file(path, description=f"made by rule {job.rule}")
            self._origin(entity, job, archives)
            top = "/".join(PurePosixPath(path).parts[:2])
            if top == path:
                entity["exampleOfWork"] = {"@id": f"#{PurePosixPath(path).stem}"}
                single.append(entity)
            else:
                folders.setdefault(top, []).append(entity)
        for top, files in folders.items():
            dataset = self._crate.add_dataset(dest_path=f"{top}/", properties={"name": top})
            dataset["hasPart"] = files
            if top.startswith("results/"):
                dataset["exampleOfWork"] = {"@id": f"#{PurePosixPath(top).name}"}
            single.append(dataset)
        return single

    def _origin(self, entity: Entity, job: Job, archives: dict[str, Entity]) -> None:
        """Where a source's or corpus's file comes from, and under which licence."""
        if job.name == "fetch":
            entity["isBasedOn"] = archives[job.place]
        if job.name in ("fetch", "corpus"):
            entity["license"] = self._licence_of(job.spec["licence"])
            entity["citation"] = job.spec["citation"]

    def _run(self, workflow: Entity, archives: list[Entity], results: list[Entity]) -> None:
        params = self._file("params.yaml", exampleOfWork={"@id": "#params.yaml"})
        action = self._crate.add_action(
            workflow, "#run", [params, *archives], results,
            properties={
                "name": f"Run at size {self._settings['size']}, seed {self._settings['seed']}",
                "description": "snakemake --cores all",
            },
        )  # fmt: skip
        action["agent"] = self._authors
        self._crate.root_dataset["mentions"] = action
        for name in BESIDE:
            self._file(f"results/audit/{name}", about={"@id": "#run"})
        for name in ("README.md", "requirements.lock", "dvc.yaml", "dvc.lock"):
            if (self._history.root / name).is_file():
                self._file(name)
        if readme := self._crate.get("README.md"):
            readme["about"] = self._crate.root_dataset

    # --- parts ------------------------------------------------------------------------------

    def _file(self, path: str, **properties: Any) -> Entity:
        return self._crate.add_file(
            self._history.root / path, path, properties=self._described(path) | properties
        )

    def _described(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = {"name": path, "encodingFormat": media_type(path)}
        if known := self._known.get(path):
            found |= {"contentSize": str(known.size), "sha256": known.sha256, "md5": known.md5}
        return found

    def _slot(self, name: str, kind: str, description: str) -> Entity:
        return self._crate.add_formal_parameter(
            name, kind, f"#{name}", description, valueRequired=True
        )

    def _licence_of(self, text: str) -> Entity:
        """A licence as the catalogue words it."""
        identifier = f"#licence-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        return self._crate.get(identifier) or self._add(identifier, "CreativeWork", name=text)

    def _add(self, identifier: str, kind: str, **properties: Any) -> Entity:
        from rocrate.model.contextentity import ContextEntity

        if kind == "File":
            return self._crate.add_file(identifier, properties=properties)
        return self._crate.add(
            ContextEntity(self._crate, identifier, properties={"@type": kind, **properties})
        )
