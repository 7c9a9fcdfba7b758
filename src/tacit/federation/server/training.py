"""One training of a recommender, from the charge to the published model, and how it is run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tacit.errors import SettingError, StorageError, TacitError
from tacit.federation.server.conductor import Conductor
from tacit.federation.server.enrolment import Terms
from tacit.federation.server.gate import Gate
from tacit.federation.server.publish import Charged, check_unused, publish, reserve
from tacit.federation.server.remote import RemoteAggregator
from tacit.federation.server.rounds import patiently
from tacit.federation.server.store import ServerStore, Transaction
from tacit.serving.http.limits import Limits
from tacit.serving.http.watch import LOG, log

ABANDON_SECONDS = 10.0
"""For the aggregator to hear that a training was aborted."""
LOOK_SECONDS = 1.0
"""Between two looks for orders."""


@dataclass(frozen=True)
class Operation:
    """How a recommender is run, beside what its task says.

    None of it changes what is promised to a person: that is the task's alone.
    """

    location: str
    """Of its store."""
    aggregator_url: str
    """As devices reach the aggregator."""
    out: Path
    """The folder of the model."""
    limits: Limits = field(default_factory=Limits)
    terms: Terms = field(default_factory=Terms)
    """On which devices enrol."""
    gather: float = 2.0
    """Seconds to wait for more than the least cohort."""
    book: Charged | None = None
    """The ledger that is charged before the first round."""


class Training:
    """From the charge to the published model.

    The ledger is charged before the first round is opened; a restart finds the receipt in
    the store and charges nothing again.
    """

    def __init__(
        self, gate: Gate, conductor: Conductor, operation: Operation, aggregator: RemoteAggregator
    ) -> None:
        self.gate = gate
        self.conductor = conductor
        self.how = operation
        self.aggregator = aggregator

    async def conduct(self) -> None:
        """Train, and obey; whatever stops it, the health of the server says so. What the
        operator has ended is no fault of the server."""
        try:
            reason = await self._obedient()
            if reason is not None:
                self.conductor.stop(reason)
                log("training stopped, as ordered")
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it was, /healthz must say it
            self.gate.troubles.add(self.conductor.name)
            reason = error.message if isinstance(error, TacitError) else ""
            self.conductor.stop(reason or "a fault of the recommender")
            LOG.exception("training stopped", extra={"facts": {"reason": reason}})

    async def _obedient(self) -> str | None:
        """Train until the end, or until the operator orders one; why, then."""
        looked = asyncio.Event()
        watch = asyncio.create_task(obey(self.gate.store, self.conductor, looked))
        train = asyncio.create_task(self._train_after(looked))
        try:
            await asyncio.wait({watch, train}, return_when=asyncio.FIRST_COMPLETED)
            if train.done():
                await train
                return None
            reason = await watch
            train.cancel()
            await asyncio.gather(train, return_exceptions=True)
            await self._abandon()
            return reason
        finally:
            for pending in (watch, train):
                pending.cancel()
            await asyncio.gather(watch, train, return_exceptions=True)

    async def _train_after(self, looked: asyncio.Event) -> None:
        """Train, once it is known that no order of before the start ended it: nothing is
        charged for a training that is over."""
        await looked.wait()
        await self._train()

    async def _abandon(self) -> None:
        """Tell the aggregator that the attempt under way is given up, if it listens."""
        with suppress(TacitError, TimeoutError):
            async with asyncio.timeout(ABANDON_SECONDS):
                await self.conductor.give_up()

    async def _train(self) -> None:
        conductor, book = self.conductor, self.how.book
        if await self._is_new():
            check_unused(self.how.out)
        receipt = await asyncio.to_thread(reserve, conductor.rounds, book)
        state = await conductor.run()
        enrolment = (self.how.terms.trust_mode, await self.aggregator.enrolment())

        def write() -> None:
            publish(conductor.made, state, receipt, self.how.out, book, conductor.spoilt, enrolment)

        await patiently(
            lambda: self._noticed(asyncio.to_thread(write)),
            "the folder of the model, or the ledger,",
        )
        log("model published")

    async def _is_new(self) -> bool:
        """Whether no model can be of this training yet: it was not charged, or, where nothing
        is, no round of it is over."""
        rounds = self.conductor.rounds
        if self.how.book is not None:
            return not rounds.receipt()
        return not (await rounds.standing()).done

    async def _noticed(self, work: Awaitable[None]) -> None:
        """A work that is tried again if it fails; the health of the server says so
        meanwhile."""
        try:
            await work
        except StorageError:
            self.gate.troubles.add(self.conductor.name)
            raise
        self.gate.troubles.discard(self.conductor.name)


# What the operator orders, and how a training obeys: pause, retry, abort, expire.
#
# An order is a row in the server's own store, so there is no door for orders on the network:
# whoever can write to the store is the operator. A recommender looks every second, and finds its
# orders again after a restart.


class Orders(NamedTuple):
    """What the operator wants of a training now."""

    paused: bool = False
    aborted: str | None = None
    """Why it is to end."""
    retries: int = 0
    """How often an attempt was to be given up."""
    expires: float | None = None
    """Seconds since 1970 at which it ends."""

    def ending(self, now: float) -> str | None:
        """Why the training is to end, if it is."""
        if self.aborted is not None:
            return self.aborted
        if self.expires is not None and now >= self.expires:
            return "its time is over"
        return None


def standing_orders(session: Transaction, task: str) -> Orders:
    """What was ordered for a task."""
    entries = dict(session.run("SELECT name, value FROM control WHERE task = ?", task))
    expires = entries.get("expires", "")
    return Orders(
        entries.get("paused") == "yes",
        entries.get("aborted"),
        int(entries.get("retries", "0")),
        float(expires) if expires else None,
    )


def place_order(session: Transaction, task: str, name: str, value: str) -> None:
    """Write an order down, over an earlier one of its name."""
    session.run(
        "INSERT INTO control VALUES (?, ?, ?) ON CONFLICT (task, name) "
        "DO UPDATE SET value = excluded.value",
        task,
        name,
        value,
    )


def retry_round(session: Transaction, task: str) -> None:
    """Have the attempt that is under way given up, and its round run again."""
    count = standing_orders(session, task).retries + 1
    place_order(session, task, "retries", str(count))


class TrainingStanding(NamedTuple):
    """Where a training of a store stands, for its operator."""

    task: str
    round: int
    open: int
    """Attempts that devices may answer now."""
    given_up: int
    spoilt: int
    orders: Orders


def trainings(session: Transaction) -> list[TrainingStanding]:
    """All trainings of a recommender's store."""
    out = []
    for task, round_ in session.run("SELECT id, round FROM task ORDER BY id"):
        counts = dict(
            session.run("SELECT status, COUNT(*) FROM round WHERE task = ? GROUP BY status", task)
        )
        out.append(
            TrainingStanding(
                task,
                int(round_),
                int(counts.get("open", 0)),
                int(counts.get("given up", 0)),
                int(counts.get("spoilt", 0)),
                standing_orders(session, task),
            )
        )
    return out


