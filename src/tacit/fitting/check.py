"""Refuse what cannot be, before a rating is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import floor, log10
from typing import TYPE_CHECKING, get_args

from tacit.data.memory import memory_size
from tacit.data.schema import LIKES, Schema
from tacit.engine import engines, find_engine
from tacit.engine.scenario import Scenario
from tacit.errors import SettingError
from tacit.fitting.order import Order
from tacit.fitting.personal import check_budgets
from tacit.fitting.public_prior import check_public
from tacit.fitting.start import check_certified, check_kind, check_start, rule_of
from tacit.ledger.account.event import Event, Reserve, Unbounded
from tacit.ledger.statement.words import SUPPORT
from tacit.methods import DEFAULT_POSITIVE, METHODS, OF_LIKES
from tacit.methods.base import Method
from tacit.rounds.bar import teller
from tacit.rounds.options import Calibration, How, NoiseFrom, collect_options
from tacit.rounds.plan import Budget
from tacit.units import Unit
from tacit.validation import count, flag, kinds

if TYPE_CHECKING:
    from tacit.data.budgets import Budgets
    from tacit.data.public import PublicPeople
    from tacit.model.model import Model

MOST_DELTA = 1e-4
"""However few the people: one fit in ten thousand may fail them, and no more."""
MOST_THREADS = 4096
LEAST_EPSILON = 1e-6
"""Below it nothing is learned, and the numbers of a plan leave the range of floats."""
USUAL_DELTA = 1e-6
"""The default where people are few enough, or not declared."""
HIGH = 0.75
"""Of the scale: where a rating may well be a like, for an example."""


def check(
    method: Method,
    *,
    people: int | None = None,
    start: Model | None = None,
    owner_only: bool = False,
    keep_apart: float | None = None,
    public: PublicPeople | None = None,
    budgets: Budgets | None = None,
) -> Order:
    """The order of a fit, with every choice made that was left open. `owner_only`: nothing
    is published, so it may start from any model. `keep_apart`: the share of the ratings that
    the fit is not shown. `public`: people whose ratings are public.
    `budgets`: what people asked for who want less revealed."""
    calibration = _calibration(method)
    unit = _unit(method)
    _check_kinds(method)
    execution = replace(
        collect_options(How, method),
        engine=_engine(method),
        progress=teller(method.progress) if method.progress else None,
    )
    if execution.threads is not None and execution.threads < 1:
        raise SettingError(
            f"threads is {execution.threads}; it must be at least 1",
            remedy="leave --threads out to use all cores",
        )
    if execution.threads is not None and execution.threads > MOST_THREADS:
        raise SettingError(
            f"threads is above {MOST_THREADS:,}, more than any machine has",
            remedy="leave --threads out to use all cores",
        )
    if execution.memory is not None:
        memory_size(execution.memory)
    _check_noise(method, execution)
    settings = method.settings.model_dump()
    devices = _devices(method, execution)
    budget = None
    if calibration != "none":
        budget = _budget(method, people)
        check_delta(budget, people)
    order = Order(
        method,
        unit,
        calibration,
        budget,
        execution,
        settings,
        devices,
        start,
        None if keep_apart is None else rule_of(keep_apart, start),
        public,
        budgets,
    )
    _check_people(order, people)
    if order.apart is not None:
        check_held_out(order)
    if public is not None:
        check_public(order, public)
    if budgets is not None:
        check_budgets(order)
    if start is not None:
        if calibration != "none" and not owner_only:
            check_certified(start)
        check_kind(method, start.shared)
        if not owner_only:
            check_start(order, start)
    return order


def _check_kinds(method: Method) -> None:
    """Refuse options of the wrong type, which Python callers can pass."""
    kinds(
        texts={"population": method.population, "purpose": method.purpose},
        integers={"threads": method.threads},
        paths={"ledger": method.ledger},
        real={"epsilon": method.epsilon, "delta": method.delta},
    )
    if type(method.seed) is not int or method.seed < 0:
        count("seed", method.seed, least=0)
    for name in ("accept_unbounded", "other_people"):
        if not isinstance(getattr(method, name), bool):
            flag(name, getattr(method, name))
    devices: object = method.devices
    if devices is not None and not isinstance(devices, Mapping):
        raise SettingError(
            f"devices is of type {type(devices).__name__}, not settings by name",
            remedy='give a mapping, such as {"drop_out": 0.1}',
        )


def _calibration(method: Method) -> Calibration:
    if method.calibration not in get_args(Calibration):
        raise SettingError(
            f"the calibration {method.calibration!r} is unknown", remedy="use sound, paper or none"
        )
    if method.calibration not in method.calibrations:
        raise SettingError(
            f"{method.name} has no {method.calibration} calibration",
            remedy=f"use {' or '.join(method.calibrations)}",
        )
    return method.calibration


def _engine(method: Method) -> str:
    usual = "threads" if "threads" in method.engines else "simulate"
    engine = method.engine or usual
    if engine in engines() and _can_run(engine, method):
        return engine
    other_engines = (name for name in engines() if name not in method.engines)
    able = [*method.engines, *(x for x in other_engines if _can_run(x, method))]
    raise SettingError(
        f"{method.name} does not run on {engine!r}", remedy=f"use {' or '.join(able)}"
    )


def _can_run(engine: str, method: Method) -> bool:
    """Whether the method names this engine, or one that it does the work of."""
    return engine in method.engines or find_engine(engine).like in method.engines


def usual_delta(people: int | None) -> float:
    """The delta of a fit that names none: a tenth of one person among those declared, and
    never above `USUAL_DELTA`."""
    if people is None or people < 1:
        return USUAL_DELTA
    return min(USUAL_DELTA, SUPPORT / people)


def _budget(method: Method, people: int | None) -> Budget:
    if method.epsilon is None:
        raise SettingError(
            "epsilon is missing: how much may the model reveal about one person?",
            remedy="`tacit plan` shows what a budget buys; then give --epsilon",
        )
    if 0 < method.epsilon < LEAST_EPSILON:
        raise SettingError(
            f"epsilon is {method.epsilon:g}: noise for so little drowns everything",
            remedy=f"give at least {LEAST_EPSILON:g}; `tacit plan` shows what it buys",
        )
    delta = usual_delta(people) if method.delta is None else float(method.delta)
    return Budget(float(method.epsilon), delta)


def _devices(method: Method, execution: How) -> Scenario | None:
    """Behaviour of the devices of the local model, from `--devices`."""
    if not execution.devices:
        return None
    if not method.local:
        raise SettingError(
            f"{method.name} has no devices that answer for themselves", remedy="leave --devices out"
        )
    assert execution.engine is not None
    return Scenario.from_options(execution.devices, execution.engine)


def _check_noise(method: Method, execution: How) -> None:
    """Refuse `--noise` on engines without servers and devices that could share the noise."""
    if execution.noise_from is None:
        return
    if execution.noise_from not in get_args(NoiseFrom):
        raise SettingError(
            f"the noise {execution.noise_from!r} is unknown", remedy="use servers, devices or both"
        )
    if execution.engine not in ("federated", "simulate") or method.local:
        raise SettingError(
            f"{method.name} on {execution.engine} has no servers and devices to share the noise",
            remedy="leave --noise out, or use --engine federated",
        )


def _unit(method: Method) -> Unit:
    if method.calibration == "paper" and method.paper_unit is not None:
        claimed = (method.paper_unit, *method.paper_units)
        if method.unit not in (None, *claimed):
            raise SettingError(
                f"the paper of {method.name} claims the unit {' or '.join(claimed)}, not "
                f"{method.unit}",
                remedy="leave --unit out, or use --calibration sound",
            )
        return method.unit or method.paper_unit
    unit = method.unit or ("user" if "user" in method.units else method.units[0])
    if unit not in method.units:
        raise SettingError(
            f"{method.name} has no promise for the unit {unit!r}",
            remedy=f"use {' or '.join(method.units)}",
        )
    return unit


def _check_people(order: Order, people: int | None) -> None:
    """Where devices share the noise, how many there are is agreed before they begin: each
    draws its share for so many. A count could only come after."""
    if people is not None or order.calibration != "sound" or order.unit == "value":
        return
    if _shows_people(order) and not order.method.local:
        raise SettingError(
            "in a federation the number of people is declared: devices share the noise, "
            "and sums over those who came stand for all",
            remedy="give --users N, as a task gives `people`",
        )


def check_values(order: Order, *, positive: bool = False, absent: bool = False) -> None:
    """Refuse data in which a value decides what a promise takes as public. `positive`: only
    ratings from some value on are kept; `absent`: a value stands for no rating.

    Guarantee: at the unit `value` who rated what is public, so nothing that is read may make
    a rating come or go with its value. Where devices take part, who they are is public, so
    nothing may make a person come or go with hers. Repeated ratings do neither: which of them
    is kept, or that their mean is, follows from times and the order of rows alone.
    """
    if order.budget is None or not (positive or absent):
        return
    cause = (
        "with --positive the values decide which ratings there are"
        if positive
        else "in this layout a value stands for no rating"
    )
    mend = (
        "leave --positive out"
        if positive
        else "write the explicit ratings to a csv whose rows are public"
    )
    if order.unit == "value":
        other_units = [unit for unit in order.method.units if unit != "value"]
        instead = f"use --unit {' or '.join(other_units)}" if other_units else "use --method bayes"
        raise SettingError(
            f"at the unit value who rated what is public, but {cause}: some would show",
            remedy=f"{instead}, or {mend}",
        )
    if _shows_people(order) and order.calibration == "sound":
        raise SettingError(
            f"who takes part is public on the engine {order.engine}, but {cause}: who has "
            "none would show",
            remedy=f"{mend}, or use --engine threads where the method has it",
        )


def check_held_out(order: Order) -> None:
    """Refuse to hold ratings out where it is public who takes part: somebody whose every rating is
    held out would be missing, which reveals something of her ratings."""
    if _shows_people(order):
        raise SettingError(
            f"who takes part is public on the engine {order.engine}, and who has all ratings "
            "kept apart would be missing",
            remedy="use a method that runs on --engine threads, or keep nothing apart",
        )


def _shows_people(order: Order) -> bool:
    """Whether servers see who takes part."""
    kind = find_engine(order.engine).like or order.engine
    return order.method.local or kind in ("federated", "simulate", "local")


def check_delta(budget: Budget, people: int | None) -> None:
    """A delta above one in the number of people would allow publishing someone outright."""
    if people is not None and people < 1:
        raise SettingError(
            f"users is {people}; it must be at least 1",
            remedy="give --users a count, or leave it out",
        )
    limit = MOST_DELTA if people is None else min(MOST_DELTA, 1 / people)
    if budget.delta > limit:
        whom = (
            f"one in {people} people"
            if people is not None and limit < MOST_DELTA
            else f"{MOST_DELTA:g}, the most that anybody is asked to bear"
        )
        raise SettingError(
            f"delta is {budget.delta:g}, above {whom}",
            remedy=f"use {10.0 ** floor(log10(limit)):g} or less, or leave --delta out",
        )


def check_funds(order: Order, limit: int | None = None) -> None:
    """Ask the book, before a rating is read, whether it would bear this budget."""
    if order.budget is None:
        return
    order.book.check(
        (_envelope(order, order.budget),),
        unit=order.unit,
        budget=(order.budget.epsilon, order.budget.delta),
        limit=limit,
        accept_unbounded=order.how.accept_unbounded,
    )


def _envelope(order: Order, budget: Budget) -> Event:
    """One event that costs what the whole plan will."""
    from tacit.ledger.account.calibrate import gaussian_mu

    if order.calibration == "paper":
        return Unbounded(
            name="plan",
            claimed_epsilon=budget.epsilon,
            claimed_delta=budget.delta,
            reason="as printed",
        )
    if budget.delta > 0:
        return Reserve(name="plan", mu=gaussian_mu(budget.epsilon, budget.delta))
    return Reserve(name="plan", epsilon=budget.epsilon)


# What likes are to a method, said before anything is charged.


def check_schema(order: Order, schema: Schema) -> None:
    """Refuse data of which a method could learn nothing, or by whose values a promise would
    fail."""
    check_likes(order, schema)
    liked = schema.positive is not None
    check_values(
        order,
        positive=liked and (schema.source != LIKES or order.unit == "value"),
        absent=schema.absent,
    )


def check_likes(order: Order, schema: Schema) -> None:
    """Refuse a method of ratings where a table has none: every like is the same rating to
    it, so all that it is charged for is noise."""
    name = order.method.name
    if schema.source != LIKES or name not in METHODS or name in OF_LIKES:
        return
    raise SettingError(
        f"{name} learns from ratings, and these are likes: to it they are all the same",
        remedy=f"use --method {DEFAULT_POSITIVE}, or another of {', '.join(OF_LIKES)}",
    )


def of_high_ratings(method: Method, schema: Schema) -> str:
    """Warning where method and ratings do not fit: every row would count as a like, or only high
    ratings are given to a method that learns how high they are. Empty where they fit."""
    if schema.positive is None and method.name == DEFAULT_POSITIVE:
        threshold = round(schema.low + HIGH * (schema.high - schema.low))
        return (
            f"{method.name} learns what is liked, and counts every row as a like, however low "
            f"its rating: give the least rating that is one, such as --positive {threshold}"
        )
    if schema.positive is None or method.name not in METHODS:
        return ""
    if method.name in OF_LIKES:
        return ""
    return (
        f"{method.name} learns how high ratings of {schema.positive:g} and more are, and not "
        f"what is liked: for lists of likes use --method {DEFAULT_POSITIVE}"
    )
