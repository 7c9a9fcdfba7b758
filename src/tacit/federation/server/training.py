"""One training of a recommender, from the charge to the published model, and how it is run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tacit.errors import StorageError, TacitError
from tacit.federation.server.conductor import Conductor
from tacit.federation.server.control import obey
from tacit.federation.server.enrolment import Terms
from tacit.federation.server.gate import Gate
from tacit.federation.server.publish import Charged, check_unused, publish, reserve
from tacit.federation.server.remote import RemoteAggregator
from tacit.federation.server.rounds import patiently
from tacit.serving.http.limits import Limits
from tacit.serving.http.watch import LOG, log

ABANDON_SECONDS = 10.0
"""For the aggregator to hear that a training was aborted."""


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
