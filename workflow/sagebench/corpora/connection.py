"""The HTTP client of the acquire phase, and its patience with broken connections."""

import ssl
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from sagebench.corpora.pip_settings import PipSettings

if TYPE_CHECKING:
    import httpx2
    from unearth.fetchers.sync import PyPIClient

DELAYS = (1.0, 3.0, 9.0)  # seconds before the second, third and fourth try
T = TypeVar("T")


def client(settings: PipSettings) -> "PyPIClient":
    """A client that connects as pip would; a context manager that closes it."""
    from unearth.auth import MultiDomainBasicAuth
    from unearth.fetchers.sync import PyPIClient

    return PyPIClient(
        trusted_hosts=settings.trusted_hosts,
        verify=ssl.create_default_context(cafile=settings.certificates),
        timeout=settings.timeout,
        proxy=settings.proxy,
        follow_redirects=True,
        auth=MultiDomainBasicAuth(prompting=False, index_urls=list(settings.indexes)),
        # The package finder takes a server's failure for an empty page: raise it instead.
        event_hooks={"response": [_raise_if_busy]},
    )


def with_retries(action: Callable[[], T]) -> T:
    """`action()`, tried again after a broken connection or a busy server.

    Raises the last httpx2.HTTPError when every try failed.
    """
    import httpx2

    for delay in DELAYS:
        try:
            return action()
        except httpx2.HTTPError:
            time.sleep(delay)
    return action()


def _raise_if_busy(response: "httpx2.Response") -> None:
    import httpx2

    if response.status_code == 429 or response.status_code >= 500:
        message = f"the server answers {response.status_code} {response.reason_phrase}"
        raise httpx2.HTTPStatusError(message, request=response.request, response=response)
