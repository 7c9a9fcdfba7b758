"""The recommender: devices enrol and join here, rounds are conducted, the finished model is
handed out.

Guarantee (with an aggregator that does not collude): it sees who takes part, sums of at
least the least cohort with the noise of the aggregator or of every device in them (the task
says which), and never a contribution. In
`paper` it also sees which items a device asks about.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
from fastapi import FastAPI
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.federation.agreed.assembled import assemble
from tacit.federation.protocol.http import TASK_BYTES
from tacit.federation.protocol.task import Task
from tacit.federation.protocol.wire import Join, ascending, pack, unpack
from tacit.federation.server.conductor import Conductor
from tacit.federation.server.gate import Caller, Gate
from tacit.federation.server.publish import is_published
from tacit.federation.server.remote import RemoteAggregator
from tacit.federation.server.store import Refusal, ServerStore, statements
from tacit.federation.server.training import Operation, Training
from tacit.serving.http.plain import Call, PlainRoutes, Reply
from tacit.serving.http.watch import log

MIGRATIONS = (
    (*statements("devices"), *statements("recommender")),
    (*statements("announced"), *statements("rotations")),
    (*statements("enrolment"), *statements("control"), *statements("out")),
    statements("told"),
)
"""The steps that make the store's tables."""
SITS_OUT = "this device sits out the rest of the training: a sum that it was in was out of range"
POLL_SECONDS = 25.0
"""How long a device waits for a round before it is told to ask again."""
STIR_SECONDS = 0.003
"""After a device has come, until the conductor looks: all who come within a moment are seen
at one look."""
STAMP_SECONDS = 300.0
"""That a device's clock may be off."""
JOIN_BODY = 1 << 20
"""Bytes of the longest message that joins a round."""
FILES = ("model.json", "items.json", "statement.json", "arrays.safetensors")
"""Of a published model, in the order in which they are handed out."""


def recommender_app(
    task: Task,
    aggregator: RemoteAggregator,
    operation: Operation,
    also: Sequence[tuple[Task, Operation]] = (),
) -> PlainRoutes:
    """The app, which conducts the training of a task while it runs, and those of `also`
    beside it, on the same store and for the same devices."""
    tasks = [(task, operation), *also]
    _check_apart(tasks)
    # two on one store would announce two masks for one round
    store = ServerStore(operation.location, MIGRATIONS, "recommender", exclusive=True)
    identity = aggregator.identity
    gate = Gate("recommender", identity, store, operation.limits, operation.terms)
    handlers, trainings = list[_Handler](), list[Training]()
    for training_task, training_operation in tasks:
        conductor = Conductor(
            assemble(training_task),
            store,
            identity,
            aggregator,
            gate.public,
            training_operation.gather,
            gate.metrics,
        )
        trainings.append(Training(gate, conductor, training_operation, aggregator))
        handlers.append(_Handler(gate, conductor, training_operation, aggregator.pin.hex()))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        for handler in handlers:
            rounds = len(handler.made.plan.rounds)
            log("recommender ready", task=handler.conductor.name, rounds=rounds)
        running = [asyncio.create_task(handler.conduct()) for handler in trainings]
        yield
        log("recommender stops")
        for under_way in running:
            under_way.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await aggregator.stop()
        store.close()

    app = gate.app(lifespan=lifespan)
    doors = _CommonRoutes(gate, handlers)
    gate.route("/v1/join", doors.join)
    gate.route("/v1/tasks", doors.tasks, "GET")
    for position, handler in enumerate(handlers):
        # the first one has the short paths too, for devices that name no task
        for end in ("", f"/{handler.conductor.name}")[min(position, 1) :]:
            gate.route("/v1/task" + end, handler.task, "GET")
            gate.route("/v1/status" + end, handler.status, "GET")
            gate.route("/v1/model" + end, handler.model, "GET")
    return app


def _check_apart(tasks: Sequence[tuple[Task, Operation]]) -> None:
    """Refuse two trainings that would be one, or that would write one model."""
    names = {task.name for task, _ in tasks}
    folders = {operation.out.absolute() for _, operation in tasks}
    if len(names) < len(tasks) or len(folders) < len(tasks):
        raise SettingError(
            "two trainings of one recommender are the same, or have one folder for their model",
            remedy="another --purpose, or another --out",
        )


class _CommonRoutes:
    """What all trainings of a recommender share: devices join here, whichever they mean."""

    def __init__(self, gate: Gate, handlers: Sequence[_Handler]) -> None:
        self.gate = gate
        self._by_task = {handler.conductor.name: handler for handler in handlers}

    async def join(self, request: Call) -> Reply:
        """A device joins a round of the task that it names."""
        body, caller = await self.gate.receive(request, JOIN_BODY)
        message, payload = unpack(Join, body)
        handler = self._by_task.get(message.task)
        if handler is None:
            raise Refusal(404, "another task")
        return await handler.join(caller, message, payload)

    async def tasks(self, request: Call) -> Reply:
        """The trainings of this recommender, by name; `/v1/task/NAME` is signed."""
        facts = {name: handler.made.task.method for name, handler in self._by_task.items()}
        return Reply.facts({"tasks": facts})


