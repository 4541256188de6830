"""Talking to the Hub through its own client library: patience, plain words, resumed downloads."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from sagebench.corpora import connection
from sagebench.errors import BenchError

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo

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
    No token is sent: every set of the catalogue is public.
    """
    from huggingface_hub import HfApi

    api = HfApi(endpoint=endpoint, token=False)
    return _explained(
        lambda: api.dataset_info(repo, revision=revision, files_metadata=True),
        f"{repo} at {revision}",
        endpoint,
    )


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

    def once() -> None:
        start = part.stat().st_size if part.exists() else 0
        if size is not None and start > size:
            start = 0
        with part.open("r+b" if part.exists() else "wb") as stream:
            stream.truncate(start)
            stream.seek(start)
            # Bytes as they lie on the server: a compressed transfer could not be continued.
            http_get(
                url, stream, resume_size=start, headers={"Accept-Encoding": "identity"},
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


def _explained(action: Callable[[], T], what: str, endpoint: str | None) -> T:
    """`action()`, patiently; the client's errors in this project's words."""
    import httpx2
    from huggingface_hub import errors

    host = urlsplit(endpoint or "https://huggingface.co").hostname
    try:
        return _patiently(action)
    except errors.OfflineModeIsEnabled:
        raise UnreachableError(
            f"{what} is not in the cache and HF_HUB_OFFLINE forbids to ask for it: unset it, or "
            "name a folder that has the files as `mirror` in params.yaml."
        ) from None
    except errors.GatedRepoError:
        raise BenchError(
            f"{what}: {host} asks for a login, which this project never sends"
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
        status = _status(error)
        if status in _NOT_THERE:
            raise BenchError(
                f"{what}: {host} answers {status}. The Hub says 401 to a repository that was "
                "renamed, removed or never there as well as to a private one: look the set up "
                "under its new name, or name a `mirror` that keeps it in params.yaml"
            ) from None
        if status is not None and status < 500 and status != 429:
            raise BenchError(f"{what}: {host} answers {status}") from None
        said = f"answers {status}" if status else f"cannot be reached ({type(error).__name__})"
        raise UnreachableError(
            f"{what}: {host} {said}. Check the connection and run again, or name another endpoint "
            "in HF_ENDPOINT or a `mirror` in params.yaml."
        ) from None


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
    """Seconds in the answer's Retry-After, if it gives a number."""
    value = getattr(getattr(error, "response", None), "headers", {}).get("Retry-After", "")
    # Not isdigit() alone: "²" is a digit, and no number.
    return min(float(value), _LONGEST_WAIT) if value.isascii() and value.isdigit() else 0.0
