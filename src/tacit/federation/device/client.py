"""One device's conversation with both servers over HTTP: what it sends carries its MAC, what
it hears is checked against pinned identities."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field

from pydantic import ValidationError

from tacit.errors import Failure, TacitError
from tacit.federation.agreed.assembled import Assembled, assemble
from tacit.federation.protocol.http import SHORT, TASK_BYTES, Answer, TooLong, Web
from tacit.federation.protocol.keys import (
    believed,
    head_tag,
    name_of,
    public_of,
    rotation_proof,
    same,
    shared_secrets,
    tag,
    verify,
)
from tacit.federation.protocol.task import Task
from tacit.ledger.account.event import EVENTS
from tacit.repr import shapes

PASSING = (408, 425, 429)
"""Refusals that are worth another try: slow, no round yet, too many."""


NO_JSON = (ValueError, KeyError, TypeError, RecursionError)
"""How reading a text ends that is not what was asked for."""
LATEST = 1 << 62
"""Nanoseconds since 1970: the year 2116. Stamps go on beyond it for as long again."""
QUICK = 20.0
"""Seconds that a server may take for what it shows to everybody."""
MOST_REASON = 300
"""Characters of a server's reason that are shown."""


@dataclass(frozen=True)
class Papers:
    """What a device shows when it enrols."""

    token: str | None = None
    """The common one."""
    ticket: str | None = None
    """A one-time ticket of the recommender."""
    aggregator_ticket: str | None = None
    """A one-time ticket of the aggregator."""
    evidence: str = ""
    """For the operators' own checks, which alone understand it."""

    __repr__ = shapes


class Away(Exception):
    """A server did not answer, or not yet; worth another try."""


class TurnedDown(Exception):
    """A server turned a message down for good; `reason` is what it said, in plain words."""

    def __init__(self, status: int, reason: str = "") -> None:
        super().__init__(str(status))
        self.status = status
        self.reason = reason


@dataclass
class KnownServer:
    """A server as devices know it: its address, its pinned identity, its exchange keys."""

    url: str
    pin: str | None = None
    keys: dict[str, bytes] = field(default_factory=dict)
    current: str = ""

    async def learn(self, web: Web) -> None:
        """Fetch its card of keys, and believe it if its identity is the pinned one. The
        first identity seen is kept."""
        try:
            answer = await _got(web, self.url, "/v1/keys")
            card = json.loads(answer.body)
        except (ValueError, RecursionError):
            raise Failure("the server's card of keys does not parse") from None
        public_keys = believed(card, self.pin)
        self.pin = card["identity"]
        self.keys = {name_of(key): key for key in public_keys}
        self.current = name_of(public_keys[0])


def too_long() -> Failure:
    """A server sends more than it can have to say."""
    return Failure("a server's answer is longer than what it was asked for can be")


async def _got(web: Web, url: str, path: str, max_bytes: int = SHORT) -> Answer:
    """What a server shows to everybody. A proxy that speaks while the server is away says
    nothing about the server."""
    try:
        answer = await web.get(url, path, max_bytes, QUICK)
    except TooLong:
        raise too_long() from None
    except OSError as error:
        raise Away(f"no answer ({type(error).__name__})") from None
    if answer.status in PASSING or answer.status >= 500:
        raise Away(str(answer.status))
    return answer


