"""The conductor of a fit: check, plan, pay, run, publish. The one place that knows methods
and engines both. It touches no rating: the engine does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any

from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.engine import make_engine
from tacit.engine.blocks import fingerprint
from tacit.errors import SettingError
from tacit.fitting.charge import pay, settle_or_warn, stays_charged
from tacit.fitting.check import check, check_schema
from tacit.fitting.location import check_place
from tacit.fitting.order import Order
from tacit.fitting.personal import check_lessens, check_named, weights_of
from tacit.fitting.price import Counting, Planned, Priced, facts, known_people, priced, seen_pattern
from tacit.fitting.public_prior import check_beside, known_of
from tacit.fitting.publish import StatementInputs, purpose, signed
from tacit.fitting.rehearse import Rehearsed, rehearse_once
from tacit.fitting.rehearse import rehearse as rehearse_plan
from tacit.fitting.start import align
from tacit.fitting.trained import Watch, kept_people, owners_model
from tacit.kernels.pools import one_blas_thread
from tacit.ledger.account.event import Event
from tacit.methods.base import Method
from tacit.notices import warn
from tacit.rounds.loop import Loop
from tacit.rounds.round import Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from tacit.data.budgets import Budgets
    from tacit.data.held_out import HeldOut
    from tacit.data.public import PublicPeople
    from tacit.engine.spark.table import SparkRatings
    from tacit.fitting.charge import Payment
    from tacit.ledger.statement.statement import Statement
    from tacit.model.model import Model
    from tacit.model.person.base import PersonalModel
    from tacit.model.shared import Shared
    from tacit.rounds.options import Progress


def fit(
    method: Method,
    ratings: Ratings | SparkRatings,
    *,
    items: Catalogue | None = None,
    users: int | None = None,
    progress: Progress | None = None,
    start: Model | None = None,
    order: Order | None = None,
    keep_apart: float | None = None,
    public: PublicPeople | None = None,
    budgets: Budgets | None = None,
    paying: Callable[[], None] = lambda: None,
) -> Model:
    """Charge the ledger in one transaction, run the plan, and publish a model with its
    statement. `order` is given by who has checked the method already; `keep_apart` is the
    share of the ratings that is not shown to the fit; `public` are people whose ratings are
    public; `budgets` is what people asked for who want less revealed than the rest; `paying`
    is called when only the charge is left to do before noise is drawn."""
    from tacit.model.model import Model

    if order is None:
        people = ratings.schema.declare(users).users
        order = check(
            method,
            people=people,
            start=start,
            keep_apart=keep_apart,
            public=public,
            budgets=budgets,
        )
    run = _Run(method, ratings, items, users, progress, start, order=order)
    if order.budget is None:
        return Model(run.go(), run.statement(None))
    run.rehearse()
    paying()
    payment = pay(
        order, run.fingerprint(), tuple(run.charged), run.public.schema.max_ratings, purpose(order)
    )
    receipt = payment.receipt
    with stays_charged(receipt):
        shared = run.go(entry=receipt.hash)
        promise = run.statement(payment)
    # What was charged as an envelope is now told round by round.
    drawn_events = run.events if run.counting is not None else None
    promise = settle_or_warn(order.book, receipt, promise, shared.digest(), drawn_events)
    return Model(shared, promise, fresh=True)


def trial(
    method: Method,
    ratings: Ratings | SparkRatings,
    *,
    items: Catalogue | None = None,
    users: int | None = None,
    progress: Progress | None = None,
    start: Model | None = None,
    noise_off: bool = False,
    watch: Watch | None = None,
    public: PublicPeople | None = None,
    rehearsed: Rehearsed | None = None,
) -> Model:
    """The same run for the owner's eyes: real noise, nothing published, no entry of its own (see
    `tacit.fitting.publish.book_evaluation`).

    `noise_off` runs a printed form (calibration `paper`) without its noise: a baseline for
    comparison. Such a model is marked NOT PRIVATE and cannot be saved. `watch` is called after each
    round of a printed form. `rehearsed` is what `rehearse` returned for this method."""
    run = _Run(
        method,
        ratings,
        items,
        users,
        progress,
        start,
        noise_off=noise_off,
        people=public,
        rehearsed=rehearsed,
    )
    run.rehearse(once=True)
    if run.order.calibration != "sound":
        run.watch = watch
    shared = run.go()
    return owners_model(
        shared, run.statement(None), run.trained, run.engine, may_save=not noise_off
    )


def rehearse(
    method: Method,
    ratings: Ratings | SparkRatings,
    *,
    items: Catalogue | None = None,
    users: int | None = None,
    public: PublicPeople | None = None,
    once: bool = False,
) -> Rehearsed:
    """Plan a fit and run it on invented people, before anything is charged: what would stop
    it half-way is raised here. `once`: not again in this process, nor by its trials."""
    run = _Run(method, ratings, items, users, None, people=public)
    run.rehearse(once=once)
    return Rehearsed(method, run.public, run.priced)


def _without_held_out(held_out: HeldOut, ratings: Ratings | SparkRatings) -> Any:
    """What a fit may see, where it is."""
    if isinstance(ratings, Ratings):
        return held_out.training_ratings(ratings)
    return ratings.seen_by(held_out)


class _Run:
    """One fit from public facts to a shared model."""

    def __init__(
        self,
        method: Method,
        ratings: Ratings | SparkRatings,
        items: Catalogue | None,
        users: int | None,
        progress: Progress | None,
        start: Model | None = None,
        *,
        order: Order | None = None,
        noise_off: bool = False,
        people: PublicPeople | None = None,
        rehearsed: Rehearsed | None = None,
    ) -> None:
        check_place(ratings, method.engine)
        schema = ratings.schema
        if users is not None:
            schema = schema.declare(users)
        if order is None:
            order = check(method, people=schema.users, start=start, owner_only=True, public=people)
        check_schema(order, schema)
        if order.public is not None:
            check_beside(order.public, ratings)
        if order.budgets is not None:
            check_named(ratings)
        if noise_off and order.calibration != "paper":
            raise SettingError(
                "noise off is for what papers print",
                remedy="use calibration paper; beside sound stands the twin, none",
            )
        self.noiseless = noise_off or order.budget is None
        self.method = method
        self.order = order
        all_ratings = ratings
        if order.apart is not None:
            ratings = _without_held_out(order.apart, ratings)
        self.declared_items = items is not None
        execution = replace(order.how, engine=order.runs_on)
        if progress is not None:
            execution = replace(execution, progress=progress)
        sound = order.calibration == "sound"
        device_budget = order.budget if sound and method.local else None
        self.engine = make_engine(ratings, execution, budget=device_budget, printed=not sound)
        self.fingerprint = (
            partial(fingerprint, all_ratings)
            if isinstance(all_ratings, Ratings)
            else self.engine.fingerprint
        )
        """Of all ratings, those that are kept apart too."""
        catalogue = align(order, schema, ratings, items, self.engine)
        pattern = seen_pattern(order, schema, self.engine)
        self.public = facts(order, schema, catalogue, pattern)
        if order.public is not None:
            public_prior = known_of(order.public, catalogue, order.apart)
            self.public = replace(self.public, known=public_prior)
        self.planned: Planned | None = None
        """What is run, as soon as it is settled."""
        self.counting: Counting | None = None
        """Given where a count of people settles it."""
        self.counted: float | None = None
        """The number of people that was released, where none was declared."""
        self.events: tuple[Event, ...] = ()
        """From which noise is drawn: those of the count too."""
        self.watch: Watch | None = None
        self.trained: PersonalModel | None = None
        """How a paper predicts for the people it was trained on: for the owner alone."""
        self._settle_plan(rehearsed)

    def _settle_plan(self, rehearsed: Rehearsed | None) -> None:
        """The plan, or the plans among which a count of people will choose."""
        priced_plan = rehearsed and rehearsed.plan_for(self.method, self.public)
        if not isinstance(priced_plan, Priced):
            people = known_people(self.order, self.engine)
            priced_plan = priced(self.order, self.public, people, self.engine.check)
        self.priced = priced_plan
        self.counting = priced_plan.counting
        self.charged = priced_plan.charged
        if priced_plan.settled is not None:
            self._begin(priced_plan.settled)
        if self.order.budgets is not None:
            plans = [candidate.plan for candidate in self._shapes()]
            check_lessens(plans, self.charged)

    @property
    def settled(self) -> Planned:
        """The plan that runs; rounds that are chosen on the way settle it."""
        assert self.planned is not None
        return self.planned

    def first_state(self) -> State:
        """What is public before the first round of the plan."""
        state = self.method.first_state(self.settled.public)
        return replace(state, people=self._people())

    def _begin(self, planned: Planned) -> None:
        """From here on the plan is settled."""
        self.planned = planned
        self.events = (*self.events, *planned.events.values())

    def rehearse(self, *, once: bool = False) -> None:
        """Before anything is charged: try every plan that may be chosen on invented people;
        `once` in a process for the same public facts."""
        if self.order.calibration != "sound":
            return  # papers and twins have no promise to keep
        for candidate in self._shapes():
            if once:
                rehearse_once(self.order, candidate.public)
            else:
                rehearse_plan(self.order, candidate.public)

    def _shapes(self) -> list[Planned]:
        """The plan, or one of each shape among which a count will choose."""
        if self.counting is None:
            return [self.settled]
        plans = self.counting.plans.values()
        return list({candidate.shape: candidate for candidate in plans}.values())

    def go(self, *, entry: str = "") -> Shared:
        """Run the rounds on the engine and make the shared model. `entry` is the hash of the
        reservation; empty for the owner's eyes."""
        state = self.released(entry=entry)
        public = self.settled.public
        if self.order.calibration != "sound":
            people = kept_people(self.engine)
            self.trained = self.method.trained(public, state, people)
        shared = signed(self.order, self.method.finish(public, state))
        # The number that a plan was made for was not declared.
        return replace(shared, schema=self.public.schema)

    def released(self, *, entry: str = "") -> State:
        """Run the rounds on the engine: the public state that they leave."""
        if self.order.budgets is not None:
            self._lessen(self.order.budgets)
        if self.public.schema.max_ratings is not None:
            self.engine.limit(self.public.schema.max_ratings)
        # Many small products: a pool of threads only waits on itself. And one thread always:
        # with two a long product has other last bits, and so would the next round's sums.
        with one_blas_thread():
            private = self._count(entry)
            loop = Loop(self.settled.plan, self.first_state())
            self._run(loop, self.settled.events.values(), entry)
        self.private = not self.noiseless and private and loop.private
        if self.engine.refused:
            warn(
                f"{self.engine.refused:,} answers were not given: the devices' own "
                "ledgers have no room"
            )
        state: State = loop.state
        return state

    def _lessen(self, budgets: Budgets) -> None:
        """Give those who asked for less the weight that is worth it, by what was charged."""
        from tacit.engine.threads import Threads

        assert self.order.budget is not None
        assert isinstance(self.engine, Threads)
        delta = self.order.budget.delta
        self.engine.lessen(weights_of(budgets, self.charged, delta))

    def _count(self, entry: str) -> bool:
        """Count the people where nobody declared them, and choose the plan; whether that had
        its noise."""
        if self.counting is None:
            return True
        loop = Loop(self.counting.plan, State())
        self.events = (self.counting.event,)
        self._run(loop, self.events, entry)
        self.counted = float(loop.state.people)
        self._begin(self.counting.plan_for(self.counted))
        return loop.private

    def _run(self, loop: Loop, events: Iterable[Event], entry: str) -> None:
        from tacit.noise.release import Charge, NoNoise

        charge = NoNoise() if self.noiseless else Charge(events, entry=entry)
        watch = None if self.watch is None else self._notify_watcher
        loop.run(partial(self.engine.run, charge=charge), watch)

    def _notify_watcher(self, round_: Round, state: State) -> None:
        """Call `watch` after a round of a printed form, with its people's private state."""
        assert self.watch is not None
        self.watch(round_.name, state, kept_people(self.engine))

    def _people(self) -> float:
        """The number of people that a plan starts from: counted, declared or seen. In the
        local model the server sees which devices answer; twins and papers look."""
        if self.counted is not None:
            return self.counted
        if not self.method.needs_people:
            return nan
        declared = self.public.schema.users
        if self.method.local or declared is None:
            return float(self.engine.people)
        return float(declared)

    def statement(self, payment: Payment | None) -> Statement:
        """The statement of this run: the guarantee, its conditions, and what was charged."""
        inputs = StatementInputs(
            self.order,
            self.public,
            self.settled.plan,
            self.events,
            used=self.method.used(self.settled.public),
            declared_items=self.declared_items,
            counted=self.counting is not None,
            noise_off=self.noiseless and self.order.budget is not None,
        )
        return inputs.statement(
            self.engine, payment, private=self.private, count=self.counted, charged=self.charged
        )
