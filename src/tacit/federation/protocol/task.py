"""The task: all that is public about one training, from which every party builds the same
plan, noise and layouts.

A device trusts no announced noise. It builds the plan from the task with its own copy of
Tacit, derives the events and its own share from it, and compares
(`tacit.federation.device.device`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import floor, inf, isfinite, sqrt
from typing import Any, Literal

from pydantic import Field

from tacit.bound.fixed import FixedPoint
from tacit.bound.gram import EntryGram
from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.errors import SettingError
from tacit.federation.protocol.wire import Layout, Message, digest, layouts_print
from tacit.ledger.account.event import (
    EVENTS,
    Event,
    Gaussian,
    Laplace,
    Skellam,
    Unbounded,
    Unit,
)
from tacit.methods.base import Method, Public
from tacit.rounds.people import Turns
from tacit.rounds.plan import Plan
from tacit.rounds.round import Kind, Part, Round
from tacit.rounds.shares import for_devices, shared_events
from tacit.rounds.state import State

MOST_BYTES = 32 << 20
"""That a device may be asked to send in one round."""


class Task(Message):
    """Public and signed by the recommender."""

    method: str
    settings: dict[str, Any] = Field(default_factory=dict)
    seed: int = 0
    unit: Unit = "user"
    calibration: Literal["sound", "paper", "none"] = "sound"
    epsilon: float | None = None
    delta: float = 1e-6
    low: float
    high: float
    people: int = Field(ge=1)
    """The declared number of people."""
    max_ratings: int | None = None
    items: dict[str, Any]
    """The public catalogue, as a model file holds it."""
    cohort: int = Field(ge=1)
    """At most this many devices in one round."""
    least: int = Field(ge=1)
    """A round with fewer is never revealed, by either server."""
    honest: float = Field(default=0.9, gt=0, le=1)
    """Of the least cohort, the fraction whose shares of the noise are taken to be honest
    and to arrive."""
    seconds: float = Field(default=60.0, gt=0)
    """For a device to answer a round."""
    purpose: str = ""

    @cached_property
    def name(self) -> str:
        """The task is known by its content."""
        return digest(self.model_dump_json().encode())[:32]

    @property
    def enough(self) -> int:
        """Shares that suffice: what is left of the smallest cohort when the dishonest part
        of it adds nothing."""
        return max(1, floor(self.honest * self.least + 1e-9))


@dataclass(frozen=True)
class Assembled:
    """A task with all that follows from it."""

    task: Task
    method: Method
    public: Public
    plan: Plan
    events: dict[str, Event]
    """By `round/part`; empty where noise is off."""
    _layouts: dict[int, tuple[Layout, ...]] = field(default_factory=dict)
    _agreed: dict[int, str] = field(default_factory=dict)
    _prices: dict[float, float] = field(default_factory=dict)
    forms: dict[tuple[str, ...], State] = field(default_factory=dict)
    """Of public state, by the rounds that led to it (`tacit.federation.agreed.expect`)."""

    def price(self, delta: float) -> float:
        """Epsilon at `delta` of all that one device is asked; 0 where nothing is certified
        or noised."""
        if delta not in self._prices:
            from tacit.ledger.account.account import epsilon

            events = [
                event
                for event in self.events.values()
                if not isinstance(event, Unbounded)
            ]
            self._prices[delta] = (
                epsilon(events, delta, unit=self.task.unit) if events else 0.0
            )
        return self._prices[delta]

    def round(self, index: int) -> Round:
        return self.plan.rounds[index]

    def layouts(self, index: int) -> tuple[Layout, ...]:
        if index not in self._layouts:
            self._layouts[index] = tuple(
                self._layout(self.round(index), part)
                for part in self.round(index).parts
            )
        return self._layouts[index]

    def agreed(self, index: int) -> str:
        """The print of a round's layouts, which its uploads name."""
        if index not in self._agreed:
            self._agreed[index] = layouts_print(self.layouts(index))
        return self._agreed[index]

    def _layout(self, round_: Round, part: Part) -> Layout:
        paper = (
            part.printed is not None or getattr(self.method, "shows_items", False)
        ) and not self.method.local
        blind: Literal["", "add", "subtract"] = ""
        if (
            round_.takes_part.printed == "S3"
            and self.events
            and part.name == "gradient"
        ):
            blind = "add" if round_.name == "initialise" else "subtract"
        if (
            part.kind is Kind.REPORT
        ):  # one person's answer is hers to give: label and answer, not summed
            return Layout(name=part.name, size=1, width=2, bits=64, report=True)
        bits: Literal[32, 64] = 32 if paper or self.span(round_, part) < 2.0**31 else 64
        size, width = (
            (part.numbers, 1) if part.form == "gram" else (part.size, part.width)
        )
        return Layout(
            name=part.name, size=size, width=width, bits=bits, sparse=paper, blind=blind
        )

    def span(self, round_: Round, part: Part) -> float:
        """How far from zero an honest sum can lie, with ten deviations (Laplace: 40) of the
        noise of a full cohort.

        Wrapping around costs accuracy and never privacy; a sum beyond this is refused as
        damaged by a cheat.
        """
        size = part.bound.sensitivity("user", self.plan.limited)
        each = min(size.l1, size.l2)
        if isinstance(
            part.bound, FixedPoint | EntryGram
        ):  # every number by itself; a product is below its rows' limit
            each = part.bound.limit * part.bound.steps + 1
        if not isfinite(each):
            return inf
        event = self.events.get(path := f"{round_.name}/{part.name}")
        reach = (
            40.0 if isinstance(event, Laplace | Unbounded) else 10.0
        )  # a Laplace tail is longer
        return self.task.cohort * each + reach * self.noise_sd(path, self.task.cohort)

    def noise_sd(self, path: str, arrived: int) -> float:
        """Of the noise that `arrived` devices add together, in steps."""
        event = self.events.get(path)
        if self.method.local:  # every device adds all of it
            each = (
                event.sigma
                if isinstance(event, Gaussian)
                else sqrt(2) * getattr(event, "scale", 0.0)
            )
            return float(each * sqrt(arrived))
        if isinstance(event, Skellam):
            return sqrt(event.variance * arrived / self.task.enough)
        if isinstance(event, Laplace):
            return event.scale * sqrt(2 * arrived / self.task.enough)
        if isinstance(event, Unbounded):
            return event.scale * sqrt(2)
        return 0.0

    def events_text(self) -> str:
        return EVENTS.dump_json(tuple(self.events.values())).decode()