class Conversation:
    """One device's conversation with both servers.

    `private` is its exchange key, `name` its id if it has had another key before. What it
    knows of the servers is shared by all links of a process.
    """

    def __init__(
        self,
        web: Web,
        recommender: KnownServer,
        aggregator: KnownServer,
        private: bytes,
        name: str | None = None,
    ) -> None:
        self.web = web
        self.recommender = recommender
        self.aggregator = aggregator
        self.private = private
        self.public = public_of(private)
        self.name = name or name_of(self.public)
        """Of its first key; it stays when the key changes."""
        self.bytes_up = self.bytes_down = 0
        self._offset = 0
        """Nanoseconds by which the recommender's clock is ahead of this one."""
        self._last = 0
        """The last stamp."""

    def stamp(self) -> int:
        """Nanoseconds since 1970 by the recommender's clock, as far as it is known, and
        larger than any stamp before."""
        self._last = max(time.time_ns() + self._offset, self._last + 1)
        return self._last

    def _learn_time(self, body: bytes) -> None:
        """Set the clock by a refusal that says the server's time."""
        try:
            facts = json.loads(body)
            server_time, last_accepted = int(facts["time"]), int(facts["after"])
        except (*NO_JSON, OverflowError):
            return
        if not (0 <= server_time < LATEST and 0 <= last_accepted < LATEST):
            return  # no stamp would be larger, and this device never heard again
        self._offset = server_time - time.time_ns()
        self._last = last_accepted

    def mask_secret(self, key: str) -> bytes:
        """What masks are keyed with, under one of the recommender's exchange keys."""
        if key not in self.recommender.keys:
            raise Failure(
                "the round is keyed to an exchange key that the recommender does not show"
            )
        return shared_secrets(self.private, self.recommender.keys[key]).mask

    async def enrol(self, papers: Papers | None = None) -> None:
        """Make this device known to both servers. Enrolling twice is enrolling once.

        Each server is shown its own ticket, and never the other's.
        """
        papers = papers or Papers()
        token = papers.token
        headers = {} if token is None else {"tacit-token": token}
        pairs = ((self.recommender, papers.ticket), (self.aggregator, papers.aggregator_ticket))
        for server, ticket in pairs:
            facts = {"public": self.public.hex()}
            if ticket:
                facts["ticket"] = ticket
            if papers.evidence:
                facts["evidence"] = papers.evidence
            await self.call(server, "/v1/enrol", json.dumps(facts).encode(), headers)

    async def rotate(self, private: bytes) -> Conversation:
        """The same device with a new key. If it is cut short, call it again with the same one."""
        renewed = Conversation(self.web, self.recommender, self.aggregator, private, self.name)
        for server in (self.recommender, self.aggregator):
            try:
                await self._bring(server, renewed)
            except TurnedDown as refused:
                if refused.status != 409:
                    raise
                # the clock was ahead at the last rotation: now the stamp follows that one
                await self._bring(server, renewed)
        return renewed

    async def _bring(self, server: KnownServer, renewed: Conversation) -> None:
        """Show a server the new key."""
        stamp = self.stamp()
        mac = shared_secrets(renewed.private, server.keys[server.current]).mac
        facts = {
            "public": renewed.public.hex(),
            "stamp": stamp,
            "proof": rotation_proof(mac, self.name, stamp),
        }
        try:
            await self.call(server, "/v1/rotate", json.dumps(facts).encode())
        except TurnedDown as refused:
            if refused.status != 401:  # else it has the new key already
                raise

    async def call(
        self,
        server: KnownServer,
        path: str,
        body: bytes,
        extra_headers: dict[str, str] | None = None,
        max_bytes: int = SHORT,
    ) -> bytes:
        """A request with its MAC; the answer, of at most so many bytes, with its MAC checked.

        Raises `Away` for what may pass and is worth another try, `Refused` for what the
        server has turned down for good, and `Failure` if the server is not the one that was
        pinned or speaks another version. Refusals carry no MAC: whoever forges one can stop
        a device, as whoever cuts its connection can.
        """
        mac_key = shared_secrets(self.private, server.keys[server.current]).mac
        mac = tag(mac_key, b"request", b"POST", path.encode(), body)
        headers = {
            "tacit-device": self.name,
            "tacit-key": server.current,
            "tacit-head": head_tag(mac_key, "POST", path, len(body)),
            "tacit-mac": mac,
            **(extra_headers or {}),
        }
        try:
            answer = await self.web.post(server.url, path, body, headers, max_bytes)
        except TooLong:
            raise too_long() from None
        except OSError:
            raise Away("no answer") from None
        self.bytes_up += len(body)
        self.bytes_down += len(answer.body)
        expected = tag(mac_key, b"response", mac.encode(), answer.body)
        genuine = same(answer.headers.get("tacit-mac", ""), expected)
        if answer.status == 409 and genuine:
            self._learn_time(answer.body)
        if answer.status != 200:
            await self._refused(server, answer)
        if not genuine:
            raise Failure("a server's answer does not verify: it is not the one that was pinned")
        return answer.body

    async def _refused(self, server: KnownServer, answer: Answer) -> None:
        """Raise what an answer other than the asked one means."""
        if answer.status == 401 and b"has changed" in answer.body:
            await server.learn(self.web)
            raise Away("keys rotated")
        if answer.status in PASSING or answer.status >= 500:
            raise Away(str(answer.status))
        if answer.status == 426:
            raise Failure(
                "a server speaks another version of the protocol",
                remedy="upgrade this device or the server",
            )
        raise TurnedDown(answer.status, _reason(answer.body))


