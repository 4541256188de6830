"""Which sources a push hands on, under which licences, and whether that is allowed.

`dvc push` copies fetched texts and everything made of them. DVC has no hook before it, so that
asking is the part of `python -m sagebench push`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sagebench.corpora import catalogue, strict_yaml
from sagebench.errors import BenchError

FILE = "redistribution.yaml"
UNSTATED = "unstated"


@dataclass(frozen=True)
class Terms:
    """A source's licence, and whether its texts may be handed on: yes, no or unstated."""

    source: str
    licence: str
    redistribute: str


def terms(sources: Iterable[str], folder: Path = catalogue.FOLDER) -> list[Terms]:
    """The terms of the sources, sorted by name; BenchError for one that is not in the catalogue."""
    known = catalogue.load(folder)
    lists = strict_yaml.load((folder / FILE).read_bytes())
    stated = dict.fromkeys(lists["allowed"], "yes") | dict.fromkeys(lists["refused"], "no")
    return [
        Terms(name, " ".join(known.source(name).licence.split()), stated.get(name, UNSTATED))
        for name in sorted(set(sources))
    ]


def is_local(url: str) -> bool:
    """Whether a remote is a folder of this machine, as far as its address shows."""
    return "://" not in url and not re.match(r"[^/\\]{2,}:", url)  # scp's "host:path" is none


def check(found: list[Terms], url: str, agreed: bool) -> None:
    """BenchError where texts that are not known to be free would leave this machine unasked."""
    doubtful = [each.source for each in found if each.redistribute != "yes"]
    if doubtful and not agreed and not is_local(url):
        raise BenchError(
            f"{len(doubtful)} of {len(found)} sources may not be handed on, or do not say so: "
            f"{', '.join(doubtful)}. Everybody who can read {_without_password(url)} gets them. If "
            "you have the right to, or nobody else can read it, say so with --yes"
        )


def _without_password(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)
