"""Where this machine's pip takes packages from: no index is named in this project."""

import ast
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from sagebench.errors import BenchError

_SECTIONS = ("global", "download", ":env:")  # later ones win, as in `pip download`
_TRUE = {"1", "true", "yes", "on"}


@dataclass(frozen=True)
class PipSettings:
    """What pip was told about indexes and connections."""

    indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    certificates: str | None = None  # path of a PEM bundle
    proxy: str | None = None
    timeout: float = 15.0  # seconds without a byte

    @property
    def places(self) -> list[tuple[str, str]]:
        """(kind, location), those on this machine first: they answer without a network."""
        found = [("find_links", place) for place in self.find_links]
        found += [("index_urls", place) for place in self.indexes]
        return sorted(found, key=lambda item: item[1].startswith(("http:", "https:")))


def read() -> PipSettings:
    """Settings of `pip download` on this machine (its files, then environment variables)."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    run = subprocess.run(  # noqa: S603 - a fixed command of this interpreter
        command, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if run.returncode:
        raise BenchError(
            f"pip's configuration cannot be read ({run.stderr.strip()}); it says where packages "
            "come from. Try `python -m ensurepip` in this environment."
        )
    return parse(run.stdout)


def parse(listing: str) -> PipSettings:
    """Settings from the output of `pip config list`: lines `section.key='value'`.

    Folders that do not exist on this machine are left out.
    """
    options: dict[str, str] = {}
    for section in _SECTIONS:
        for line in listing.splitlines():
            if line.startswith(f"{section}.") and "=" in line:
                key, value = line.removeprefix(f"{section}.").split("=", 1)
                options[key] = str(ast.literal_eval(value))
    indexes = [options.get("index-url") or _default_index()]
    indexes += options.get("extra-index-url", "").split()
    if options.get("no-index", "").lower() in _TRUE:
        indexes = []
    return PipSettings(
        indexes=tuple(filter(_exists, indexes)),
        find_links=tuple(filter(_exists, options.get("find-links", "").split())),
        trusted_hosts=tuple(options.get("trusted-host", "").split()),
        certificates=options.get("cert"),
        proxy=options.get("proxy"),
        timeout=float(options.get("timeout") or options.get("default-timeout") or 15),
    )


def _default_index() -> str:
    from pip._internal.models.index import PyPI

    return PyPI.simple_url


def _exists(location: str) -> bool:
    """False for a folder on this machine that is not there; True for anything remote."""
    if location.startswith("file:"):
        return Path(url2pathname(urlsplit(location).path)).exists()
    return "://" in location or Path(location).exists()
