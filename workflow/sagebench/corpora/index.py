"""Finding an archive in the package indexes.

Only its link is looked up, by exact file name and whatever the platform; no package code is
built, imported or run.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from sagebench.corpora.catalogue import Source
from sagebench.corpora.connection import with_retries
from sagebench.corpora.pip_settings import PipSettings
from sagebench.errors import BenchError

if TYPE_CHECKING:
    from unearth import Link
    from unearth.fetchers import Fetcher
    from unearth.fetchers.sync import PyPIClient


def find(source: Source, settings: PipSettings, session: "PyPIClient") -> "Link":
    """The link of `source.archive`; BenchError if no index has it or none can be reached."""
    seen: set[str] = set()
    unreachable: list[str] = []
    for link in _links(source.package, settings, session, unreachable):
        if link.filename == source.archive:
            return link
        seen.add(link.filename)
    wanted = f"{source.archive} ({source.package} {source.version})"
    if unreachable:
        raise BenchError(
            f"{wanted} was not found, and not every package index could be reached: "
            f"{'; '.join(unreachable)}. Check the connection and run again, or name a mirror in "
            "PIP_INDEX_URL. Once downloaded, it is kept and needs no network."
        )
    where = ", ".join(_redacted(place) for _, place in settings.places) or "(pip has no index)"
    what = f"they hold {len(seen)} other files of it" if seen else "they do not know the package"
    raise BenchError(
        f"{wanted} is in none of the package indexes {where}: {what}. It may have been withdrawn: "
        f"name a mirror that keeps it in PIP_EXTRA_INDEX_URL, or a folder that holds a file with "
        f"sha256 {source.sha256} in PIP_FIND_LINKS, or "
        "a `mirror` in params.yaml."
    )


def _links(
    package: str, settings: PipSettings, session: "PyPIClient", unreachable: list[str]
) -> Iterator["Link"]:
    """Links of the package in every place; a place that cannot be reached is noted."""
    import httpx2
    from unearth import PackageFinder

    for kind, place in settings.places:
        finder = PackageFinder(
            cast("Fetcher", session),
            index_urls=[place] if kind == "index_urls" else [],
            find_links=[place] if kind == "find_links" else [],
            trusted_hosts=settings.trusted_hosts,
            ignore_compatibility=True,
        )

        def search(finder: PackageFinder = finder) -> list["Link"]:
            # A pinned file stays right when its publisher has withdrawn ("yanked") the version.
            return [found.link for found in finder.find_all_packages(package, allow_yanked=True)]

        try:
            links = with_retries(search)
        except httpx2.HTTPError as error:
            unreachable.append(f"{_redacted(place)} ({error})")
            continue
        yield from links


def _redacted(location: str) -> str:
    from unearth import Link

    return Link(location).redacted if "://" in location else location
