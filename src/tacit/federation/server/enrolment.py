"""How devices become known to a server, and take new keys.

Each server enrols on its own terms, with its own book: where both ask for tickets, whoever
runs one of them cannot invent devices at the other. Without tickets a federation starts
all the same, and its statement says that anybody may enrol.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import SettingError
from tacit.federation.protocol.keys import name_of, rotation_proof, same, shared_secrets
from tacit.federation.server.book import use_ticket
from tacit.federation.server.store import Refusal, Transaction
from tacit.serving.http.plain import Call, Reply

if TYPE_CHECKING:
    from tacit.federation.server.gate import Gate

KEY_BODY = 8192
"""Bytes of the longest message that brings a key, and evidence."""
MOST_EVIDENCE = 6000
"""Characters of what a device shows to the operator's own check."""
MOST_TICKET = 200
"""Characters of a ticket, whoever made it."""
SECONDS = 10.0
"""For the program to answer; silence is a no."""
AT_ONCE = 4
"""Programs that run at a time."""

# The operator's own question to a device that wants to enrol: a program that says yes or no.
#
# It gets one JSON object on its standard input (`role`, `device`, `public`, `evidence`: what
# the device sent, unread by Tacit) and answers with its exit status; 0 admits. So a check of a
# phone's platform, of an account or of a payment is a script of the operator's, in whatever
# language.


