"""Talking to the Hub through its own client library: patience, plain words, resumed downloads."""

import ipaddress
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from sagebench.corpora import connection
from sagebench.errors import BenchError

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo

_HUB = "https://huggingface.co"
_LONGEST_WAIT = 300.0  # seconds, whatever a server asks for
# What the Hub's client raises over an answer of another shape.
_NO_ANSWER = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_NOT_THERE = (401, 403, 404)
T = TypeVar("T")


class UnreachableError(BenchError):
    """No connection, offline on purpose, or a server that stays busy."""


def dataset_info(repo: str, revision: str, endpoint: str | None) -> "DatasetInfo":
    """A data set's commit and files with sizes and digests.

    UnreachableError without a connection; BenchError if there is no such repository or revision.
    """
    from huggingface_hub import HfApi, constants

    def ask(key: str | None) -> "DatasetInfo":
        return HfApi(endpoint=endpoint, token=key or False).dataset_info(
            repo,
            revision=revision,
            files_metadata=True,
            # The client waits for ever where it is not told how long.
            timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT,
        )

    return _explained(ask, f"{repo} at {revision}", endpoint)


def token(endpoint: str | None) -> str | None:
    """The user's token for the Hub (HF_TOKEN, or the file of the Hub's client), if there is one.

    It is for the Hub alone, or the host that HF_ENDPOINT names in its place: None for any other
    endpoint, such as a mirror of params.yaml, and for a connection that others can read along.
    BenchError if it has characters that no header may hold; the message does not show it.
    """
    from huggingface_hub import constants, get_token

    own = urlsplit(os.environ.get("HF_ENDPOINT") or _HUB)
    asked = urlsplit(endpoint or os.environ.get("HF_ENDPOINT") or _HUB)
    if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN or asked[:2] != own[:2] or not _private(asked):
        return None
    key = get_token()
    if key and not re.fullmatch(r"[!-~]+", key):
        raise BenchError(
            "the token for the Hub (HF_TOKEN, or the file of `hf auth login`) has a character that "
            "no token has: copy it anew"
        )
    return key


def _private(address: SplitResult) -> bool:
    """Whether nobody reads along: HTTPS, or this machine itself."""
    if address.scheme == "https" or address.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.hostname or "").is_loopback
    except ValueError:
        return False


def download(
    repo: str,
    commit: str,
    name: str,
    part: Path,
    *,
    size: int | None,
    endpoint: str | None,
    progress: bool,
) -> None:
    """Bring the whole of a file into `part`, which may hold its beginning already.

    Nothing is trusted here: the caller checks the digest. BenchError when the connection breaks
    at every try or the Hub refuses; `part` keeps what came, in
    the client's blocks of 10 MB, for the next run.
    """
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get

    url = hf_hub_url(repo, name, repo_type="dataset", revision=commit, endpoint=endpoint)

    def once(key: str | None) -> None:
        start = part.stat().st_size if part.exists() else 0
        if size is not None and start > size:
            start = 0
        with part.open("r+b" if part.exists() else "wb") as stream:
            stream.truncate(start)
            stream.seek(start)
            # Bytes as they lie on the server: a compressed transfer could not be continued.
            headers = {"Accept-Encoding": "identity"}
            if key:  # a redirect to another host leaves it out
                headers["Authorization"] = f"Bearer {key}"
            http_get(
                url, stream, resume_size=start, headers=headers,
                expected_size=size, displayed_filename=name, tqdm_class=_bar(progress),
            )  # fmt: skip

    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        _explained(once, f"{repo}/{name}", endpoint)
    except UnreachableError as error:
        have = part.stat().st_size if part.exists() else 0
        raise UnreachableError(
            f"{error} {have} bytes are kept; run again to go on from there."
        ) from None


def _bar(progress: bool) -> Any:
    """A progress bar in bytes, also where the Hub client's own ones are switched off."""
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            options.pop("name", None)
            super().__init__(*arguments, **options | {"disable": not progress, "mininterval": 1.0})

    return Bar


