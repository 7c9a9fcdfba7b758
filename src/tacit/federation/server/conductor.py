"""The recommender's rounds: gather a cohort, announce, collect, take the masks off, absorb.
One step, one transaction.

Guarantee: public state moves from one round to the next in a single transaction, after a
sum of at least the least cohort has arrived and its range was checked, so the model never
holds a partial round. A process that dies anywhere goes on from what its store holds: the
same attempt is collected again (the aggregator reveals the same sum), or a new attempt is
made of a round whose sum was never revealed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.federation.agreed.expect import first_state, nothing, state_of
from tacit.federation.printed.hua import Deal, Tau
from tacit.federation.protocol.keys import Identity, shared_secrets
from tacit.federation.protocol.masks import round_key
from tacit.federation.protocol.task import Assembled
from tacit.federation.protocol.wire import (
    Announcement,
    Closing,
    Layout,
    Opening,
    digest,
    pack,
    pack_state,
    unpack_state,
)
from tacit.federation.server.store import Session, Store
from tacit.federation.server.unmask import Opened, unmask
from tacit.noise import bits
from tacit.rounds.loop import passed_over
from tacit.rounds.people import Slice
from tacit.rounds.state import State
from tacit.serving.http.watch import log

MIGRATIONS_TASK = (
    (
        "CREATE TABLE task (id TEXT PRIMARY KEY, document BLOB NOT NULL, round INTEGER "
        "NOT NULL, state BLOB NOT NULL, "
        "tau BLOB, finished INTEGER NOT NULL, receipt TEXT)"
    ),
    (
        "CREATE TABLE round (task TEXT, round INTEGER, attempt INTEGER, nonce TEXT NOT "
        "NULL, key TEXT NOT NULL, "
        "status TEXT NOT NULL, PRIMARY KEY (task, round, attempt))"
    ),
    (
        "CREATE TABLE joined (task TEXT, round INTEGER, attempt INTEGER, device TEXT, "
        "public BLOB, items BLOB, "
        "PRIMARY KEY (task, round, attempt, device))"
    ),
)


class Aggregator(Protocol):
    """The other server, as the recommender speaks to it. Both calls are repeated until they
    are answered."""

    async def open(self, opening: Opening) -> None: ...
    async def close(self, closing: Closing) -> bytes | None:
        """The sum, or None if the attempt was given up."""


@dataclass
class Active:
    """A round that devices can answer."""

    index: int
    attempt: int
    nonce: str
    key: str
    joined: dict[str, NDArray[np.uint32]]
    layouts: tuple[Layout, ...]
    publics: dict[str, bytes]
    """Keys at the time of joining: a device may rotate its key in the middle of a round."""
    deal: Deal | None = None
    mixing: tuple[str, ...] = ()
    counts: NDArray[np.int64] | None = None
    shared: bytes = b""
    """The payload that is the same for every device; empty where each gets its own rows."""
    rows: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """State with one row an item, of which a device gets its own."""
    rest: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    """Digest of the payload that a device was given: its mask is keyed by it."""


class Conductor:
    """See the module. `gather` seconds after the least cohort is there, a round begins
    without waiting for more."""

    def __init__(
        self,
        made: Assembled,
        store: Store,
        identity: Identity,
        aggregator: Aggregator,
        public: Callable[[str], bytes | None],
        gather: float = 2.0,
    ) -> None:
        self.made = made
        self.store = store
        self.identity = identity
        self.aggregator = aggregator
        self.task, self.name = made.task, made.task.name
        self._public, self._gather = public, gather
        self.waiting: dict[str, tuple[NDArray[np.uint32], asyncio.Future[bytes]]] = {}
        self.places: dict[str, int] = {}
        self.run_so_far: set[str] = set()
        self.spoilt = 0
        self.news = asyncio.Event()
        self.active: Active | None = None
        self.state = State()
        self.tau: Tau | None = None
        self.index = 0
        self.finished = asyncio.Event()
        self.times: list[float] = []
        self.private = bool(made.events)

    async def run(self) -> State:
        """All rounds that are left; the final public state."""
        await self._load()
        loop = asyncio.get_running_loop()
        while self.index < len(self.made.plan.rounds):
            if passed_over(
                self.made.plan,
                self.made.round(self.index),
                self.state,
                self.run_so_far,
            ):
                # another round stands in its place; a restart comes to the same answer
                self.index += 1
                continue
            began = loop.time()
            await self._round()
            self.times.append(loop.time() - began)
        self.finished.set()
        for _, future in self.waiting.values():
            if not future.done():
                future.cancel()
        return self.state

    async def _load(self) -> None:
        rows = await self.store.read(
            lambda s: s.run(
                "SELECT round, state, tau FROM task WHERE id = ?", self.name
            )
        )
        if not rows:
            start = first_state(self.made)
            document = self.task.model_dump_json().encode()

            def work(session: Session) -> None:
                session.run(
                    "INSERT INTO task VALUES (?, ?, 0, ?, NULL, 0, NULL) ON CONFLICT DO NOTHING",
                    self.name,
                    document,
                    pack_state(start.packed()),
                )

            await self.store.write(work)
            rows = [(0, pack_state(start.packed()), None)]
        self.index = int(rows[0][0])
        self.state = state_of(self.made, bytes(rows[0][1]))
        self.tau = _tau(rows[0][2])
        sql = "SELECT round, status FROM round WHERE task = ? AND status IN ('done', 'spoilt')"
        over = await self.store.read(lambda s: s.run(sql, self.name))
        self.run_so_far = {self.made.round(int(index)).name for index, _ in over}
        self.spoilt = sum(status == "spoilt" for _, status in over)

    async def _round(self) -> None:
        """One attempt at the current round; the index moves on if it succeeds."""
        active = await self._resume() or await self._begin()
        if not active.joined:  # nobody of this slice came
            round_, where = (
                self.made.round(active.index),
                (active.index, active.attempt),
            )
            await self.aggregator.close(
                Closing(task=self.name, round=where[0], attempt=where[1], give_up=True)
            )
            await self._advance(
                active, round_.absorb(self.state, nothing(round_.parts)), "done"
            )
            return
        self.active = active
        for place, device in enumerate(active.joined):
            self._answer(device)
            if place % 16 == 15:
                await asyncio.sleep(
                    0
                )  # the first devices work while the last are answered
        closing = Closing(
            task=self.name,
            round=active.index,
            attempt=active.attempt,
            expected=len(active.joined),
            wait=self.task.seconds,
        )
        found = await self.aggregator.close(closing)
        self.active = None
        if found is None:
            log("round re-run", round=active.index, attempt=active.attempt)
            await self._set_status(active, "given up")
            return
        opened, state = await asyncio.to_thread(self._absorb, active, found)
        if opened.spoilt:
            log(
                "sum out of range: some device went past its clip",
                round=active.index,
                attempt=active.attempt,
            )
        await self._advance(active, state, "spoilt" if opened.spoilt else "done")
        log(
            "round done",
            round=active.index,
            attempt=active.attempt,
            joined=len(active.joined),
        )

    def _absorb(self, active: Active, found: bytes) -> tuple[Opened, State]:
        def key(device: str) -> bytes:
            return self._mask_key(device, active)

        opened = unmask(self.made, active, found, key, self.state.people, self.private)
        if isinstance(opened.released, Tau):
            self.tau = opened.released
            return opened, self.state
        return opened, self.made.round(active.index).absorb(self.state, opened.released)

    async def _resume(self) -> Active | None:
        """The attempt that an earlier life of this process had announced."""
        key = (self.name, self.index)
        sql = (
            "SELECT attempt, nonce, key FROM round WHERE task = ? AND round = ? AND "
            "status = 'open'"
        )
        rows = await self.store.read(lambda s: s.run(sql, *key))
        if not rows:
            return None
        attempt, nonce, exchange = rows[-1]
        members = (
            "SELECT device, public, items FROM joined WHERE task = ? AND round = ? "
            "AND attempt = ?"
        )
        who = await self.store.read(lambda s: s.run(members, *key, attempt))
        joined = {
            device: np.frombuffer(bytes(items or b""), "<u4")
            for device, _, items in who
        }
        publics = {device: bytes(public) for device, public, _ in who}
        log("round resumed", round=self.index, attempt=attempt)
        return self._prepare(int(attempt), nonce, exchange, joined, publics)

    async def _begin(self) -> Active:
        """A new attempt: open it at the aggregator, gather devices, make it durable."""
        rows = await self.store.read(
            lambda s: s.run(
                "SELECT attempt, nonce, key FROM round WHERE task = ? AND round = ? ORDER "
                "BY attempt",
                self.name,
                self.index,
            )
        )
        # The mask of a round is the same in every attempt: a device sends the very words it
        # sent before.
        attempt = int(rows[-1][0]) + 1 if rows else 0
        nonce, exchange = (
            (rows[0][1], rows[0][2])
            if rows
            else (bits.fresh().token(16).hex(), self.identity.current)
        )
        if exchange not in self.identity.by_name:
            exchange = self.identity.current
        layouts = self.made.layouts(self.index)
        await self.aggregator.open(
            Opening(
                task=self.name,
                round=self.index,
                attempt=attempt,
                parts=layouts,
                least=self.task.least,
            )
        )
        joined = await self._gathered()
        where = (self.name, self.index, attempt)
        publics = {device: self._public(device) or b"" for device in joined}

        def work(session: Session) -> None:
            session.run(
                "INSERT INTO round VALUES (?, ?, ?, ?, ?, 'open') ON CONFLICT DO NOTHING",
                *where,
                nonce,
                exchange,
            )
            for device, items in joined.items():
                session.run(
                    "INSERT INTO joined VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    *where,
                    device,
                    publics[device],
                    items.tobytes(),
                )

        await self.store.write(work)
        return self._prepare(attempt, nonce, exchange, joined, publics)

    async def _gathered(self) -> dict[str, NDArray[np.uint32]]:
        """Whoever waits, once there are enough; chosen at random if there are more than a
        round takes.

        A slice of the people may hold too few: it is passed over once others have waited
        for as long as a round takes.
        """
        loop, part = asyncio.get_running_loop(), self.made.round(self.index).takes_part
        until: float | None = None
        empty: float | None = None
        while True:
            there = [d for d, (_, future) in self.waiting.items() if not future.done()]
            if isinstance(part, Slice):
                if there:
                    empty = empty or loop.time() + self.task.seconds
                there = [
                    d
                    for d in there
                    if part.index
                    <= self.places.get(d, 0) % part.of
                    < part.index + part.width
                ]
            if len(there) >= self.task.cohort:
                break
            if len(there) >= self.task.least:
                until = until or loop.time() + self._gather
                if loop.time() >= until:
                    break
            elif empty is not None and loop.time() >= empty:
                return {}
            self.news.clear()
            ends = min(
                (each for each in (until, empty) if each is not None), default=None
            )
            try:
                await asyncio.wait_for(
                    self.news.wait(),
                    None if ends is None else max(0.01, ends - loop.time()),
                )
            except TimeoutError:
                continue
        chosen = random.SystemRandom().sample(there, min(len(there), self.task.cohort))
        return {device: self.waiting[device][0] for device in chosen}

    def _prepare(
        self,
        attempt: int,
        nonce: str,
        exchange: str,
        joined: dict[str, NDArray[np.uint32]],
        publics: dict[str, bytes],
    ) -> Active:
        layouts = self.made.layouts(self.index)
        active = Active(self.index, attempt, nonce, exchange, joined, layouts, publics)
        first = layouts[0]
        if not first.sparse:
            active.shared = pack_state(self.state.packed())
            return active
        arrays = self.state.packed()
        active.rows = {
            n: a
            for n, a in arrays.items()
            if a.ndim and len(a) == first.size and first.size > 1
        }
        active.rest = {n: a for n, a in arrays.items() if n not in active.rows}
        secret = self.identity.by_name[exchange]
        seed = hmac.new(
            secret,
            f"deal {self.name} {self.index} {attempt} {nonce}".encode(),
            hashlib.sha256,
        ).digest()
        active.deal = Deal(
            first, seed, joined, self.tau if first.blind == "subtract" else None
        )
        active.counts = active.deal.counts
        fixed = hmac.new(
            secret, f"eta {self.name}".encode(), hashlib.sha256
        ).hexdigest()
        fresh = hmac.new(seed, b"rho", hashlib.sha256).hexdigest()
        scheme = self.made.round(self.index).takes_part.printed
        if self.made.events:
            active.mixing = (
                (fresh, fixed) if scheme == "S2" or first.blind == "add" else (fresh,)
            )
        return active

    def announcement(self, device: str) -> bytes:
        """The answer to a device that joined the active round."""
        active = self.active
        if active is None:
            raise Failure("no round is active")
        header = Announcement(
            task=self.name,
            round=active.index,
            attempt=active.attempt,
            nonce=active.nonce,
            key=active.key,
            joined=len(active.joined),
            least=self.task.least,
            enough=self.task.enough,
            seconds=self.task.seconds,
            mixing=active.mixing,
        )
        return pack(header, self._payload(active, device))

    def _payload(self, active: Active, device: str) -> bytes:
        if active.deal is None or active.counts is None:
            return active.shared
        own = active.joined[device]
        payload = {name: array[own] for name, array in active.rows.items()} | dict(
            active.rest
        )
        payload["k"] = active.counts[own].astype(np.int32)
        if active.deal.tau is not None:
            payload["piece"] = active.deal.pieces()[device]
        packed = pack_state(payload)
        active.told[device] = digest(packed)
        return packed

    def _answer(self, device: str) -> None:
        found = self.waiting.pop(device, None)
        if found is not None and not found[1].done():
            found[1].set_result(self.announcement(device))

    def _mask_key(self, device: str, active: Active) -> bytes:
        secret = shared_secrets(
            self.identity.by_name[active.key], active.publics[device]
        ).mask
        own = (
            "" if active.deal is None else device
        )  # one payload for all, or one for each
        told = active.told.get(own) or digest(self._payload(active, device))
        active.told[own] = told
        return round_key(secret, self.name, active.index, active.nonce, told)

    async def _set_status(self, active: Active, status: str) -> None:
        sql = "UPDATE round SET status = ? WHERE task = ? AND round = ? AND attempt = ?"
        await self.store.write(
            lambda s: s.run(sql, status, self.name, active.index, active.attempt)
        )

    async def _advance(self, active: Active, state: State, status: str) -> None:
        """The next state and the end of this round, together or not at all."""
        tau = (
            None
            if self.tau is None
            else pack_state({"rows": self.tau.rows, "words": self.tau.words})
        )

        def work(session: Session) -> None:
            key = (self.name, active.index)
            session.run(
                "UPDATE round SET status = ? WHERE task = ? AND round = ? AND attempt = ?",
                status,
                *key,
                active.attempt,
            )
            session.run("DELETE FROM joined WHERE task = ? AND round <= ?", *key)
            session.run(
                "UPDATE task SET round = ?, state = ?, tau = ? WHERE id = ? AND round <= ?",
                active.index + 1,
                pack_state(state.packed()),
                tau,
                *key,
            )

        await self.store.write(work)
        self.state, self.index = state, active.index + 1
        self.run_so_far.add(self.made.round(active.index).name)
        self.spoilt += status == "spoilt"


def _tau(found: Any) -> Tau | None:
    if found is None:
        return None
    kept = unpack_state(bytes(found))
    return Tau(kept["rows"], kept["words"])
