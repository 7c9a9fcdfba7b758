"""The one gate of all servers: connections are accepted here and counted before anything else.

A connection costs a socket and no more until its first byte has come; TLS begins then. What
happens on it has the one deadline that began when it was accepted (`lines.HEADER_SECONDS`).
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tacit.serving.http.crowd import ConnectionCrowd, Seat

AT_ONCE = 32
"""Connections that are accepted before others get the processor."""
PAUSE = 0.1
"""Seconds without another try, where the system has no file left."""
Protocol = Callable[[Seat], asyncio.Protocol]
HEADER_SECONDS = 10.0
"""From `accept` to the end of the first header, TLS included; later for each header, and for the
rest of a body after its answer."""
HEADER_BYTES = 16 << 10
"""Of a header; and of all that comes around a body: trailers, and what is said of chunks."""
CHUNK_BYTES = 7
"""Around a chunk of up to 4 KB, which count as its body."""
MOST_QUEUED = 16
"""Requests of one connection that wait for those before them. After these it is closed, and who
has no answer to a later one asks again."""
WRITE_SECONDS = 20.0
"""In which a peer has to read some of an answer."""
WRITE_BYTES = 16 << 10
"""How much of it, unless it is all: 0.8 KB a second."""
BUFFER = 64 << 10
"""Bytes of an answer that wait for its peer; the rest is made when it has read them."""


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
        seat.expect(HEADER_SECONDS)
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
        patience = None if self._context is None else HEADER_SECONDS
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
        return Guarded(
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
            seat=seat,
        )


# One connection over HTTP: its headers are short and come soon, and its answers are read.
#
# uvicorn waits for ever for the rest of a header, for the rest of a body that nobody reads, and
# for a peer that does not read, and it keeps every request that waits for those before it and every
# trailer of a body. Here each of them has an end.


class Guarded(HttpToolsProtocol):
    """uvicorn's protocol with an end to its patience. See the module."""

    def __init__(self, *args: Any, seat: Seat, **options: Any) -> None:
        super().__init__(*args, **options)
        self.seat = seat
        self._head = 0
        self._reading = True
        """Whether a header is on its way, or may be."""
        self._ended = False
        """Whether a message ended in the bytes that came last."""
        self._begun = False
        """Whether a header ended in them."""
        self._around = 0
        """Bytes that came around the present body."""
        self._refused = False
        self._looks: asyncio.TimerHandle | None = None
        self._left = 0
        self._drained = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The deadline of the first header runs since `accept`."""
        super().connection_made(transport)
        self.seat.end = transport.abort
        transport.set_write_buffer_limits(high=BUFFER)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is due any more."""
        self.seat.leave()
        if self._looks is not None:
            self._looks.cancel()
        super().connection_lost(exc)

    # ---------------------------------------------------------------- what the peer sends

    def data_received(self, data: bytes) -> None:
        """Counts what comes before a request's header is complete."""
        if self._refused:
            return
        if self._reading:
            self.seat.expect(HEADER_SECONDS)
        self._ended = self._begun = False
        super().data_received(data)
        if self._is_refused():
            return
        if self._reading and not self._ended:  # else these bytes were a message, for the most part
            self._head += len(data)
            if self._head > HEADER_BYTES:
                self._refuse()
        elif not self._reading and not self._begun:
            self._around += len(data)
            if self._around > HEADER_BYTES:
                self._refused = True
                self.seat.hang_up()

    def _is_refused(self) -> bool:
        """What parsing may have changed."""
        return self._refused

    def on_header(self, name: bytes, value: bytes) -> None:
        """Not a trailer, which nobody asks for."""
        if self._reading:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Within their limits, or refused."""
        self.seat.relax()
        self._head = self._around = 0
        self._reading, self._begun = False, True
        if len(self.pipeline) >= MOST_QUEUED:
            self._refused = True
            self.cycle.keep_alive = False
            return
        if not self.transport.get_write_buffer_size():
            self._drained = True
        lines = sum(len(name) + len(value) + len(b": \r\n") for name, value in self.headers)
        size = len(self.url) + lines
        if self._refused or size > HEADER_BYTES:
            self._refuse()
            return
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """What follows is the header of the next request."""
        self._reading = self._ended = True
        if not self._refused:
            super().on_message_complete()
            self.seat.relax()
            self._work()

    def on_chunk_header(self) -> None:
        """Its size is no more than it needs."""
        self._around -= CHUNK_BYTES

    def on_body(self, body: bytes) -> None:
        """Not of a request that was refused."""
        self._around -= 0 if self._begun else len(body)
        if not self._refused:
            super().on_body(body)

    def _work(self) -> None:
        """From here on it is the server's turn, unless it has answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.seat.work()

    def _refuse(self) -> None:
        """431, and no more of this connection."""
        self.seat.relax()
        self._refused = True
        if not self.transport.is_closing():
            body = b"the headers are too long\n"
            head = (
                b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
                b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
                b"content-length: %d\r\n\r\n" % len(body)
            )
            self.transport.write(head + body)
            self.transport.close()
            self._watch()

    # ---------------------------------------------------------------- what the peer reads

    def on_response_complete(self) -> None:
        """The answer has to be read, and what is left of the request has to come. How long it
        may be to the next one is uvicorn's own setting."""
        if not self.pipeline:
            self.seat.wait()
            if not self._reading:
                self.seat.expect(HEADER_SECONDS)
        self._watch()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The peer does not read as fast as the server writes."""
        super().pause_writing()
        self.seat.wait()
        self._watch()

    def resume_writing(self) -> None:
        """The peer has read."""
        super().resume_writing()
        self._drained = True
        if self._reading:
            self._work()

    def _watch(self) -> None:
        """See after a while whether the peer has read."""
        if self._looks is None:
            self._left, self._drained = self.transport.get_write_buffer_size(), False
            self._looks = self.loop.call_later(WRITE_SECONDS, self._look)

    def _look(self) -> None:
        self._looks = None
        unsent_bytes = self.transport.get_write_buffer_size()
        if unsent_bytes and not self._drained and unsent_bytes > self._left - WRITE_BYTES:
            self.seat.hang_up()
        elif unsent_bytes:
            self._watch()


# A server that was told to stop and did so has not failed.


def end_well() -> None:
    """Let SIGTERM end this process with status 0. uvicorn puts it off until requests have ended,
    and raises it again then: the system's own answer would be a status of failure."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _end)


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