def assemble(task: Task) -> Assembled:
    """Build the plan and the events of a task. The same on every side, for one version of Tacit."""
    from tacit.data.catalogue import catalogue_from
    from tacit.fitting.run import check
    from tacit.methods import find

    method = find(task.method)(
        epsilon=task.epsilon,
        delta=task.delta,
        unit=task.unit,
        calibration=task.calibration,
        engine="federated",
        seed=task.seed,
        **task.settings,
    )
    order = check(method, people=task.people)
    catalogue: Catalogue = catalogue_from(task.items)
    schema = Schema(task.low, task.high, task.people, task.max_ratings)
    public = Public(schema, catalogue, order.unit, order.calibration, order.budget)
    plan = replace(method.plan(public), limited=task.max_ratings)
    if order.budget is not None:
        plan = for_devices(plan)
    if task.least > task.cohort:
        raise SettingError(
            f"the least cohort {task.least} is above the cohort {task.cohort}"
        )
    _check_turns(plan, task)
    for round_ in plan.rounds:
        for part in round_.parts:
            if part.kind not in (Kind.SUM, Kind.REPORT) or part.is_sequential:
                raise SettingError(f"{part.words} releases have no federated form")
            if part.printed is not None and part.printed.masked:
                raise SettingError(
                    f"the printed noise of {round_.name} has no federated form",
                    remedy="use simulate",
                )
    events: dict[str, Event] = {}
    if (
        order.budget is not None
    ):  # in the local model every device draws all the noise of its own answer
        events = (
            plan.events(order.budget)
            if method.local
            else shared_events(plan, order.budget)
        )
    made = Assembled(task, method, public, plan, events)
    check_bytes(made)
    return made


def _check_turns(plan: Plan, task: Task) -> None:
    """Refuse rounds that could never gather the least cohort, since each person has only so
    many turns."""
    series: dict[int, int] = {}
    for index, round_ in enumerate(plan.rounds):
        part = round_.takes_part
        if isinstance(part, Turns):
            series[index - part.index] = count = series.get(index - part.index, 0) + 1
            if count * task.least > task.people * part.most:
                raise SettingError(
                    f"{task.people} people with {part.most} turns each cannot fill rounds "
                    f"of {task.least}",
                    remedy="more turns, fewer rounds, or a smaller --least",
                )


def check_bytes(made: Assembled) -> None:
    """Refuse, before anything is paid, a plan that would have devices send more than
    `MOST_BYTES` in a round."""
    for index, round_ in enumerate(made.plan.rounds):
        if 8 * sum(part.numbers for part in round_.parts) <= MOST_BYTES:
            continue
        size = sum(
            0 if part.sparse else part.size * part.width * part.word
            for part in made.layouts(index)
        )
        if size > MOST_BYTES:
            raise SettingError(
                f"a device would send {size:,} bytes in the round {round_.name}; at most "
                f"{MOST_BYTES:,} are sent",
                remedy="restrict the catalogue: --items FILE with fewer items",
            )
