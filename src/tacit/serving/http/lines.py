"""One connection over HTTP: its headers are short and come soon, and its answers are read.

uvicorn waits for ever for the rest of a header, for the rest of a body that nobody reads, and
for a peer that does not read, and it keeps every request that waits for those before it and every
trailer of a body. Here each of them has an end.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tacit.serving.http.crowd import Seat

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
