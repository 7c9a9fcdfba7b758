"""The aggregator: keeps masked contributions, sums who arrived, reveals one sum per round
and never a small one.

Guarantee (with a recommender that does not collude): it holds masked words only, which look
uniform to it, and reveals what `tacit.federation.server.uploads` says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI

from tacit.federation.protocol.keys import Identity, is_ticket
from tacit.federation.protocol.wire import (
    Closing,
    Opening,
    Upload,
    WireError,
    layouts_print,
    payload_size,
    sections,
    unpack,
)
from tacit.federation.server.enrolment import Terms
from tacit.federation.server.gate import Gate
from tacit.federation.server.store import Refusal, ServerStore
from tacit.federation.server.uploads import MIGRATIONS, Key, Uploads
from tacit.serving.http.limits import Limits
from tacit.serving.http.plain import Call, PlainRoutes, Reply
from tacit.serving.http.watch import log

POLL = 0.5
"""Seconds between looks at the store, for uploads that came through another process."""
SERVER_BODY = 1 << 20
"""Bytes of the longest message of the recommender: layouts, and no payload."""
MOST_OPEN = 64
"""Rounds that a process remembers; the store knows them all."""


@dataclass
class _OpenRound:
    """What this process knows of an open round; the store is the truth."""

    opening: Opening
    agreed: str
    tickets: bytes | None
    """The key of its join tickets; nobody can have one where an older version opened it."""
    here: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    wanted: int = 1 << 60


def aggregator_app(
    location: str,
    identity: Identity,
    recommender: str,
    limits: Limits | None = None,
    terms: Terms | None = None,
    least: int = 2,
) -> PlainRoutes:
    """The app. `recommender` is the pinned identity of the one server that may open rounds;
    `least` is this server's own minimum cohort, whatever a recommender asks for."""
    store = ServerStore(location, MIGRATIONS, "aggregator")
    gate = Gate("aggregator", identity, store, limits or Limits(), terms)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        log("aggregator ready")
        yield
        log("aggregator stops")
        store.close()

    app = gate.app(lifespan=lifespan)
    handler = _Handler(gate, Uploads(store, least), bytes.fromhex(recommender))
    gate.route("/v1/open", handler.open)
    gate.route("/v1/upload", handler.upload)
    gate.route("/v1/close", handler.close)
    return app


class _UploadBeginning:
    """The beginning of an upload: what its header says, and the round that it is for. It is
    read once, before the rest, and the MAC on all of it is checked afterwards."""

    message: Upload
    key: Key
    known: _OpenRound
    start: int
    """Where the payload begins."""

    def __init__(self, handler: _Handler) -> None:
        self._handler = handler
        self.fine = False
        """Whether it was read, and belongs to a round."""

    async def fits(self, beginning: bytes, length: int) -> None:
        """Refuse an upload of another length than its round asks for, before it is read."""
        message, remaining = unpack(Upload, beginning)
        self.message = message
        self.key = Key(message.task, message.round, message.attempt)
        self.known = await self._handler.open_round(self.key)
        self.start = len(beginning) - len(remaining)
        payload = payload_size(self.known.opening.parts, message.rows)
        if length != self.start + payload:
            raise WireError("an upload of a wrong length")
        self.fine = True


