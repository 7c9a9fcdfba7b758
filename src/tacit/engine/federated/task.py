"""The task: all that is public about one training, from which every party builds the same plan, noise and layouts.

A device trusts no announced noise. It builds the plan from the task with its own copy of Tacit, derives the events and
its own share from it, and compares (`tacit.engine.federated.device`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import floor, inf, isfinite, sqrt
from typing import Any, Literal

from pydantic import Field

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.engine.federated.wire import Layout, Message, digest
from tacit.errors import SettingError
from tacit.ledger.event import EVENTS, Event, Gaussian, Laplace, Skellam, Unbounded, Unit
from tacit.methods.base import Method, Public
from tacit.round import Budget, Kind, Part, Plan, Released, Round

Noise = Literal["shares", "none"]


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
    """Of the least cohort, the fraction whose shares of the noise are taken to be honest and to arrive."""
    seconds: float = Field(default=60.0, gt=0)
    """For a device to answer a round."""
    purpose: str = ""

    @cached_property
    def name(self) -> str:
        """The task is known by its content."""
        return digest(self.model_dump_json().encode())[:32]

    @property
    def enough(self) -> int:
        """Shares that suffice: what is left of the smallest cohort when the dishonest part of it adds nothing."""
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

    def round(self, index: int) -> Round:
        return self.plan.rounds[index]

    def layouts(self, index: int) -> tuple[Layout, ...]:
        if index not in self._layouts:
            self._layouts[index] = tuple(self._layout(self.round(index), part) for part in self.round(index).parts)
        return self._layouts[index]

    def _layout(self, round_: Round, part: Part) -> Layout:
        paper = part.claim is not None or getattr(self.method, "shows_items", False)
        blind: Literal["", "add", "subtract"] = ""
        if getattr(round_.takes_part, "scheme", "") == "S3" and self.events and part.name == "gradient":
            blind = "add" if round_.name == "initialise" else "subtract"
        bits: Literal[32, 64] = 32 if paper or self.span(round_, part) < 2.0**31 else 64
        return Layout(name=part.name, size=part.size, width=part.width, bits=bits, sparse=paper, blind=blind)

    def span(self, round_: Round, part: Part) -> float:
        """How far from zero an honest sum can lie, with ten standard deviations of the noise of a full cohort.

        Wrapping around costs accuracy and never privacy; a sum beyond this is refused as damaged by a cheat.
        """
        size = part.bound.sensitivity("user", self.plan.limited)
        each = min(size.l1, size.l2)
        if not isfinite(each):
            return inf
        return self.task.cohort * each + 10 * self.noise_sd(f"{round_.name}/{part.name}", self.task.cohort)

    def noise_sd(self, path: str, arrived: int) -> float:
        """Of the noise that `arrived` devices add together, in steps."""
        event = self.events.get(path)
        if isinstance(event, Skellam):
            return sqrt(event.variance * arrived / self.task.enough)
        if isinstance(event, Laplace):
            return event.scale * sqrt(2 * arrived / self.task.enough)
        if isinstance(event, Unbounded):
            return event.scale * sqrt(2)
        return 0.0

    def events_text(self) -> str:
        return EVENTS.dump_json(tuple(self.events.values())).decode()


def for_everyone(released: Released, people: float, arrived: int) -> Released:
    """A sum over a cohort as an estimate for all people; the same numbers where all of them came."""
    if arrived == people or arrived < 1:
        return released
    factor = people / arrived
    return replace(released, value=released.value * factor, sd=released.sd * factor)


def assemble(task: Task) -> Assembled:
    """Build the plan and the events of a task. The same on every side, for one version of Tacit."""
    from tacit.fitting import check
    from tacit.methods import find
    from tacit.model.shared import catalogue_from

    method = find(task.method)(
        epsilon=task.epsilon, delta=task.delta, unit=task.unit, calibration=task.calibration, engine="federated",
        seed=task.seed, **task.settings,
    )  # fmt: skip
    order = check(method, people=task.people)
    catalogue: Catalogue = catalogue_from(task.items)
    schema = Schema(task.low, task.high, task.people, task.max_ratings)
    public = Public(schema, catalogue, order.unit, order.calibration, order.budget)
    plan = replace(method.plan(public), limited=task.max_ratings)
    if task.least > task.cohort:
        raise SettingError(f"the least cohort {task.least} is above the cohort {task.cohort}")
    for round_ in plan.rounds:
        for part in round_.parts:
            if part.kind not in (Kind.SUM, Kind.REPORT):
                raise SettingError(f"{part.kind.value} releases have no federated form")
    events = shared_events(plan, order.budget) if order.budget is not None else {}
    return Assembled(task, method, public, plan, events)


def shared_events(plan: Plan, budget: Budget) -> dict[str, Event]:
    """The plan's events with noise that devices can share: Skellam for Gaussian, Polya shares for Laplace.

    Guarantee: Skellam is accounted by its Renyi divergence, which asks for some per cent more noise than the closed
    form of the Gaussian; the scale is raised until the accountant, given these very events, is content.
    """
    from tacit.ledger.account import epsilon

    planned = plan.events(budget)
    parts = {f"{r.name}/{p.name}": p for r in plan.rounds for p in r.parts}

    def at(factor: float) -> dict[str, Event]:
        out: dict[str, Event] = {}
        for path, event in planned.items():
            if not isinstance(event, Gaussian):
                out[path] = event
                continue
            size = parts[path].bound.sensitivity(plan.unit, plan.limited)
            l2 = event.sensitivity
            out[path] = Skellam(
                name=path, sensitivity=l2, l1=min(size.l1, l2 * sqrt(event.draws), l2 * l2),
                variance=(factor * event.sigma) ** 2, draws=event.draws, times=event.times, beside=event.beside,
            )  # fmt: skip
        return out

    for path, event in planned.items():
        if event.kind not in ("gaussian", "laplace", "unbounded", "response"):
            raise SettingError(f"the noise of {path} cannot be shared among devices", remedy="use the threads engine")
        if event.sampled < 1:
            raise SettingError(f"{path} hides who takes part, which the servers of a federation see")
    if not any(isinstance(event, Gaussian) for event in planned.values()):
        return planned
    low, high = 1.0, 2.0
    while epsilon(at(high).values(), budget.delta, unit=plan.unit) > budget.epsilon:
        low, high = high, high * 2
    for _ in range(20):
        middle = (low + high) / 2
        fits = epsilon(at(middle).values(), budget.delta, unit=plan.unit) <= budget.epsilon
        low, high = (low, middle) if fits else (middle, high)
    return at(high)
