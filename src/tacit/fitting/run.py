"""The conductor of a fit: check, plan, pay, run, publish. The one place that knows methods
and engines both. It touches no rating: the engine does."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.data.catalogue import Catalogue
from tacit.engine import make_engine
from tacit.fitting.align import align
from tacit.fitting.check import check
from tacit.fitting.order import Order
from tacit.fitting.planned import check_cost
from tacit.fitting.price import facts, priced, seen_pattern
from tacit.fitting.publish import Said, purpose, signed
from tacit.methods.base import Method
from tacit.rounds.loop import Loop

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.ledger.book.book import Receipt
    from tacit.ledger.statement.statement import Statement
    from tacit.model.model import Model
    from tacit.model.shared import Shared
    from tacit.noise.release import Charge
    from tacit.rounds.options import Progress


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
        pattern = seen_pattern(order, schema, self.engine)
        made = priced(order, facts(order, schema, catalogue, pattern))
        self.public = made.public
        self.plan = made.plan
        self.engine.check(self.plan)
        self.events = made.events
        check_cost(self.events.values(), order)
        self.said = Said(
            order,
            self.public,
            self.plan,
            tuple(self.events.values()),
            declared_items=items is not None,
        )

    def go(self, charge: Charge) -> Shared:
        """Run the rounds on the engine and make the shared model."""
        from threadpoolctl import threadpool_limits

        if self.public.schema.max_ratings is not None:
            self.engine.limit(self.public.schema.max_ratings)
        state = self.method.first_state(self.public).after(
            people=self._declared()
        )
        loop = Loop(self.plan, state)
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
