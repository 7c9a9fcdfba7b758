"""The recommender: devices enrol and join here, rounds are conducted, the finished model is
handed out.

Guarantee (with an aggregator that does not collude): it sees who takes part, sums of at
least the least cohort with the noise of every device in them, and never a contribution. In
`paper` it also sees which items a device asks about.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import FastAPI
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.federation.protocol.http import Web
from tacit.federation.protocol.keys import Identity, believed, verify
from tacit.federation.protocol.task import Assembled, Task, assemble
from tacit.federation.protocol.wire import (
    Closing,
    Join,
    Opening,
    ascending,
    pack,
    unpack,
)
from tacit.federation.server.conductor import MIGRATIONS_TASK, Conductor
from tacit.federation.server.gate import DEVICES, Caller, Gate, Limits
from tacit.federation.server.publish import publish
from tacit.federation.server.store import Refusal, Store
from tacit.serving.http.plain import Call, Reply
from tacit.serving.http.watch import LOG, log

MIGRATIONS = ((*DEVICES, *MIGRATIONS_TASK),)
POLL_SECONDS = 25.0
"""How long a device waits for a round before it is told to ask again."""
ANSWER_SECONDS = 60.0
STIR_SECONDS = 0.003
STAMP_SECONDS = 300.0


class RemoteAggregator:
    """The aggregator over HTTP; its answers are believed only with its pinned signature.
    Patient with restarts."""

    def __init__(
        self, url: str, pin: str, identity: Identity, verify_tls: Any = True
    ) -> None:
        self.url = url.rstrip("/")
        self.pin = bytes.fromhex(pin)
        self.identity = identity
        self._web = Web(None if verify_tls is True else str(verify_tls), seconds=None)

    async def open(self, opening: Opening) -> None:
        status, _ = await self._send("/v1/open", pack(opening))
        if status != 200:
            why = (
                "it speaks another version of the protocol"
                if status == 426
                else f"status {status}"
            )
            raise Failure(f"the aggregator refused to open a round ({why})")

    async def close(self, closing: Closing) -> bytes | None:
        status, found = await self._send("/v1/close", pack(closing), closing.wait)
        if status not in (200, 409):
            raise Failure(f"the aggregator refused to close a round (status {status})")
        return found if status == 200 else None

    async def _send(
        self, path: str, body: bytes, wait: float = 0.0
    ) -> tuple[int, bytes]:
        """Ask until there is an answer; `wait` is how long the aggregator may take beside
        its work."""
        pause = 0.05
        while True:
            headers = {
                "tacit-signature": self.identity.sign(b"POST", path.encode(), body)
            }
            try:
                async with asyncio.timeout(wait + ANSWER_SECONDS):
                    answer = await self._web.post(self.url, path, body, headers)
                if answer.status < 500:
                    break
            except OSError:
                pass
            await asyncio.sleep(pause)
            pause = min(2.0, pause * 2)
        signature = answer.headers.get("tacit-signature", "")
        known = answer.status in (200, 409)
        if (
            known
            and signature
            and verify(self.pin, signature, b"answer", body, answer.body)
        ):
            return answer.status, answer.body
        if answer.status == 200:
            raise Failure(
                "the aggregator's answer is not signed by its pinned identity"
            )
        return 0 if known else answer.status, b""

    async def card(self) -> list[bytes]:
        answer = await self._web.get(self.url, "/v1/keys")
        return believed(json.loads(answer.body), self.pin.hex())

    async def stop(self) -> None:
        await self._web.close()


def recommender_app(
    location: str,
    identity: Identity,
    task: Task,
    aggregator: RemoteAggregator,
    aggregator_url: str,
    out: Path,
    limits: Limits | None = None,
    token: str | None = None,
    gather: float = 2.0,
    book: tuple[str | None, str] | None = None,
    accept_unbounded: bool = False,
) -> FastAPI:
    """The app. `book` names the ledger (place, population) that is charged before the first
    round; the model is written to `out` after the last."""
    made = assemble(task)
    store = Store(
        location, MIGRATIONS, "recommender", alone=True
    )  # two would announce two masks for one round
    gate = Gate("recommender", identity, store, limits or Limits(), token)
    conductor = Conductor(made, store, identity, aggregator, gate.public, gather)
    handler = _Recommender(
        gate, conductor, made, aggregator_url, aggregator.pin.hex(), out
    )

    async def conduct() -> None:
        try:
            await handler.conduct(book, accept_unbounded)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it was, /healthz must say that training stopped
            gate.ready = False
            LOG.exception(
                "training stopped",
                extra={"facts": {"reason": str(getattr(error, "message", ""))}},
            )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        log("recommender ready", task=task.name, rounds=len(made.plan.rounds))
        running = asyncio.create_task(conduct())
        yield
        log("recommender stops")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await aggregator.stop()
        store.close()

    app = gate.app(lifespan=lifespan)
    app.state.conductor = conductor
    gate.route("/v1/task", handler.task, "GET")
    gate.route("/v1/join", handler.join)
    gate.route("/v1/status", handler.status, "GET")
    gate.route("/v1/model", handler.model, "GET")
    return app


class _Recommender:
    def __init__(
        self,
        gate: Gate,
        conductor: Conductor,
        made: Assembled,
        aggregator_url: str,
        aggregator_pin: str,
        out: Path,
    ) -> None:
        self.gate = gate
        self.conductor = conductor
        self.made = made
        self.out = out
        self._stamps: dict[str, int] = {}
        self._told = False
        document = {
            "task": made.task.model_dump(mode="json"),
            "events": json.loads(made.events_text()),
            "aggregator": {"url": aggregator_url, "identity": aggregator_pin},
        }
        self._document = json.dumps(document).encode()
        self._signature = gate.identity.sign(b"task", self._document)

    async def conduct(
        self, book: tuple[str | None, str] | None, accept_unbounded: bool
    ) -> None:
        from tacit.federation.server.publish import reserve

        receipt = await asyncio.to_thread(
            reserve, self.made, self.gate.store, book, accept_unbounded
        )
        state = await self.conductor.run()
        came = self.conductor.private, self.conductor.spoilt
        await asyncio.to_thread(
            publish, self.made, state, receipt, self.out, book, *came
        )
        log("model published")

    async def task(self, request: Call) -> Reply:
        return Reply(
            self._document, kind="application/json", tacit_signature=self._signature
        )

    async def status(self, request: Call) -> Reply:
        """Public progress: counts only."""
        c = self.conductor
        facts = {
            "task": c.name,
            "round": c.index,
            "rounds": len(self.made.plan.rounds),
            "waiting": len(c.waiting),
            "finished": c.finished.is_set(),
            "published": (self.out / "model.json").is_file(),
            "seconds": c.times[-50:],
        }
        return Reply.facts(facts)

    async def join(self, request: Call) -> Reply:
        """Wait for a round; the answer is its announcement, with the state that this device
        needs."""
        body = await self.gate.body(request, 1 << 20)
        caller = await self.gate.caller(request, body)
        message, payload = unpack(Join, body)
        c = self.conductor
        if message.task != c.name:
            raise Refusal(404, "another task")
        if c.finished.is_set():
            raise Refusal(410, "the training is over")
        self._check_stamp(caller, message.stamp)
        items = self._items(message, payload)
        active = c.active
        here = active is not None and active.publics.get(
            caller.device
        ) == self.gate.public(caller.device)
        if (
            active is not None
            and here
            and message.done != (active.index, active.attempt)
        ):
            return self.gate.reply(
                caller, c.announcement(caller.device)
            )  # it lost the first answer
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        before = c.waiting.pop(caller.device, None)
        if before is not None:
            before[1].cancel()
        c.waiting[caller.device] = (items, future)
        c.places[caller.device] = message.place
        if not self._told:  # one look at all who came within a moment, not one for each
            self._told = True
            asyncio.get_running_loop().call_later(STIR_SECONDS, self._stir)
        try:
            async with asyncio.timeout(POLL_SECONDS):
                found = await future
        except (TimeoutError, asyncio.CancelledError):
            if c.waiting.get(caller.device, (None, None))[1] is future:
                del c.waiting[caller.device]
            if c.finished.is_set():
                raise Refusal(410, "the training is over") from None
            raise Refusal(425, "no round yet; ask again") from None
        self.gate.metrics.add("joins")
        return self.gate.reply(caller, found)

    def _stir(self) -> None:
        self._told = False
        self.conductor.news.set()

    async def model(self, request: Call) -> Reply:
        """The published model: its four files in one frame, signed."""
        if not (self.out / "model.json").is_file():
            raise Refusal(404, "no model yet")
        names = ("model.json", "items.json", "statement.json", "arrays.safetensors")
        files = {name: (self.out / name).read_bytes() for name in names}
        frame = pack(
            {name: len(data) for name, data in files.items()}, b"".join(files.values())
        )
        return Reply(frame, tacit_signature=self.gate.identity.sign(b"model", frame))

    def _check_stamp(self, caller: Caller, stamp: int) -> None:
        """A copied request is old, or not newer than the device's last one."""
        if abs(time.time() - stamp / 1e9) > STAMP_SECONDS:
            raise Refusal(
                409,
                "the device's clock is off by more than five minutes, or this is an old message",
            )
        if stamp <= self._stamps.get(caller.device, 0):
            raise Refusal(409, "a message of this device that is not new")
        self._stamps[caller.device] = stamp

    def _items(self, message: Join, payload: memoryview) -> NDArray[np.uint32]:
        index = min(self.conductor.index, len(self.made.plan.rounds) - 1)
        layout = self.made.layouts(index)[0]
        if (
            message.items != layout.sparse
            or (len(payload) and not message.items)
            or len(payload) % 4
        ):
            raise Refusal(
                400, "rows are listed where the plan asks for them, and only there"
            )
        rows = np.frombuffer(payload, "<u4").astype(np.uint32)
        if not ascending(rows, layout.size):
            raise Refusal(400, "row numbers that do not ascend inside the catalogue")
        return rows