class _Handler:
    """The routes of the aggregator.

    Several processes may serve one store: what a process remembers of a round only saves it
    a look, and a wait looks at the store every `POLL` seconds.
    """

    def __init__(self, gate: Gate, uploads: Uploads, recommender: bytes) -> None:
        self.gate = gate
        self.uploads = uploads
        self.recommender = recommender
        self._rounds: dict[Key, _OpenRound] = {}

    async def open(self, request: Call) -> Reply:
        """A round begins: from here on its uploads are taken. A least cohort below this
        server's own is refused, whoever asks."""
        body = await self.gate.body(request, SERVER_BODY)
        self.gate.signed(request, body, self.recommender)
        opening, _ = unpack(Opening, body)
        least = self.uploads.least
        if opening.least < least:
            raise Refusal(403, f"this aggregator sums at least {least} devices")
        if self._ticket_key(opening) is None:
            raise Refusal(400, "an opening with no key for join tickets")
        await self.uploads.open(opening, body)
        log("round opened", round=opening.round, attempt=opening.attempt)
        return self._answer(body, b"{}")

    async def upload(self, request: Call) -> Reply:
        """A masked contribution.

        The answer comes after it is durable. A device that has agreed to other sums, or to
        another least cohort, than the recommender has opened is turned away: its words would
        be listed, or summed in other lengths, against its will. So is one that did not join.
        Neither touches what others have sent.
        """
        beginning = _UploadBeginning(self)
        body, caller = await self.gate.receive(request, fits=beginning.fits)
        if not beginning.fine:  # shorter than it said
            raise WireError("an upload of a wrong length")
        message, open_round = beginning.message, beginning.known
        key = beginning.key
        payload = memoryview(body)[beginning.start :]
        # refuses a wrong length, and rows that are not in order
        sections(open_round.opening.parts, message.rows, payload)
        if message.layouts != open_round.agreed:
            raise Refusal(403, "the device agreed to other sums than the recommender has opened")
        if message.least != open_round.opening.least:
            raise Refusal(403, "the device was promised another least cohort than was opened")
        join_ticket, shared = message.ticket, open_round.tickets
        if not shared or not is_ticket(join_ticket, shared, *key, caller.device):
            raise Refusal(403, "the device did not join this attempt")
        if await self.uploads.keep(key, caller.device, message.least, body):
            self.gate.metrics.add("uploads")
            self.gate.metrics.observe("upload_bytes", len(body))
            open_round.here += 1
            if open_round.here >= open_round.wanted:
                open_round.news.set()
        return self.gate.reply(caller, b"{}")

    async def close(self, request: Call) -> Reply:
        """Wait for who is expected, then reveal the sum; or give the attempt up if too few
        came.

        Asked again it gives the same answer, so a recommender whose connection broke, or
        that was killed, asks again.
        """
        body = await self.gate.body(request, SERVER_BODY)
        self.gate.signed(request, body, self.recommender)
        closing, _ = unpack(Closing, body)
        key = Key(closing.task, closing.round, closing.attempt)
        open_round = await self.open_round(key)
        if not closing.give_up:
            await self._wait(open_round, key, closing)
        began = time.monotonic()
        revealed = await self.uploads.reveal(key, closing.give_up)
        self._rounds.pop(key, None)
        if revealed is None:
            log("attempt given up", round=key.round, attempt=key.attempt)
            return self._answer(body, b"{}", 409)
        size = len(revealed)
        self.gate.metrics.add("bytes_to_recommender", size)
        self.gate.metrics.observe("sum_bytes", size)
        self.gate.metrics.observe("sum_seconds", time.monotonic() - began)
        log("sum revealed", round=key.round, attempt=key.attempt, bytes=size)
        return self._answer(body, revealed)

    def _answer(self, request: bytes, payload: bytes, status: int = 200) -> Reply:
        signature = self.gate.identity.sign(b"answer", request, payload)
        return Reply(payload, status, tacit_signature=signature)

    async def open_round(self, key: Key) -> _OpenRound:
        """What this process knows of an attempt, from the store if it is new here."""
        if key not in self._rounds:
            opening = await self.uploads.opening(key)
            if len(self._rounds) > MOST_OPEN:
                self._rounds.clear()
            tickets = self._ticket_key(opening)
            self._rounds.setdefault(key, _OpenRound(opening, layouts_print(opening.parts), tickets))
        return self._rounds[key]

    def _ticket_key(self, opening: Opening) -> bytes | None:
        """The key of join tickets that this server shares with the recommender, if the
        opening names one that keeps a secret."""
        try:
            public = bytes.fromhex(opening.tickets)
            return self.gate.identity.ticket_key(public)
        except ValueError:
            return None

    async def _wait(self, open_round: _OpenRound, key: Key, closing: Closing) -> None:
        """Until all who are expected have answered, the time is up, or the attempt is over."""
        loop = asyncio.get_running_loop()
        until = loop.time() + closing.wait
        open_round.wanted = closing.expected
        while True:
            standing = await self.uploads.count(key)
            remaining = until - loop.time()
            if standing.arrived >= closing.expected or remaining <= 0 or not standing.is_open:
                return
            open_round.news.clear()
            try:
                await asyncio.wait_for(open_round.news.wait(), min(remaining, POLL))
            except TimeoutError:
                continue