def _explained(action: Callable[[str | None], T], what: str, endpoint: str | None) -> T:
    """`action(token)`, patiently; the client's errors in this project's words."""
    import httpx2
    from huggingface_hub import errors

    host = urlsplit(endpoint or _HUB).hostname or ""
    key = token(endpoint)
    try:
        return _with_token(action, key)
    except errors.OfflineModeIsEnabled:
        raise UnreachableError(
            f"{what} is not in the cache and HF_HUB_OFFLINE forbids to ask for it: unset it, or "
            "name a folder that has the files as `mirror` in params.yaml."
        ) from None
    except errors.GatedRepoError:
        raise BenchError(
            f"{what}: {host} asks for a login. Accept the set's terms on its page, and put your "
            f"token into HF_TOKEN{' (the one that was sent has no access)' if key else ''}"
        ) from None
    except errors.RevisionNotFoundError:
        raise BenchError(f"{what}: {host} has the repository but not this revision") from None
    except _NO_ANSWER as error:
        raise BenchError(
            f"{what}: {host} answers with something else than the Hub does "
            f"({type(error).__name__}: {str(error)[:200]}); a proxy or a login page may stand "
            "between: name another endpoint in HF_ENDPOINT or a `mirror` in params.yaml"
        ) from None
    except (httpx2.HTTPError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # this machine's disk
            raise
        raise _failure(error, what, host, key) from None


def _failure(error: Exception, what: str, host: str, key: str | None) -> BenchError:
    """An answer that says no, or none at all, under the name of the host that gave it."""
    status, other = _status(error), _asked_host(error)
    said = f"answers {status}" if status else f"cannot be reached ({type(error).__name__})"
    if other and other != host:
        return UnreachableError(
            f"{what}: {host} has it, but sends to {other} for the bytes, which {said}. A firewall "
            f"may let the one pass and not the other: allow {other}, or name a `mirror` in "
            "params.yaml."
        )
    if status in _NOT_THERE:
        sent = "the token that was sent may have no access" if key else "no token was sent"
        return BenchError(
            f"{what}: {host} answers {status}. The Hub says 401 to a repository that was "
            f"renamed, removed or never there as well as to a private one ({sent}): look the set "
            "up under its new name, or name a `mirror` that keeps it in params.yaml"
        )
    if status is not None and status < 500 and status != 429:
        return BenchError(f"{what}: {host} {said}")
    return UnreachableError(
        f"{what}: {host} {said}. Check the connection and run again, or name another endpoint "
        "in HF_ENDPOINT or a `mirror` in params.yaml."
    )


def _asked_host(error: Exception) -> str | None:
    """The host that a failed request went to in the end, after redirects; None if unsaid."""
    for said in (getattr(error, "response", None), error):
        try:
            return str(said.request.url.host)  # type: ignore[union-attr]
        except (AttributeError, RuntimeError):  # httpx's words for an error without a request
            continue
    return None


def _with_token(action: Callable[[str | None], T], key: str | None) -> T:
    """With the token; where that is refused, without: an old one closes nothing that is public."""
    import httpx2

    if key:
        try:
            return _patiently(lambda: action(key))
        except (httpx2.HTTPError, OSError) as error:
            if _status(error) != 401:
                raise
    return _patiently(lambda: action(None))


def _patiently(action: Callable[[], T]) -> T:
    """`action()`, tried again after a broken connection, a short file or a busy server."""
    import httpx2
    from huggingface_hub import errors

    for delay in connection.DELAYS:
        try:
            return action()
        except errors.OfflineModeIsEnabled:
            raise
        except (httpx2.HTTPError, OSError) as error:
            status, local = _status(error), isinstance(error, OSError) and error.errno is not None
            if local or (status is not None and status < 500 and status != 429):
                raise
            time.sleep(max(delay, _asked_wait(error)))
    return action()


def _status(error: BaseException) -> int | None:
    return getattr(getattr(error, "response", None), "status_code", None)


def _asked_wait(error: BaseException) -> float:
    """Seconds that the answer asks for: Retry-After as a number, or the window of RateLimit."""
    from huggingface_hub.utils._http import parse_ratelimit_headers

    headers = getattr(getattr(error, "response", None), "headers", {})
    value, wait = headers.get("Retry-After", ""), 0.0
    # Not isdigit() alone: "²" is a digit, and no number.
    if value.isascii() and value.isdigit():
        wait = float(value)
    if (limit := parse_ratelimit_headers(headers)) and limit.remaining == 0:
        wait = max(wait, limit.reset_in_seconds + 1.0)  # it is rounded down
    return min(wait, _LONGEST_WAIT)
