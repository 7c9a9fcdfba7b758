"""The conductor of a fit: check, plan, pay, run, publish. The one place that knows methods
and engines both. It touches no rating: the engine does."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.data.catalogue import Catalogue
from tacit.engine import make_engine
from tacit.errors import Failure
from tacit.fitting.align import align
from tacit.fitting.alone import check_once
from tacit.fitting.check import check
from tacit.fitting.count import counted
from tacit.fitting.order import Order
from tacit.fitting.publish import Said, purpose, signed
from tacit.ledger.account import account
from tacit.ledger.account.event import Event, Unbounded
from tacit.methods.base import Method, Public
from tacit.rounds.loop import Loop
from tacit.rounds.people import Turns
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import AnyState
from tacit.rounds.shares import for_devices, shared_events

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.ledger.book.book import Receipt
    from tacit.ledger.statement.statement import Statement
    from tacit.model.model import Model
    from tacit.model.shared import Shared
    from tacit.noise.release import Charge
    from tacit.rounds.options import Progress

ROUNDING = 1e-9
"""By how much the accountant may differ from the planner, since both add up floats."""


def fit(
    method: Method,
    ratings: Ratings,
    *,
    items: Catalogue | None = None,
    users: int | None = None,
    progress: Progress | None = None,
    start: Model | None = None,
    order: Order | None = None,
) -> Model:
    """Charge the ledger in one transaction, run the plan, and publish a model with its
    statement. `order` is given by who has checked the method already."""
    from tacit.model.model import Model
    from tacit.noise.release import Charge, NoNoise

    if order is None:
        people = ratings.schema.declare(users).users
        order = check(method, people=people, start=start)
    run = _Run(method, ratings, items, users, progress, start, order=order)
    if order.budget is None:
        return Model(run.go(NoNoise()), run.statement(None))
    run.check_alone()
    warning = order.book.fingerprint(run.engine.fingerprint())
    if warning:
        warnings.warn(warning, stacklevel=2)
    events = tuple(run.events.values())
    receipt = order.book.reserve(
        events,
        unit=order.unit,
        budget=(order.budget.epsilon, order.budget.delta),
        purpose=purpose(order),
        method=method.name,
        limit=run.plan.limited,
        accept_unbounded=order.how.accept_unbounded,
    )
    shared = run.go(Charge(events, entry=receipt.hash))
    order.book.commit(receipt, shared.digest())
    return Model(shared, run.statement(receipt))


def trial(
    method: Method,
    ratings: Ratings,
    *,
    items: Catalogue | None = None,
    users: int | None = None,
    progress: Progress | None = None,
    start: Model | None = None,
) -> Model:
    """The same run for the owner's eyes: real noise, nothing published, no entry of its own
    (see `tacit.fitting.publish.book_evaluation`)."""
    from tacit.model.model import Model
    from tacit.noise.release import Charge, NoNoise

    run = _Run(method, ratings, items, users, progress, start)
    run.check_alone()
    charge = (
        NoNoise() if run.order.budget is None else Charge(run.events.values())
    )
    return Model(run.go(charge), run.statement(None))


class _Run:
    """One fit from public facts to a shared model."""

    def __init__(
        self,
        method: Method,
        ratings: Ratings,
        items: Catalogue | None,
        users: int | None,
        progress: Progress | None,
        start: Model | None = None,
        *,
        order: Order | None = None,
    ) -> None:
        schema = ratings.schema.declare(users)
        if order is None:
            order = check(
                method, people=schema.users, start=start, owner_only=True
            )
        self.method = method
        self.order = order
        how = replace(order.how, engine=order.runs_on)
        if progress is not None:
            how = replace(how, progress=progress)
        sound = order.calibration == "sound"
        own = order.budget if sound and method.local else None
        self.engine = make_engine(ratings, how, budget=own, printed=not sound)
        catalogue = align(order, schema, ratings, items, self.engine)
        pattern = None
        if (
            order.unit == "value"
        ):  # which cells are kept is settled before the plan
            if schema.max_ratings is not None:
                self.engine.limit(schema.max_ratings)
            pattern = self.engine.pattern()
        self.public = Public(
            schema,
            catalogue,
            order.unit,
            order.calibration,
            order.budget,
            pattern,
            None if order.start is None else order.start.shared,
        )
        self.plan = self._plan()
        self.engine.check(self.plan)
        self.events: dict[str, Event] = {}
        if order.budget is not None:
            self.events = _events(self.plan, order, order.budget)
            _check_cost(self.events, order, order.budget)
        self.said = Said(
            order,
            self.public,
            self.plan,
            tuple(self.events.values()),
            declared_items=items is not None,
        )

    def _plan(self) -> Plan:
        """The method's plan, after a count of people where their number is neither declared
        nor seen."""
        schema = self.public.schema
        plan = self.method.plan(self.public)
        sound = self.order.calibration == "sound"  # papers count as they are
        if schema.users is None and sound and not self.method.local:
            plan = counted(plan)
        if self.order.is_shared and self.order.budget is not None:
            plan = for_devices(plan)
        return replace(plan, limited=schema.max_ratings)

    def check_alone(self) -> None:
        """Refuse, before anything is paid, a method that mixes people."""
        if self.order.calibration == "sound":
            check_once(
                self.method, self.plan, self.public, self._first, self.events
            )

    @cached_property
    def _first(self) -> AnyState:
        """What is public before the first round."""
        state = self.method.first_state(self.public)
        return state.after(people=self._declared())

    def go(self, charge: Charge) -> Shared:
        """Run the rounds on the engine and make the shared model."""
        from threadpoolctl import threadpool_limits

        if self.public.schema.max_ratings is not None:
            self.engine.limit(self.public.schema.max_ratings)
        loop = Loop(self.plan, self._first)
        # Many small products: a pool of threads only waits on itself.
        with threadpool_limits(self.order.how.threads or 1):
            round_ = loop.next()
            while round_ is not None:
                released = self.engine.run(round_, loop.state, charge)
                round_ = loop.step(round_, released)
        self.private = self.order.budget is not None and loop.private
        if self.engine.refused:
            warnings.warn(
                f"{self.engine.refused:,} answers were not given: the devices' own "
                "ledgers have no room",
                stacklevel=2,
            )
        return signed(self.order, self.method.finish(self.public, loop.state))

    def _declared(self) -> float:
        """The number of people that a plan starts from."""
        order = self.order
        if self.method.local:  # the server sees which devices answer
            return float(self.engine.people)
        shown = order.budget is None or order.calibration == "paper"
        usual = self.engine.people if shown else 1
        return float(self.public.schema.users or usual)

    def statement(self, receipt: Receipt | None) -> Statement:
        """The promise in words and data."""
        return self.said.statement(self.engine, receipt, private=self.private)


def _check_cost(events: dict[str, Event], order: Order, budget: Budget) -> None:
    """The last word before the ledger: the accountant, not the planner, says what all
    rounds cost together."""
    asked = tuple(events.values())
    if any(isinstance(event, Unbounded) for event in asked):
        return
    cost = account.epsilon(asked, budget.delta, unit=order.unit)
    if cost > budget.epsilon * (1 + ROUNDING):
        raise Failure(
            f"the plan costs epsilon {cost:.6g}, more than the {budget.epsilon:g} "
            "that was asked for"
        )


def _events(plan: Plan, order: Order, budget: Budget) -> dict[str, Event]:
    """The plan's events; where devices add the noise, in laws that can be shared among them."""
    if order.is_shared or any(
        isinstance(r.takes_part, Turns) for r in plan.rounds
    ):
        return shared_events(plan, budget)
    return plan.events(budget)