def _reason(body: bytes) -> str:
    """What a refusal says, if it says something that can be shown."""
    try:
        reason = json.loads(body)["error"]
    except NO_JSON:
        return ""
    text = reason if isinstance(reason, str) else ""
    return text[:MOST_REASON] if text.isprintable() else ""


def _assembled(task: Task) -> Assembled:
    """What follows from a task, whose catalogue may be none."""
    try:
        return assemble(task)
    except TacitError:
        raise
    except (*NO_JSON, ArithmeticError, IndexError, AttributeError):
        raise Failure("the task's items are no catalogue") from None


async def fetch_task(
    web: Web, recommender: KnownServer, aggregator: str | None = None, name: str | None = None
) -> tuple[Assembled, KnownServer]:
    """The task, signed, with its events recomputed here: a device believes its own arithmetic.

    The recommender names the aggregator, so who wants to be sure of two servers pins
    `aggregator` too. `name` is the task's, where the recommender has several.
    """
    path = "/v1/task" if name is None else f"/v1/task/{name}"
    answer = await _got(web, recommender.url, path, TASK_BYTES)
    if name is not None and answer.status == 404:
        raise Failure(
            "the recommender has no such task", remedy="its /v1/tasks lists those that it has"
        )
    body, signature = answer.body, answer.headers.get("tacit-signature", "")
    if recommender.pin is None or not verify(
        bytes.fromhex(recommender.pin), signature, b"task", body
    ):
        raise Failure("the task is not signed by the recommender's identity")
    try:
        facts = json.loads(body)
        task_facts, events = facts["task"], facts["events"]
        named = facts["aggregator"]
        identity, url = named["identity"], named["url"]
        # one spelling: two of one identity would pass for two servers
        if bytes.fromhex(identity).hex() != identity or type(url) is not str:
            raise ValueError
    except NO_JSON:
        raise Failure("what the recommender signed is no task") from None
    try:
        task = Task.model_validate(task_facts)
        announced = EVENTS.validate_python(events)
    except ValidationError:
        raise Failure(
            "the task is of another version of the protocol", remedy="upgrade this device"
        ) from None
    if name is not None and task.name != name:
        raise Failure("the recommender answered with another task")
    assembled = _assembled(task)
    if announced != tuple(assembled.events.values()):
        raise Failure(
            "the announced noise is not what this plan and budget ask for",
            remedy="upgrade, or do not take part",
        )
    if identity == recommender.pin:
        raise Failure("the recommender is its own aggregator: it could see every contribution")
    if aggregator is not None and not same(identity, aggregator):
        raise Failure(
            "the task names another aggregator than the one pinned",
            remedy="ask its owner before going on",
        )
    return assembled, KnownServer(url, identity)