class Attest:
    """See the module. `command` is split as a shell would, and no shell runs it."""

    def __init__(self, command: str, seconds: float = SECONDS) -> None:
        self._words = shlex.split(command)
        if not self._words:
            raise SettingError("--attest is empty")
        self._seconds = seconds
        self._gate = asyncio.Semaphore(AT_ONCE)

    async def check(self, facts: Mapping[str, str]) -> None:
        """Refuse a device that the program does not admit."""
        async with self._gate:
            if not await self._admits(json.dumps(facts).encode()):
                raise Refusal(403, "the operator's check did not admit this device")

    async def _admits(self, message: bytes) -> bool:
        try:
            running = await asyncio.create_subprocess_exec(
                *self._words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError:
            raise Refusal(503, "the operator's check cannot be run") from None
        try:
            async with asyncio.timeout(self._seconds):
                await running.communicate(message)
        except TimeoutError:
            running.kill()
            await running.wait()
            return False
        return running.returncode == 0


@dataclass(frozen=True)
class Terms:
    """What a device needs to enrol at a server."""

    token: str | None = None
    """That all devices know."""
    tickets: bool = False
    """Whether it needs a one-time ticket of this server's own book."""
    attest: Attest | None = None
    """The operator's own check."""

    @property
    def trust_mode(self) -> str:
        """With which the server tells the world (`tacit.ledger.statement.statement`)."""
        if self.tickets:
            return "tickets"
        return "open" if self.token is None else "token"


@dataclass(frozen=True)
class _KeyMessage:
    """A message that brings a key."""

    public: bytes
    ticket: str = ""
    evidence: str = ""


class Enrolment:
    """The two messages that bring a key, at one gate."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.terms = gate.terms

    async def enrol(self, request: Call) -> Reply:
        """Make a device known. The same device again is fine, and needs no ticket again."""
        gate = self.gate
        body = await gate.body(request, KEY_BODY)
        gate.throttle("enrolment", gate.limits.enrol_rate)
        key_message = _read_key_message(body)
        public, device = key_message.public, request.headers.get("tacit-device", "")
        token = request.headers.get("tacit-token", "")
        if self.terms.token is not None and not same(self.terms.token, token):
            raise Refusal(403, "an enrolment token is needed")
        caller = gate.verified(request, body, device, public)
        if device != name_of(public) or caller is None:
            raise Refusal(401, "the key was not proven")
        if device in await gate.banned():
            raise Refusal(403, "this device was banned by the operator")
        if not await gate.is_known(device):
            await self._admit(device, key_message)
        return gate.reply(caller, b"{}")

    async def _admit(self, device: str, key_message: _KeyMessage) -> None:
        """A new device: the operator's check first, then the ticket and the device in one
        transaction."""
        gate = self.gate
        if len(gate.publics) >= gate.limits.devices:
            raise Refusal(503, "no more devices are taken")
        if self.terms.attest is not None:
            facts = {
                "role": gate.role,
                "device": device,
                "public": key_message.public.hex(),
                "evidence": key_message.evidence,
            }
            await self.terms.attest.check(facts)
        stamp = int(time.time())

        def work(session: Transaction) -> None:
            if self.terms.tickets:
                use_ticket(session, key_message.ticket, device)
            session.run(
                "INSERT INTO device VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                device,
                key_message.public,
                stamp,
            )

        await gate.store.write(work)
        gate.publics.setdefault(device, key_message.public)

    async def rotate(self, request: Call) -> Reply:
        """A device's new key, proven by a MAC of its own, under the old one; its id stays.

        A stamp that is not newer than the last one's is refused, in every process on the
        store: a copied message cannot bring an old key back. The refusal says, under a MAC,
        what the last one was: a device whose clock was ahead then stamps its next key right.
        A key whose secret anybody knows (zeros, and every other point of low order) cannot be
        proven.
        """
        body, caller = await self.gate.receive(request, KEY_BODY)
        public = _read_key_message(body).public
        device, stamp = caller.device, self._proven(request, body, public)
        old_public = self.gate.publics[device]

        def work(session: Transaction) -> int | None:
            device_rows = session.run("SELECT public FROM device WHERE id = ?", device)
            rotation_rows = session.run("SELECT stamp FROM rotation WHERE device = ?", device)
            stored_public, latest = (
                bytes(device_rows[0][0]),
                int(rotation_rows[0][0]) if rotation_rows else -1,
            )
            if (stored_public, latest) == (public, stamp):
                return None  # this very message, run again
            if stored_public != old_public:
                raise Refusal(401, "the device has another key by now")
            if stamp <= latest:
                return latest
            session.run(
                "INSERT INTO rotation VALUES (?, ?) ON CONFLICT (device) "
                "DO UPDATE SET stamp = excluded.stamp",
                device,
                stamp,
            )
            session.run("UPDATE device SET public = ? WHERE id = ?", public, device)
            return None

        last_stamp = await self.gate.store.write(work)
        if last_stamp is not None:
            facts = {"error": "a new key that is not new"}
            refusal = facts | {"time": time.time_ns(), "after": last_stamp}
            return self.gate.reply(caller, json.dumps(refusal).encode(), 409)
        self.gate.publics[device] = public
        return self.gate.reply(caller, b"{}")

    def _proven(self, request: Call, body: bytes, public: bytes) -> int:
        """The stamp of a rotation, if the owner of the new key made its proof."""
        facts = json.loads(body)
        stamp, proof = facts.get("stamp"), facts.get("proof")
        private = self.gate.identity.by_name[request.headers["tacit-key"]]
        fine = isinstance(stamp, int) and isinstance(proof, str) and 0 <= stamp < 1 << 63
        if fine:
            device = request.headers["tacit-device"]
            try:
                mac = shared_secrets(private, public).mac
            except ValueError:
                raise Refusal(400, "a key that keeps no secret") from None
            fine = same(rotation_proof(mac, device, stamp), proof)
        if not fine:
            raise Refusal(401, "the new key was not proven")
        return int(stamp)


def _read_key_message(body: bytes) -> _KeyMessage:
    """What a message says, if it is one that brings a key."""
    try:
        facts: dict[str, Any] = json.loads(body)
        public = bytes.fromhex(facts["public"])
        ticket, evidence = facts.get("ticket", ""), facts.get("evidence", "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refusal(400, "no public key") from None
    are_texts = isinstance(ticket, str) and isinstance(evidence, str)
    if len(public) != 32 or not are_texts:
        raise Refusal(400, "no public key")
    if len(ticket) > MOST_TICKET or len(evidence) > MOST_EVIDENCE:
        raise Refusal(400, "a ticket or evidence that is too long")
    return _KeyMessage(public, ticket, evidence)