def find_training(session: Transaction, task: str | None) -> str:
    """The training that the operator means: the one whose name begins so, or the only one."""
    matches = [
        training.task for training in trainings(session) if training.task.startswith(task or "")
    ]
    if len(matches) != 1:
        raise SettingError(
            f"{len(matches)} trainings of this store are meant",
            remedy="--task, as `tacit federate admin list` shows it",
        )
    return matches[0]


async def obey(store: ServerStore, conductor: Conductor, looked: asyncio.Event) -> str:
    """Look for orders until one ends the training; why it ends. `looked` is set after the
    first look."""
    name = conductor.name
    current = await patiently(lambda: store.read(lambda s: standing_orders(s, name)), "the store")
    retries_done = current.retries
    giving_up: asyncio.Task[None] | None = None
    try:
        while True:
            reason = current.ending(time.time())
            if reason is not None:
                return reason
            conductor.pause(current.paused)
            looked.set()
            if current.retries > retries_done:
                retries_done = current.retries
                log("attempt is to be given up, as ordered")
                if giving_up is not None:
                    giving_up.cancel()
                # beside the looking: an aggregator that is away must not hide other orders
                giving_up = asyncio.create_task(conductor.give_up())
            await asyncio.sleep(LOOK_SECONDS)
            if giving_up is not None and giving_up.done():
                await giving_up
                giving_up = None
            current = await _latest_orders(store, name, current)
    finally:
        if giving_up is not None:
            giving_up.cancel()


async def _latest_orders(store: ServerStore, name: str, last_orders: Orders) -> Orders:
    """The orders by now; the last ones if the store is away."""
    from tacit.errors import StorageError

    try:
        return await store.read(lambda s: standing_orders(s, name))
    except StorageError:
        return last_orders
