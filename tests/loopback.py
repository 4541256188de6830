"""Servers on loopback: how each of them is run and ended."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Silent(BaseHTTPRequestHandler):
    """Writes no log lines."""

    def log_message(self, *args: object) -> None:
        pass


def address(server: ThreadingHTTPServer) -> str:
    """http://127.0.0.1:<port>"""
    return f"http://127.0.0.1:{server.server_address[1]}"


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[None]:
    """The server answers until the block ends; then its port refuses connections."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
