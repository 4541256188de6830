"""Downloading one file: streamed, with progress, going on where a broken connection stopped."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sagebench.corpora.connection import with_retries
from sagebench.errors import BenchError

if TYPE_CHECKING:
    from tqdm import tqdm
    from unearth import Link
    from unearth.fetchers.sync import PyPIClient


def download(link: "Link", part: Path, session: "PyPIClient", progress: bool = True) -> None:
    """Bring the whole of `link` into `part`, which may hold its beginning already.

    Nothing is trusted here: the caller checks the sha256. BenchError when the connection breaks
    at every try, or the server refuses; `part` keeps what came for the next run.
    """
    import httpx2
    from tqdm import tqdm

    bar = tqdm(desc=link.filename, unit="B", unit_scale=True, disable=not progress, mininterval=1.0)
    with bar:
        try:
            with_retries(lambda: _continue(link, part, session, bar))
        except httpx2.HTTPError as error:
            size = part.stat().st_size if part.exists() else 0
            raise BenchError(
                f"the download of {link.redacted} broke off after {size} bytes "
                f"({type(error).__name__}: {error}); run again to go on from there"
            ) from None


def _continue(link: "Link", part: Path, session: "PyPIClient", bar: "tqdm") -> None:
    """One try: ask for what is missing and append it."""
    start = part.stat().st_size if part.exists() else 0
    # Bytes as they lie on the server: a compressed transfer could not be continued.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    with session.get_stream(link.url_without_fragment, headers=headers) as response:
        if response.status_code == 416:  # nothing beyond `start`: complete, or another file
            return
        if response.status_code >= 400:
            raise BenchError(
                f"{link.redacted} cannot be downloaded: the server answers "
                f"{response.status_code} {response.reason_phrase}"
            )
        resumed = re.match(rf"bytes {start}-", response.headers.get("Content-Range", ""))
        if not resumed or response.status_code != 206:
            start = 0
        bar.total = start + int(response.headers.get("Content-Length", 0)) or None
        bar.update(start - bar.n)
        with part.open("r+b" if start else "wb") as stream:
            stream.seek(start)
            # Pieces as they come: gathering them into blocks loses the last one when it breaks.
            for block in response.iter_raw():
                stream.write(block)
                bar.update(len(block))
