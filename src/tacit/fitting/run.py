"""The conductor of a fit: check, plan, pay, run, publish. The one place that knows methods
and engines both."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.bound import PersonCount, Rows, limit_ratings
from tacit.data.catalogue import Catalogue
from tacit.engine.gram import check_memory
from tacit.errors import Failure, SettingError
from tacit.ledger.account import account
from tacit.ledger.account.event import Evaluation, Event, Reserve, Unbounded, Unit
from tacit.methods.base import Calibration, Method, Pattern, Public
from tacit.rounds.loop import passed_over
from tacit.rounds.people import Turns
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.engine.base import Progress
    from tacit.engine.simulate import Scenario
    from tacit.ledger.book.book import Receipt
    from tacit.ledger.statement.statement import Statement
    from tacit.model.model import Model
    from tacit.model.shared import Shared
    from tacit.noise.release import Charge

UNDECLARED_DELTA = 1e-3
"""The largest delta where the number of people is not declared."""
COUNT_SHARE = 0.01
"""Of the budget, for a noisy count of people where their number is not declared."""


@dataclass(frozen=True)
class Order:
    """A checked request: everything about a fit but the ratings."""

    method: Method
    unit: Unit
    calibration: Calibration
    budget: Budget | None
    engine: str
    settings: Mapping[str, Any]
    devices: Scenario | None = None


def check(method: Method, *, people: int | None = None) -> Order:
    """Refuse what cannot be, before a rating is read."""
    calibration = method.calibration
    if calibration not in ("sound", "paper", "none"):
        raise SettingError(
            f"the calibration {calibration!r} is unknown",
            remedy="use sound, paper or none",
        )
    if calibration not in method.calibrations:
        raise SettingError(
            f"{method.name} has no {calibration} calibration",
            remedy=f"use {' or '.join(method.calibrations)}",
        )
    unit = _unit(method)
    engine = method.engine or ("threads" if "threads" in method.engines else "simulate")
    if engine not in method.engines:
        raise SettingError(
            f"{method.name} does not run on {engine!r}",
            remedy=f"use {' or '.join(method.engines)}",
        )
    if method.threads is not None and method.threads < 1:
        raise SettingError(
            f"threads is {method.threads}; it must be at least 1",
            remedy="leave --threads out to use all cores",
        )
    settings, devices = method.settings.model_dump(), _devices(method, engine)
    if calibration == "none":
        return Order(method, unit, calibration, None, engine, settings, devices)
    if method.epsilon is None:
        raise SettingError(
            "epsilon is missing: how much may the model reveal about one person?",
            remedy="`tacit plan` shows what a budget buys; then give --epsilon",
        )
    budget = Budget(float(method.epsilon), float(method.delta))
    check_delta(budget, people)
    return Order(method, unit, calibration, budget, engine, settings, devices)


def _devices(method: Method, engine: str) -> Scenario | None:
    """How the devices of the local model behave, if it was said."""
    if not method.devices:
        return None
    from tacit.engine.simulate import Scenario

    if not method.local:
        raise SettingError(
            f"{method.name} has no devices that answer for themselves",
            remedy="leave --devices out",
        )
    return Scenario.told(method.devices, engine)


def check_delta(budget: Budget, people: int | None) -> None:
    """A delta above one in the number of people would allow publishing someone outright."""
    if people is not None and people < 1:
        raise SettingError(f"users is {people}; it must be at least 1")
    most = 1 / people if people is not None else UNDECLARED_DELTA
    if budget.delta > most:
        whom = (
            f"one in {people} people"
            if people is not None
            else "what people who are not counted can be asked to bear"
        )
        raise SettingError(
            f"delta is {budget.delta:g}, above {whom}",
            remedy=f"use a delta of at most {most:.1g}"
            + ("; 1e-6 is the default" if most > 1e-6 else ""),
        )


def check_funds(order: Order, limit: int | None = None) -> None:
    """Ask the book, before a rating is read, whether it would bear this budget."""
    from tacit.ledger.account.calibrate import gaussian_mu
    from tacit.ledger.book.book import open_book

    if order.budget is None:
        return
    epsilon, delta = order.budget.epsilon, order.budget.delta
    event: Event
    if order.calibration == "paper":
        event = Unbounded(
            name="plan",
            claimed_epsilon=epsilon,
            claimed_delta=delta,
            reason="as printed",
        )
    elif delta > 0:
        event = Reserve(name="plan", mu=gaussian_mu(epsilon, delta))
    else:
        event = Reserve(name="plan", epsilon=epsilon)
    open_book(order.method.ledger, order.method.population).check(
        (event,),
        unit=order.unit,
        budget=(epsilon, delta),
        limit=limit,
        accept_unbounded=order.method.accept_unbounded,
    )


def _unit(method: Method) -> Unit:
    if method.calibration == "paper" and method.paper_unit is not None:
        if method.unit not in (None, method.paper_unit):
            raise SettingError(
                f"the paper of {method.name} claims the unit {method.paper_unit}, not "
                f"{method.unit}",
                remedy="leave --unit out, or use --calibration sound",
            )
        return method.paper_unit
    unit = method.unit or ("user" if "user" in method.units else method.units[0])
    if unit not in method.units:
        raise SettingError(
            f"{method.name} has no promise for the unit {unit!r}",
            remedy=f"use {' or '.join(method.units)}",
        )
    return unit


def fit(
    method: Method,
    ratings: Ratings,
    *,
    items: Catalogue | None = None,
    users: int | None = None,
    progress: Progress | None = None,
    start: Model | None = None,
) -> Model:
    """Charge the ledger in one transaction, run the plan, and publish a model with its
    statement."""
    from tacit.ledger.book.book import open_book
    from tacit.model.model import Model
    from tacit.noise.release import Charge, NoNoise

    if start is not None:
        from tacit.fitting.start import check_start

        check_start(method, start)
    run = _Run(method, ratings, items, users, progress, start)
    if run.order.budget is None:
        return Model(run.go(NoNoise()), run.statement(None))
    book = open_book(method.ledger, method.population)
    warning = book.fingerprint(fingerprint(run.ratings))
    if warning:
        warnings.warn(warning, stacklevel=2)
    events = tuple(run.events.values())
    receipt = book.reserve(
        events,
        unit=run.order.unit,
        budget=(run.order.budget.epsilon, run.order.budget.delta),
        purpose=method.purpose or f"fit {method.name}{run.from_entry}",
        method=method.name,
        limit=run.plan.limited,
        accept_unbounded=method.accept_unbounded,
    )
    shared = run.go(Charge(events, entry=receipt.hash))
    book.commit(receipt, shared.digest())
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
    (see `book_evaluation`)."""
    from tacit.model.model import Model
    from tacit.noise.release import Charge, NoNoise

    run = _Run(method, ratings, items, users, progress, start)
    shared = run.go(
        NoNoise() if run.order.budget is None else Charge(run.events.values())
    )
    return Model(shared, run.statement(None))


