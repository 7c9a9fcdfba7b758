"""Connections that say nothing are ended, and there are never too many of them.

uvicorn waits for ever for the rest of a header. Here a request's header has some seconds to
arrive whole, on a new connection or on one that was kept. When there are too many
connections the one that has been silent for longest makes place, so that those who hold
connections open without a request keep nobody out.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_SECONDS = 10.0
"""For the header of a request to arrive."""
MOST_CONNECTIONS = 16_384
"""Open at a time, where the system lets a process have that many files."""
OWN_FILES = 128
"""That a server needs for itself: its stores, logs, listening sockets, one too many."""


def make_room() -> None:
    """Ask for as many files as all connections need; most systems give few unasked."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + OWN_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_connections() -> int:
    """Open at a time, so that another one can always be accepted."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(1, min(MOST_CONNECTIONS, files - OWN_FILES))


_silent: dict[Patience, None] = {}
"""Connections without a whole header of a request, the longest silent first."""


class Patience(HttpToolsProtocol):
    """uvicorn's protocol with an end to its patience."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A new connection: its first header has to come soon."""
        super().connection_made(transport)
        if len(self.connections) > most_connections() and _silent:
            next(iter(_silent)).hang_up()
        self._be_silent()
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Some bytes: if they begin a request, the rest of its header has to come soon."""
        if self in _silent and self._timer is None:
            self._expect()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """The header is whole."""
        self._forget()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Between two requests; how long that may take is uvicorn's own setting."""
        if not self.transport.is_closing():
            self._be_silent()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection ended."""
        self._forget()
        super().connection_lost(exc)

    def hang_up(self) -> None:
        """End the connection, without a word."""
        self._forget()
        self.transport.abort()

    def _expect(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(HEADER_SECONDS, self.hang_up)

    def _be_silent(self) -> None:
        _silent[self] = None

    def _forget(self) -> None:
        _silent.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
