"""What the operator orders, and how a training obeys: pause, retry, abort, expire.

An order is a row in the server's own store, so there is no door for orders on the network:
whoever can write to the store is the operator. A recommender looks every second, and finds its
orders again after a restart.
"""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from tacit.errors import SettingError
from tacit.federation.server.conductor import Conductor
from tacit.federation.server.rounds import patiently
from tacit.federation.server.store import ServerStore, Transaction
from tacit.serving.http.watch import log

LOOK_SECONDS = 1.0
"""Between two looks for orders."""


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


def orders(session: Transaction, task: str) -> Orders:
    """What was ordered for a task."""
    entries = dict(session.run("SELECT name, value FROM control WHERE task = ?", task))
    expires = entries.get("expires", "")
    return Orders(
        entries.get("paused") == "yes",
        entries.get("aborted"),
        int(entries.get("retries", "0")),
        float(expires) if expires else None,
    )


def order(session: Transaction, task: str, name: str, value: str) -> None:
    """Write an order down, over an earlier one of its name."""
    session.run(
        "INSERT INTO control VALUES (?, ?, ?) ON CONFLICT (task, name) "
        "DO UPDATE SET value = excluded.value",
        task,
        name,
        value,
    )


def retry(session: Transaction, task: str) -> None:
    """Have the attempt that is under way given up, and its round run again."""
    count = orders(session, task).retries + 1
    order(session, task, "retries", str(count))


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
                orders(session, task),
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
    current = await patiently(lambda: store.read(lambda s: orders(s, name)), "the store")
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
        return await store.read(lambda s: orders(s, name))
    except StorageError:
        return last_orders