def book_evaluation(location: str | None, population: str, *, owner_only: bool) -> None:
    """Evaluations compare with raw ratings: booked once, refused on a capped book unless
    they stay with the owner."""
    from tacit.ledger.book.book import open_book

    open_book(location, population).reserve(
        (Evaluation(name="evaluation"),),
        unit="user",
        budget=None,
        purpose="evaluation",
        method="",
        limit=None,
        owner_only=owner_only,
    )


def fingerprint(ratings: Ratings) -> bytes:
    """Bytes that tell one set of people from another; the book keeps only a keyed digest of
    them."""
    return "\n".join(
        list(ratings.users)[:: max(1, len(ratings.users) // 1000)]
    ).encode()


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
    ) -> None:
        schema = ratings.schema.declare(users)
        self.order = check(method, people=schema.users)
        self.method, self.progress = method, progress
        self.start, self.declared_items = start, items is not None
        catalogue = items or Catalogue(ratings.items)
        if start is not None:
            from tacit.fitting.start import both_catalogues

            catalogue = both_catalogues(method, schema, start.shared, items, ratings)
        self.ratings = _align(ratings, catalogue)
        public = Public(
            schema,
            catalogue,
            self.order.unit,
            self.order.calibration,
            self.order.budget,
            self._pattern(schema.max_ratings),
            None if start is None else start.shared,
        )
        plan = method.plan(public)
        if (
            schema.users is None
            and self.order.calibration == "sound"
            and not method.local
        ):  # papers count as they are
            plan = plan.after(_count_people(), COUNT_SHARE)
        if _shared(self.order) and self.order.budget is not None:
            from tacit.rounds.shares import for_devices

            plan = for_devices(plan)
        self.public, self.plan = public, replace(plan, limited=schema.max_ratings)
        check_memory(self.plan)
        self.events: dict[str, Event] = {}
        if self.order.budget is not None:
            self.events = _events(self.plan, self.order)
            self._check_cost(self.order.budget)

    @property
    def _engine(self) -> str:
        """In the local model a wire adds nothing to simulate: every device answers for itself."""
        return (
            "simulate"
            if self.order.engine == "federated" and self.method.local
            else self.order.engine
        )

    def _pattern(self, most: int | None) -> Pattern | None:
        """At the unit `value` who rated what is public, and a plan may use it: which cells
        are kept is settled here."""
        if self.order.unit != "value":
            return None
        if most is not None:
            from tacit.noise import bits

            self.ratings = limit_ratings(self.ratings, most, bits.fresh().words)
        return Pattern(self.ratings.ptr, self.ratings.item)

    def _check_cost(self, budget: Budget) -> None:
        """The last word before the ledger: the accountant, not the planner, says what all
        rounds cost together."""
        events = tuple(self.events.values())
        if any(isinstance(event, Unbounded) for event in events):
            return
        cost = account.epsilon(events, budget.delta, unit=self.order.unit)
        if cost > budget.epsilon * (1 + 1e-9):
            raise Failure(
                f"the plan costs epsilon {cost:.6g}, more than the {budget.epsilon:g} "
                "that was asked for"
            )

    def go(self, charge: Charge) -> Shared:
        """Run the rounds on the engine and make the shared model."""
        from threadpoolctl import threadpool_limits

        from tacit.engine import make_engine
        from tacit.noise import bits

        ratings = self.ratings
        if self.public.schema.max_ratings is not None:
            ratings = limit_ratings(
                ratings, self.public.schema.max_ratings, bits.fresh().words
            )
        budget, printed = self.order.budget, self.order.calibration == "paper"
        cap, devices = None, self.order.devices
        if budget is not None and not printed and self.method.local:
            cap = (
                budget.epsilon
                if devices is None or devices.cap is None
                else devices.cap,
                budget.delta,
            )
        engine = make_engine(
            self._engine, ratings, self.method.threads, self.progress, cap, devices
        )
        declared = self.public.schema.users or (
            ratings.n_users if budget is None or printed else 1
        )
        if self.method.local:  # the server sees which devices answer
            declared = ratings.n_users
        state = self.method.first_state(self.public).after(people=float(declared))
        self.private = self.order.budget is not None
        with threadpool_limits(
            self.method.threads or 1
        ):  # many small products: a pool of threads only waits on itself
            run: list[str] = []
            for round_ in self.plan.rounds:
                if passed_over(self.plan, round_, state, run):
                    continue
                run.append(round_.name)
                released = engine.run(round_, state, charge)
                self.private &= all(part.private for part in released.values())
                state = round_.absorb(state, released)
        if refused := getattr(engine, "refused", 0):
            warnings.warn(
                f"{refused:,} answers were not given: the devices' own ledgers have no room",
                stacklevel=2,
            )
        return self._signed(self.method.finish(self.public, state))

    def _signed(self, shared: Shared) -> Shared:
        """With the digest of the model that it started from, if any."""
        if self.start is None:
            return shared
        return replace(
            shared,
            settings={**shared.settings, "started_from": self.start.shared.digest()},
        )

    @property
    def from_entry(self) -> str:
        """For the book: which entry paid for the model that this one starts from."""
        return (
            ""
            if self.start is None
            else f", started from entry {self.start.statement.book_number}"
        )

    def statement(self, receipt: Receipt | None) -> Statement:
        """The promise in words and data."""
        from tacit.ledger.statement.statement import build_statement

        public = ["the rating scale"]
        public.append(
            "the catalogue of items" if self.declared_items else "the set of item ids"
        )
        if self.method.local:
            public.append("which devices take part")
        elif self.public.schema.users is not None:
            public.append("the declared number of people")
        if self.public.pattern is not None:
            public.append("who rated what")
        if self.start is not None:
            from tacit.fitting.start import before

            public.append(before(self.start))
        bounds = [
            f"{r.name}/{p.name}: {p.bound.words()}"
            for r in self.plan.rounds
            for p in r.parts
        ]
        if self.plan.limited is not None:
            bounds.insert(
                0,
                f"at most {self.plan.limited} ratings of a person are used, chosen at random",
            )
        chosen = [
            *self.plan.story,
            *(f"{name} = {value}" for name, value in self.order.settings.items()),
        ]
        chosen += self.order.devices.words() if self.order.devices else []
        budget = self.order.budget
        return build_statement(
            method=self.method.name,
            unit=self.order.unit,
            engine=self._engine,
            events=tuple(self.events.values()),
            calibration=self.order.calibration,
            budget=(budget.epsilon, budget.delta) if budget else None,
            per_person=bounds,
            settings=chosen,
            public=public,
            purpose=self.method.purpose,
            receipt=receipt,
            real_noise=self.private,
            local=self.method.local,
        )


def _events(plan: Plan, order: Order) -> dict[str, Event]:
    """The plan's events; where devices add the noise, in laws that can be shared among them."""
    assert order.budget is not None
    if _shared(order) or any(isinstance(r.takes_part, Turns) for r in plan.rounds):
        from tacit.rounds.shares import shared_events

        return shared_events(plan, order.budget)
    return plan.events(order.budget)


def _shared(order: Order) -> bool:
    """Whether devices add the noise together. In the local model each adds all of it, over
    whatever wire."""
    return order.engine == "federated" and not order.method.local


def _count_people() -> Round:
    """Where the number of people is not declared, the first event is a noisy count of them."""

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        return {"count": Rows.one_each(np.ones((len(block.people), 1)))}

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        return state.after(people=max(1.0, float(released["count"].value[0, 0])))

    return Round("people", (Part("count", 1, PersonCount()),), contribute, absorb)


def _align(ratings: Ratings, items: Catalogue) -> Ratings:
    """The ratings over the rows of a public catalogue; ratings of other items are dropped
    and counted."""
    if list(items.ids) == list(ratings.items):
        return ratings
    row = np.array([items.index.get(name, -1) for name in ratings.items], np.int64)[
        ratings.item
    ]
    kept = ratings.take(row >= 0)
    moved = row[row >= 0]
    order = np.lexsort((moved, kept.user))
    time = kept.time[order] if kept.time is not None else None
    notes = replace(
        kept.notes, dropped_items=kept.notes.dropped_items + int((row < 0).sum())
    )
    return replace(
        kept,
        items=items.ids,
        item=moved[order].astype(np.uint32),
        value=kept.value[order],
        time=time,
        notes=notes,
    )
