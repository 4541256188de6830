"""One server asked over HTTP: patient when it is busy, and never a key in what is said."""

import email.utils
import os
import threading
import time
from typing import TYPE_CHECKING, Any

from sagebench.errors import BenchError

if TYPE_CHECKING:
    import httpx2

DELAYS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)  # seconds before each further try
LONGEST = 900.0  # seconds that a server may ask us to wait
_BUSY = {408, 409, 425, 429, 500, 502, 503, 504, 529}
_REFUSED = {400, 413, 422, 424}  # the request is at fault; a smaller one may not be
_NO_ENTRY = {401, 403, 498}
_NO_MONEY = ("insufficient_quota", "billing", "credit")


class RefusedError(Exception):
    """The server does not take this request as it is; the text says why."""


def find_key(name: str, variables: tuple[str, ...]) -> str | None:
    """The key in the first of the environment variables that is set; None if none is needed.

    BenchError if all are empty or the value cannot be a key; its text never holds the value.
    """
    if not variables:
        return None
    for variable in variables:
        if value := os.environ.get(variable, "").strip():
            if not (value.isascii() and value.isprintable() and " " not in value):
                raise BenchError(
                    f"model {name!r}: the value of {variable} has characters that no key has; "
                    "set it again, without quotes or line breaks"
                )
            return value
    raise BenchError(
        f"model {name!r} needs a key in the environment variable {' or '.join(variables)}; "
        "`export` it in the shell that starts the run (never in params.yaml)"
    )


class Server:
    """POSTs JSON to one base URL, from several threads. All of them wait when one is told to."""

    def __init__(
        self, name: str, url: str, headers: dict[str, str], key: str | None, timeout: float
    ) -> None:
        import httpx2

        self._name, self._url, self._key = name, url.rstrip("/"), key
        # Redirects are not followed: they could carry the key elsewhere.
        self._client = httpx2.Client(headers=headers, timeout=timeout)
        self._not_before, self._lock = 0.0, threading.Lock()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """The answer's JSON.

        RefusedError if the request is at fault. BenchError if the server refuses the key, has no
        such model, wants us to wait for longer than LONGEST, or stays busy or away at every try.
        """
        import httpx2

        problem = ""
        for delay in (*DELAYS, None):
            self._wait()
            try:
                response = self._client.post(self._url + path, json=body)
                answer = self._answer(response)
            except (httpx2.TransportError, httpx2.DecodingError) as error:
                problem, asked = type(error).__name__, None
            else:
                if not isinstance(answer, _Busy):
                    return answer
                problem, asked = answer.problem, answer.wait
            if asked is not None and asked > LONGEST:
                raise BenchError(
                    f"model {self._name!r}: {self._url} asks to wait {asked:.0f} s ({problem}). "
                    "Run again later: what has come so far is kept and not asked for again"
                )
            if delay is not None:
                self._hold(delay if asked is None else asked)
        raise BenchError(
            f"model {self._name!r}: {self._url} did not answer at {len(DELAYS) + 1} tries "
            f"({problem}). Run again: what has come so far is kept and not asked for again"
        )

    def _answer(self, response: "httpx2.Response") -> Any:
        """The JSON, or a _Busy; RefusedError and BenchError as in `post`."""
        status = response.status_code
        if status == 200:
            try:
                return response.json()
            except (ValueError, RecursionError):
                return _Busy("the answer is not JSON", None)
        said = self._said(response)
        where = f"model {self._name!r}: {self._url} answers {status}"
        if status in _NO_ENTRY:  # its text may repeat the key
            raise BenchError(f"{where}: it does not accept the key, or not for this model")
        if status == 402 or (status == 429 and any(word in said.lower() for word in _NO_MONEY)):
            raise BenchError(f"{where}: the account has no credit left ({said})")
        if status in _BUSY:
            return _Busy(f"{status} {said}".strip(), _retry_after(response.headers))
        if status in _REFUSED:
            raise RefusedError(f"{status} {said}".strip())
        raise BenchError(f"{where}: {said or 'no reason given'}. Check `model` and `base_url`")

    def _said(self, response: "httpx2.Response") -> str:
        """What the server says in its error, on one line, without the key."""
        try:
            found = response.json()
        except (ValueError, RecursionError):
            found = response.text
        if isinstance(found, list) and found:
            found = found[0]
        for field in ("error", "message", "detail"):
            if isinstance(found, dict) and found.get(field):
                code = found.get("code")
                found = found[field]
                if code and not isinstance(found, dict):
                    found = f"{code}: {found}"
        if isinstance(found, dict):
            found = " ".join(str(found[k]) for k in ("code", "status", "type") if found.get(k))
        text = " ".join(str(found).split())
        if self._key:
            text = text.replace(self._key, "***")
        return text[:300]

    def _hold(self, seconds: float) -> None:
        with self._lock:
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def _wait(self) -> None:
        while (left := self._not_before - time.monotonic()) > 0:
            time.sleep(left)


class _Busy:
    """Come back later: in `wait` seconds if the server said so."""

    def __init__(self, problem: str, wait: float | None) -> None:
        self.problem, self.wait = problem, wait


def _retry_after(headers: Any) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (number or date); None: unsaid."""
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        pass
    value = headers.get("Retry-After")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):  # also a year that no clock of this machine has
        return None