class _Handler:
    """The routes of one training.

    The document that `/v1/task` hands out is made once: its signature is over these very
    bytes, and devices recompute everything in it but the addresses.
    """

    def __init__(
        self, gate: Gate, conductor: Conductor, operation: Operation, aggregator_pin: str
    ) -> None:
        self.gate = gate
        self.conductor = conductor
        self.made = conductor.made
        self.out = operation.out
        self._stamps: dict[str, int] = {}
        self._told = False
        document = {
            "name": self.made.task.name,
            "task": self.made.task.model_dump(mode="json"),
            "events": json.loads(self.made.events_text()),
            "aggregator": {"url": operation.aggregator_url, "identity": aggregator_pin},
        }
        self._document = json.dumps(document).encode()
        if len(self._document) > TASK_BYTES:
            raise SettingError(
                f"the task takes {len(self._document):,} bytes with its catalogue; a device "
                f"reads at most {TASK_BYTES:,}",
                remedy="restrict the catalogue: --items FILE with fewer items or columns",
            )
        self._signature = gate.identity.sign(b"task", self._document)

    async def task(self, request: Call) -> Reply:
        """The task, its events and the aggregator, signed."""
        return Reply(self._document, kind="application/json", tacit_signature=self._signature)

    async def status(self, request: Call) -> Reply:
        """Public progress: counts only."""
        conductor = self.conductor
        facts = {
            "task": conductor.name,
            "round": conductor.index,
            "rounds": len(self.made.plan.rounds),
            "waiting": len(conductor.lobby),
            "finished": conductor.finished.is_set(),
            "published": is_published(self.out),
            "stopped": conductor.stopped,
            "paused": not conductor.going.is_set(),
            "seconds": conductor.times[-50:],
        }
        return Reply.facts(facts)

    async def join(self, caller: Caller, message: Join, payload: memoryview) -> Reply:
        """Wait for a round; the answer is its announcement, with the state that this device
        needs.

        A device that is in the active attempt already gets the same announcement again. One
        that waits too long is told to ask again (425), for connections are not kept open for
        ever; one that comes after the end, or waits when it comes, is told so and why (410).
        """
        self._check_going_on(caller)
        if (stale := self._stale(caller, message.stamp)) is not None:
            return stale
        items = self._items(message, payload)
        if self._has_joined(caller, message):  # it lost the first answer
            return self.gate.reply(
                caller, self.conductor.announcement(caller.device, message.holds)
            )
        lobby = self.conductor.lobby
        future = lobby.enter(caller.device, items, message.place, message.holds)
        loop = asyncio.get_running_loop()
        if not self._told:
            self._told = True
            loop.call_later(STIR_SECONDS, self._stir)
        timer = loop.call_later(POLL_SECONDS, future.cancel)
        try:
            announcement = await future
        except asyncio.CancelledError:
            lobby.leave(caller.device, future)
            self._check_going_on(caller)
            raise Refusal(425, "no round yet; ask again") from None
        finally:
            timer.cancel()
        self.gate.metrics.add("joins")
        return self.gate.reply(caller, announcement)

    def _check_going_on(self, caller: Caller) -> None:
        """Refuse who comes after the end, or sits out."""
        if self.conductor.stopped is not None:
            raise Refusal(410, f"the training was stopped: {self.conductor.stopped}")
        if self.conductor.finished.is_set():
            raise Refusal(410, "the training is over")
        if caller.device in self.conductor.out:
            raise Refusal(410, SITS_OUT)

    def _has_joined(self, caller: Caller, message: Join) -> bool:
        """Whether the device is in the active attempt, under its present key, and has not
        answered it.

        A device that has taken a new key since it joined cannot answer this attempt: its
        mask would not come off. It waits for the next one.
        """
        if self.conductor.active is None:
            return False
        attempt = self.conductor.active.attempt
        public = attempt.publics.get(caller.device)
        has_same_key = public is not None and public == self.gate.public(caller.device)
        if caller.device not in self.conductor.active.told.payloads:
            return False  # it is told in a moment, with those who wait
        return has_same_key and message.done != (attempt.index, attempt.number)

    def _stir(self) -> None:
        self._told = False
        self.conductor.lobby.stir()

    async def model(self, request: Call) -> Reply:
        """The published model: its four files in one frame, signed.

        The header of the frame says how long each file is, in the order in which they
        follow.
        """
        if not is_published(self.out):
            raise Refusal(404, "no model yet")
        files = {name: (self.out / name).read_bytes() for name in FILES}
        sizes = {name: len(data) for name, data in files.items()}
        frame = pack(sizes, b"".join(files.values()))
        return Reply(frame, tacit_signature=self.gate.identity.sign(b"model", frame))

    def _stale(self, caller: Caller, stamp: int) -> Reply | None:
        """The refusal of a copied request, which is old, or not newer than the device's
        last one.

        It says, under a MAC, what time it is here and what the last stamp was, so that a
        device whose clock is off can stamp its next request right. The last stamps are in
        memory: after a restart a copy of a message that is less than five minutes old is
        taken once more, and may count the device among those who joined. So it may where this
        server's clock was set back: a last stamp that is too far ahead to be followed is
        forgotten, or nobody could join until the clock has caught up.
        """
        now = time.time_ns()
        latest = self._stamps.get(caller.device, 0)
        off = int(STAMP_SECONDS * 1e9)
        if latest >= now + off:
            latest = 0
        why = ""
        if abs(now - stamp) > off:
            why = "the device's clock is off by more than five minutes, or this is an old message"
        elif stamp <= latest:
            why = "a message of this device that is not new"
        if not why:
            self._stamps[caller.device] = stamp
            return None
        facts = {"error": why, "time": now, "after": latest}
        return self.gate.reply(caller, json.dumps(facts).encode(), 409)

    def _items(self, message: Join, payload: memoryview) -> NDArray[np.uint32]:
        """The rows that the device lists, where the scheme shows them."""
        shows_items = self.made.scheme.shows_items
        if message.items != shows_items or (len(payload) and not message.items) or len(payload) % 4:
            raise Refusal(400, "rows are listed where the plan asks for them, and only there")
        rows = np.frombuffer(payload, "<u4").astype(np.uint32)
        if not ascending(rows, len(self.made.public.catalogue)):
            raise Refusal(400, "row numbers that do not ascend inside the catalogue")
        return rows
