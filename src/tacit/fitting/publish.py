"""What is said about a fit: its statement, and the entries of the book that are not fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.data.schema import LIKES, Schema
from tacit.engine.base import Engine
from tacit.fitting.order import Order
from tacit.fitting.personal import WORDS as ASKED_LESS
from tacit.fitting.start import describe_start, with_earlier
from tacit.ledger.account.event import EvaluationEvent, Event
from tacit.ledger.statement import words
from tacit.ledger.statement.statement import Honesty
from tacit.methods import origin
from tacit.methods.base import Public
from tacit.rounds.plan import Plan

if TYPE_CHECKING:
    from tacit.fitting.charge import Payment
    from tacit.ledger.statement.statement import Schedule, Statement
    from tacit.model.shared import Shared


COUNTED = (
    "People were not declared: 1 % of the budget counted them, and the released count chose "
    "the plan below among plans that all cost the same."
)
PUBLIC_APART = (
    "that nobody among these people has another id in the private table: cells are kept apart "
    "from the fit in both tables, by id"
)
NOISE_OFF = "noise off: as printed but without its noise, for comparison only"


@dataclass(frozen=True)
class StatementInputs:
    """All that a statement is made of, but the receipt."""

    order: Order
    public: Public
    plan: Plan
    events: tuple[Event, ...]
    used: Mapping[str, Any]
    """The settings as they were used, not as they were asked for."""
    declared_items: bool
    """Whether the catalogue was given, and not read from the ratings."""
    counted: bool = False
    """Whether a count of people chose the plan."""
    noise_off: bool = False
    """Whether a printed form was run without its noise."""
    published: str = "model"
    """What the statement is about."""
    schedule: Schedule | None = None
    """The calendar that the release is one of."""
    unprotected: tuple[str, ...] = ()
    """What is not protected besides the usual."""

    def statement(
        self,
        engine: Engine,
        payment: Payment | None,
        *,
        private: bool,
        charged: Iterable[Event],
        count: float | None = None,
    ) -> Statement:
        """The promise in words and data. `charged` is what stands in the book: an envelope,
        where a count chose what was drawn; `count` is the number of people that was then
        released."""
        from tacit.ledger.statement.statement import build_statement

        order = self.order
        budget = order.budget
        return build_statement(
            method=order.method.name,
            unit=order.unit,
            engine=engine.name,
            like=engine.like,
            outside=self._outside(engine),
            trust=engine.trust,
            honest=self._honest(engine),
            events=self.events,
            charged=charged,
            calibration=order.calibration,
            budget=(budget.epsilon, budget.delta) if budget else None,
            per_person=tuple(self._bounds()),
            settings=tuple(self._choices()),
            public=with_earlier(tuple(self._assumed()), order.start),
            apart=order.apart,
            published=self.published,
            schedule=self.schedule,
            not_protected=tuple(self._exposed()),
            purpose=order.how.purpose,
            receipt=payment.receipt if payment else None,
            real_noise=private,
            local=order.method.local,
            played=True,
            total=payment.total if payment else None,
            starts=payment.starts if payment else (),
            chain_epsilon=payment.chain_epsilon if payment else None,
            supported=None
            if count is None or budget is None
            else words.supported(budget.delta, count),
            likes=self.public.schema.positive is not None,
        )

    def _exposed(self) -> Iterable[str]:
        """What is not protected besides the usual."""
        from tacit.ledger.statement import words

        if self.order.public is not None:
            yield words.PUBLIC_PEOPLE
        yield from self.unprotected

    def _honest(self, engine: Engine) -> Honesty | None:
        """What a federation in one process assumes of the parties that it plays."""
        played = engine.name in ("federated", "simulate")
        if not played or self.order.method.local:
            return None
        return Honesty(self.order.noise, "at least nine tenths of the devices")

    def _outside(self, engine: Engine) -> tuple[str, ...]:
        """Of a method that is not Tacit's: whose it is, and what was checked of it."""
        from tacit.ledger.statement import words

        whose = origin(type(self.order.method))
        if not whose:
            return ()
        sound = self.order.calibration == "sound"
        watched = sound and getattr(engine, "watched", False)
        return words.outside(whose, words.WATCHED if watched else words.UNWATCHED)

    def _bounds(self) -> Iterable[str]:
        """What one person may add, part by part."""
        if self.plan.limited is not None:
            yield f"at most {self.plan.limited} ratings of a person are used, chosen at random"
        if self.order.budgets is not None:
            yield ASKED_LESS
        limits = self.plan.limits
        for round_ in self.plan.rounds:
            for part in round_.parts:
                yield f"{round_.name}/{part.name}: {limits[id(part.bound)]}"

    def _choices(self) -> Iterable[str]:
        """Phrases of how settings were chosen."""
        if self.counted:
            yield COUNTED
        if self.noise_off:
            yield NOISE_OFF
        yield from self.plan.story
        yield from (f"{name} = {value}" for name, value in self.used.items())
        if self.order.devices:
            yield from self.order.devices.describe()
        if self.order.apart is not None:
            yield self.order.apart.describe()

    def _assumed(self) -> Iterable[str]:
        """Phrases of what the guarantee takes as public."""
        yield from public_scale(self.public.schema)
        yield (
            "the catalogue of items"
            if self.declared_items
            else "the set of item ids, which came from the ratings"
        )
        if self.order.method.local:
            yield "which devices take part"
        elif self.public.schema.users is not None:
            yield "the declared number of people"
        if self.public.pattern is not None:
            yield "who rated what"
        if self.order.public is not None:
            yield self.order.public.description
            if self.order.apart is not None:
                yield PUBLIC_APART
        if self.order.start is not None:
            yield describe_start(self.order.start)


def public_scale(schema: Schema) -> Iterable[str]:
    """The ends of the scale and whose word they are, or what is a like; a table of likes
    alone has no such rule."""
    if schema.positive is not None:
        if schema.source != LIKES:
            yield f"that {schema.positive:g} and more is a like"
        return
    layout = ""
    if schema.source != "given":
        layout = f" (implied by the layout: {schema.source})"
    yield f"the rating scale, {schema.low:g} to {schema.high:g}{layout}"


def purpose(order: Order) -> str:
    """For the book: what was asked for, else which entry paid for the model that this fit
    starts from."""
    if order.how.purpose:
        return order.how.purpose
    started = ""
    if order.start is not None:
        started = f", started from entry {order.start.statement.book_number}"
    return f"fit {order.method.name}{started}"


def signed(order: Order, shared: Shared) -> Shared:
    """With the digest of the model that it started from, if any."""
    if order.start is None:
        return shared
    settings = {**shared.settings, "started_from": order.start.shared.digest()}
    return replace(shared, settings=settings)


def book_evaluation(location: str | None, population: str, *, owner_only: bool) -> None:
    """Evaluations compare with raw ratings: booked once, refused on a capped book unless
    they stay with the owner."""
    from tacit.ledger.book.book import open_book

    open_book(location, population).reserve(
        (EvaluationEvent(name="evaluation"),),
        unit="user",
        budget=None,
        purpose="evaluation",
        method="",
        limit=None,
        owner_only=owner_only,
    )
