"""The one gate of all servers: connections are accepted here and counted before anything else.

A connection costs a socket and no more until its first byte has come; TLS begins then. What
happens on it has the one deadline that began when it was accepted (`lines.HEADER_SECONDS`).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE

from tacit.serving.http import lines
from tacit.serving.http.crowd import ConnectionCrowd, Seat

AT_ONCE = 32
"""Connections that are accepted before others get the processor."""
PAUSE = 0.1
"""Seconds without another try, where the system has no file left."""
Protocol = Callable[[Seat], asyncio.Protocol]


class Door:
    """One listening socket, with what uvicorn asks of a server of asyncio."""

    def __init__(
        self,
        sock: socket.socket,
        crowd: ConnectionCrowd,
        make: Protocol,
        context: ssl.SSLContext | None,
    ) -> None:
        self.sockets = (sock,)
        self._sock, self._crowd = sock, crowd
        self._make, self._context = make, context
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._silent: dict[Seat, socket.socket] = {}
        """Of which no byte has come."""
        self._tasks = set[asyncio.Task[None]]()

    def open(self, backlog: int) -> None:
        """Begin to accept."""
        self._sock.setblocking(False)
        self._sock.listen(backlog)
        self._loop.add_reader(self._sock, self._come)

    def close(self) -> None:
        """Accept no more, and end what has not begun."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._sock)
            for seat in list(self._silent):
                seat.hang_up()
            for task in self._tasks:
                task.cancel()

    async def wait_closed(self) -> None:
        """Nothing is left to wait for."""

    def _come(self) -> None:
        for _ in range(AT_ONCE):
            try:
                sock, address = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionError):
                return
            except OSError:
                # No file is left, which budgets should not let happen.
                self._crowd.make_place()
                self._loop.remove_reader(self._sock)
                self._loop.call_later(PAUSE, self._resume_listening)
                return
            seat = self._crowd.enter(str(address[0]))
            if seat is None:
                sock.close()
            else:
                self._take(seat, sock)

    def _resume_listening(self) -> None:
        if self._open:
            self._loop.add_reader(self._sock, self._come)

    def _take(self, seat: Seat, sock: socket.socket) -> None:
        """A place is taken; the first byte has to come."""
        sock.setblocking(False)
        self._silent[seat] = sock
        seat.end = partial(self._drop, seat)
        seat.expect(lines.HEADER_SECONDS)
        self._loop.add_reader(sock, self._begin_task, seat)

    def _drop(self, seat: Seat) -> None:
        sock = self._silent.pop(seat)
        self._loop.remove_reader(sock)
        sock.close()

    def _begin_task(self, seat: Seat) -> None:
        """The first byte is there, or the peer has gone."""
        sock = self._silent[seat]
        try:
            first = sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            first = b""
        if not first:
            seat.hang_up()
            return
        del self._silent[seat]
        self._loop.remove_reader(sock)
        seat.end = partial(_shut, sock)
        seat.speak()
        task = self._loop.create_task(self._serve(seat, sock))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, seat: Seat, sock: socket.socket) -> None:
        """TLS, where it is spoken, and then HTTP."""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # The deadline of the place is the earlier one.
        patience = None if self._context is None else lines.HEADER_SECONDS
        try:
            await self._loop.connect_accepted_socket(
                lambda: self._make(seat),
                sock,
                ssl=self._context,
                ssl_handshake_timeout=patience,
            )
        except OSError:  # of TLS, and of the deadline
            seat.leave()
            sock.close()
        except asyncio.CancelledError:
            seat.leave()
            sock.close()
            raise


def _shut(sock: socket.socket) -> None:
    """Whoever reads from it finds its end."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class CountedServer(uvicorn.Server):
    """uvicorn behind doors. Servers of one process share a crowd, as they share its files."""

    def __init__(self, config: uvicorn.Config, crowd: ConnectionCrowd) -> None:
        super().__init__(config)
        self.crowd = crowd

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does, with doors in place of servers of asyncio."""
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            sys.exit(STARTUP_FAILURE)
        doors = [
            Door(listener, self.crowd, self._protocol, self.config.ssl)
            for listener in sockets or ()
        ]
        for door in doors:
            door.open(self.config.backlog)
        servers: Any = doors
        self.servers = servers
        self.started = True

    def _protocol(self, seat: Seat) -> asyncio.Protocol:
        return lines.Guarded(
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
            seat=seat,
        )
