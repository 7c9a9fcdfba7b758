"""The aggregator over HTTP, as the recommender speaks to it.

Both messages may be sent any number of times: opening twice is opening once, and closing
twice reveals the same sum twice. So the recommender asks until it is answered, and a restart
of either server in between changes nothing.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple

from tacit.errors import Failure
from tacit.federation.protocol.http import SHORT, Answer, Web
from tacit.federation.protocol.keys import Identity, enrolment_of, tickets_of, verify
from tacit.federation.protocol.wire import Closing, Opening, pack

ANSWER_SECONDS = 60.0
"""For the aggregator's work, beside what it was told to wait."""
FIRST_PAUSE = 0.05
LAST_PAUSE = 2.0
"""Seconds between tries: twice as long each time, up to this."""
PASSING = (408, 425, 429)
"""Refusals that say nothing about the message: it came slowly, or too much came at once."""
SUM_BYTES = 1 << 30
"""Of a sum, or of all reports of a round."""
UPGRADE = 426
"""The status of another version of the protocol."""


class _Reply(NamedTuple):
    """The aggregator's answer; status 0 where it is not signed."""

    status: int
    body: bytes


class RemoteAggregator:
    """The other server; its answers are believed only with its pinned signature. Patient
    with restarts."""

    def __init__(
        self, url: str, pin: str, identity: Identity, ca: str | None = None, insecure: bool = False
    ) -> None:
        self.url = url.rstrip("/")
        self.pin = bytes.fromhex(pin)
        self.identity = identity
        self._web = Web(ca, seconds=None, insecure=insecure)

    async def open(self, opening: Opening) -> None:
        """Open an attempt at a round."""
        reply = await self._send("/v1/open", pack(opening))
        if reply.status != 200:
            why = f"status {reply.status}"
            if reply.status == UPGRADE:
                why = "it speaks another version of the protocol"
            raise Failure(f"the aggregator refused to open a round ({why})")

    async def close(self, closing: Closing) -> bytes | None:
        """The sum, or None if the attempt was given up."""
        reply = await self._send("/v1/close", pack(closing), closing.wait, SUM_BYTES)
        if reply.status not in (200, 409):
            raise Failure(f"the aggregator refused to close a round (status {reply.status})")
        return reply.body if reply.status == 200 else None

    async def _send(
        self, path: str, body: bytes, wait: float = 0.0, max_bytes: int = SHORT
    ) -> _Reply:
        """Ask until there is an answer; `wait` is how long the aggregator may take beside
        its work."""
        pause = FIRST_PAUSE
        while (answer := await self._once(path, body, wait, max_bytes)) is None:
            await asyncio.sleep(pause)
            pause = min(LAST_PAUSE, pause * 2)
        signature = answer.headers.get("tacit-signature", "")
        is_signed_status = answer.status in (200, 409)
        if is_signed_status and verify(self.pin, signature, b"answer", body, answer.body):
            return _Reply(answer.status, answer.body)
        if answer.status == 200:
            raise Failure("the aggregator's answer is not signed by its pinned identity")
        return _Reply(0 if is_signed_status else answer.status, b"")

    async def _once(self, path: str, body: bytes, wait: float, max_bytes: int) -> Answer | None:
        """The answer, or None if none came in time or the aggregator has a fault that may
        pass, such as a store that is away."""
        signature = self.identity.sign(b"POST", path.encode(), body)
        try:
            async with asyncio.timeout(wait + ANSWER_SECONDS):
                signed = {"tacit-signature": signature}
                answer = await self._web.post(self.url, path, body, signed, max_bytes)
        except OSError:
            return None
        passing = answer.status >= 500 or answer.status in PASSING
        return None if passing else answer

    async def enrolment(self) -> str:
        """How it says that it enrols devices; empty if it cannot be asked now."""
        card = await self._card()
        return "" if card is None else enrolment_of(card, self.pin)

    async def tickets(self) -> bytes:
        """Its key for join tickets, asked for until it answers."""
        pause = FIRST_PAUSE
        while (card := await self._card()) is None:
            await asyncio.sleep(pause)
            pause = min(LAST_PAUSE, pause * 2)
        ticket_key = tickets_of(card, self.pin)
        if ticket_key is None:
            raise Failure(
                "the aggregator's key for tickets is not signed by its pinned identity",
                remedy="see that both servers run one version of Tacit",
            )
        return ticket_key

    async def _card(self) -> dict[str, Any] | None:
        """What it shows the world, unchecked; None if it cannot be asked now."""
        try:
            answer = await self._web.get(self.url, "/v1/keys")
            card = json.loads(answer.body)
        except (OSError, ValueError, RecursionError):
            return None
        fine = answer.status == 200 and isinstance(card, dict)
        return card if fine else None

    async def stop(self) -> None:
        """End the connections."""
        await self._web.close()
