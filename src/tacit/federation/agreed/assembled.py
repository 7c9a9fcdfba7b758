"""A task with all that follows from it: plan, events, layouts, the range of an honest sum.

Every party assembles the task with its own copy of Tacit, so that none has to believe
another about the noise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows, check_rows
from tacit.bound.fixed import FixedPoint
from tacit.bound.gram import EntryGram
from tacit.data.schema import Schema
from tacit.engine.answers import Answers
from tacit.errors import Failure, SettingError
from tacit.federation.agreed.scheme import Arrays, PlainScheme, Scheme, scheme_of
from tacit.federation.protocol.packing import packed_size
from tacit.federation.protocol.task import Task
from tacit.federation.protocol.wire import HEADER_LIMIT, MOST_SKELLAM, PartLayout, layouts_print
from tacit.ledger.account.event import (
    EVENTS,
    Event,
    Gaussian,
    Laplace,
    RandomizedChoice,
    Skellam,
    Unbounded,
)
from tacit.methods.base import Method, Public
from tacit.noise.device import choose, respond
from tacit.noise.portion import NO_SPREAD, SERVERS, Spread, spread_of
from tacit.rounds.people import Turns
from tacit.rounds.plan import Plan
from tacit.rounds.round import Kind, Part, Released, Round
from tacit.rounds.shares import federated_events, for_devices
from tacit.rounds.state import State
from tacit.units import Unit

MOST_BYTES = 32 << 20
"""That a device may be asked to send in one round."""
STATE_COPIES = 4
"""Arrays of a state, or of a model, that follow from one that was released."""
ITEM_NUMBERS = 64
"""Of an item in a state, beside what was released of it."""
NUMBER_BYTES = 8
MODEL_BYTES = 4 << 20
"""Of a model's statement, and of what else does not grow with items or releases."""
REACH = 10.0
"""Deviations of the noise of a full cohort that an honest sum may lie beyond its clips."""
LONG_REACH = 40.0
"""The same for Laplace noise, whose tail is longer."""


@dataclass(frozen=True)
class Assembled:
    """A task with all that follows from it."""

    task: Task
    method: Method
    public: Public
    plan: Plan
    events: dict[str, Event]
    """By `round/part`; empty where noise is off."""
    _layouts: dict[int, tuple[PartLayout, ...]] = field(default_factory=dict)
    _agreed: dict[int, str] = field(default_factory=dict)
    _prices: dict[tuple[float, int, Unit], float] = field(default_factory=dict)
    forms: dict[tuple[str, ...], State] = field(default_factory=dict)
    """Of public state, by the rounds that led to it (`tacit.federation.agreed.expect`)."""

    @cached_property
    def scheme(self) -> Scheme:
        """How the noise is shared."""
        return scheme_of(self.task)(self)

    @cached_property
    def first_state(self) -> State:
        """What is public before any round."""
        initial = self.method.first_state(self.public)
        return replace(initial, people=float(self.task.people))

    def state(self, arrays: Arrays) -> State:
        """The typed state of a message or a store."""
        return type(self.first_state).unpacked(arrays)

    @cached_property
    def bounded(self) -> tuple[Event, ...]:
        """The events that a theorem covers."""
        events = self.events.values()
        return tuple(event for event in events if not isinstance(event, Unbounded))

    def price(self, delta: float, unit: Unit | None = None, steps: int = 1) -> float:
        """Epsilon at `delta` of all that one device is asked; 0 where nothing is certified
        or noised.

        It is the accountant's answer for these very events, whatever budget the task names.
        `unit` is the payer's, where it is not the task's, and `steps` how many steps at the
        task's unit one at that unit can take.
        """
        at = unit or self.task.unit
        key = (delta, steps, at)
        if key not in self._prices:
            from tacit.ledger.account.account import epsilon_of
            from tacit.ledger.account.cost import cost

            total = cost(self.bounded, at, steps)
            self._prices[key] = epsilon_of(total, delta) if self.bounded else 0.0
        return self._prices[key]

    def round(self, index: int) -> Round:
        """The round at this place of the plan."""
        return self.plan.rounds[index]

    def layouts(self, index: int) -> tuple[PartLayout, ...]:
        """How the parts of a round are sent and summed."""
        if index not in self._layouts:
            round_ = self.round(index)
            self._layouts[index] = tuple(self.scheme.layout(round_, part) for part in round_.parts)
        return self._layouts[index]

    def agreed(self, index: int) -> str:
        """The print of a round's layouts, which its uploads name."""
        if index not in self._agreed:
            self._agreed[index] = layouts_print(self.layouts(index))
        return self._agreed[index]

    @cached_property
    def most_told(self) -> int:
        """Bytes of the longest announcement that this plan can lead to. State holds what was
        released and what follows from it; rounds that follow one another in a series leave
        arrays of one shape, or a row each where arrays grow."""
        first = self.first_state.packed()
        numbers = sum(array.size for array in first.values())
        shapes = {(part.name, _square(part)) for _, part in self.plan.parts}
        numbers += sum(size for _, size in shapes)
        if self.first_state.growing():
            numbers += sum(part.numbers for _, part in self.plan.parts)
        items = len(self.public.catalogue)
        return 2 * HEADER_LIMIT + NUMBER_BYTES * (STATE_COPIES * numbers + ITEM_NUMBERS * items)

    @cached_property
    def most_published(self) -> int:
        """Bytes of the largest model that this plan can lead to."""
        names = len(json.dumps(self.task.items))
        return MODEL_BYTES + STATE_COPIES * names + 2 * self.most_told

    def bytes_of(self, index: int) -> int:
        """That a device sends in a round, whatever it rated; where it sends the rows of its
        own items alone, none that are known before."""
        return sum(
            0 if layout.sparse else packed_size(layout.size * layout.width, layout.bits)
            for layout in self.layouts(index)
        )

    def span(self, round_: Round, part: Part, devices: int | None = None) -> float:
        """How far from zero an honest sum of so many devices, of a full cohort unless said,
        can lie, with `REACH` deviations of its noise.

        Wrapping around costs accuracy and never privacy; a sum beyond this is refused as
        damaged by a cheat.
        """
        size = part.bound.sensitivity("user", self.plan.limited)
        device_span = min(size.l1, size.l2)
        if isinstance(part.bound, FixedPoint | EntryGram):
            # every number by itself; a product is below its rows' limit
            device_span = part.bound.limit * part.bound.steps + 1
        if not isfinite(device_span):
            return inf
        event = self.events.get(path := f"{round_.name}/{part.name}")
        reach = LONG_REACH if isinstance(event, Laplace | Unbounded) else REACH
        arrived = self.task.cohort if devices is None else devices
        return arrived * device_span + reach * self.noise_sd(path, arrived)

    def noise_sd(self, path: str, arrived: int, groups: int = 1) -> float:
        """Of the noise that `arrived` devices and both servers add together, in steps, each
        server once to every one of `groups` sums.

        Each device adds one share of which `task.enough` make the noise of the event, so
        more devices than that add more noise than was asked for: the square root of
        arrived / enough times as much. Each server adds a whole one. In the local model each
        device adds all of it. Printed noise is dealt out anew for whoever is there, so it
        does not grow.
        """
        event = self.events.get(path)
        if self.method.local:  # every device adds all of it
            if isinstance(event, Gaussian):
                return event.sigma * sqrt(arrived)
            if isinstance(event, Laplace | Unbounded):
                return sqrt(2) * event.scale * sqrt(arrived)
            return 0.0
        if isinstance(event, Unbounded):
            return event.scale * sqrt(2)
        if event is None:
            return 0.0
        variance = groups * SERVERS * self.server_noise(path).variance
        if self.devices_add:
            event_variance = spread_of(event).variance
            variance += event_variance * arrived / self.task.enough
        return sqrt(variance)

    @property
    def devices_add(self) -> bool:
        """Whether devices add noise to what they send."""
        return self.method.local or self.task.noise != "servers"

    def server_noise(self, path: str) -> Spread:
        """What each server adds by itself to the sum of a part: a whole noise, or nothing
        where devices add all of it, and to what a paper prints."""
        event = self.events.get(path)
        kinds = Gaussian | Laplace | Skellam
        devices_only = self.method.local or self.task.noise == "devices"
        if devices_only or not isinstance(event, kinds):
            return NO_SPREAD
        spread = spread_of(event)
        if spread.law == "skellam" and spread.number > MOST_SKELLAM:
            raise SettingError(
                f"the noise of {path} is too large for servers to draw as Skellam",
                remedy="--noise servers, or a larger epsilon",
            )
        return spread

    def events_text(self) -> str:
        """The events as the recommender announces them."""
        return EVENTS.dump_json(tuple(self.events.values())).decode()


def _square(part: Part) -> int:
    """Numbers of a part as an array that is not packed."""
    return part.size * (part.width if part.form == "rows" else part.size)


def assemble(task: Task) -> Assembled:
    """Build the plan and the events of a task. The same on every side, for one version of
    Tacit.

    Everything that can be refused is refused here, before anything is paid or sent: settings
    that the method does not have, a budget that no plan fits, releases that have no
    federated form, cohorts that cannot be filled, and rounds that are too large to send.
    """
    from tacit.data.catalogue import catalogue_from
    from tacit.fitting.check import check
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
    # The method checks its own settings, and `check` all that a fit would be refused for.
    order = check(method, people=task.people)
    schema = Schema(task.low, task.high, task.people, task.max_ratings)
    catalogue = catalogue_from(task.items)
    public = Public(schema, catalogue, order.unit, order.calibration, order.budget)
    plan = replace(method.plan(public), limited=task.max_ratings)
    if order.budget is not None:
        plan = for_devices(plan)
    _check(plan, task)
    events: dict[str, Event] = {}
    if order.budget is not None and method.local:
        # every device draws all the noise of its own answer
        events = plan.events(order.budget)
    elif order.budget is not None:
        events = federated_events(plan, order.budget, task.noise)
    assembled = Assembled(task, method, public, plan, events)
    check_bytes(assembled)
    return assembled


def _check(plan: Plan, task: Task) -> None:
    """Refuse a plan that has no federated form, or that its people cannot fill."""
    if task.least > task.cohort:
        raise SettingError(f"the least cohort {task.least} is above the cohort {task.cohort}")
    _check_groups(plan, task)
    _check_turns(plan, task)
    for round_ in plan.rounds:
        for part in round_.parts:
            if part.kind not in (Kind.SUM, Kind.REPORT) or part.is_sequential:
                raise SettingError(f"{part.release_kind} releases have no federated form")
    scheme_of(task).check(plan)


def _check_groups(plan: Plan, task: Task) -> None:
    """Refuse groups that a full cohort could not fill, or of what is not summed."""
    if task.groups == 1:
        return
    if task.groups * task.least > task.cohort:
        raise SettingError(
            f"a cohort of {task.cohort} has no {task.groups} groups of {task.least}",
            remedy="fewer --groups, or a smaller --least",
        )
    summed = all(part.kind is Kind.SUM for _, part in plan.parts)
    if not summed or scheme_of(task) is not PlainScheme:
        raise SettingError("reports and printed schemes have no groups", remedy="--groups 1")


def _check_turns(plan: Plan, task: Task) -> None:
    """Refuse rounds that could never gather the least cohort, since each person has only so
    many turns."""
    series: dict[int, int] = {}
    for index, round_ in enumerate(plan.rounds):
        part = round_.takes_part
        if not isinstance(part, Turns):
            continue
        start = index - part.index
        series[start] = series.get(start, 0) + 1
        if series[start] * task.least > task.people * part.most:
            raise SettingError(
                f"{task.people} people with {part.most} turns each cannot fill rounds "
                f"of {task.least}",
                remedy="more turns, fewer rounds, or a smaller --least",
            )


def check_bytes(assembled: Assembled) -> None:
    """Refuse, before anything is paid, a plan that would have devices send more than
    `MOST_BYTES` in a round."""
    for index, round_ in enumerate(assembled.plan.rounds):
        # words have at most 8 bytes: most rounds are small enough without their layouts
        if 8 * sum(part.numbers for part in round_.parts) <= MOST_BYTES:
            continue
        size = assembled.bytes_of(index)
        if size > MOST_BYTES:
            raise SettingError(
                f"a device would send {size:,} bytes in the round {round_.name}; at most "
                f"{MOST_BYTES:,} are sent",
                remedy="restrict the catalogue: --items FILE with fewer items",
            )


# Randomized reports over the wire: what one device says in the local model, and what the
# recommender makes of them.
#
# A report is one (label, answer): the label numbers the person wherever the plan draws public
# directions, the answer is a choice, or a coordinate and a bit (2 x coordinate + bit). It
# travels in the open, for it is private by itself.
#
# Guarantee: the answer is a draw of `tacit.noise.device` from the event that the device has
# paid for, whatever the servers do. An answer that no honest device can give is left out and
# not counted.


def device_report(part: Part, event: Event | None, rows: Rows, label: int) -> NDArray[np.int64]:
    """One device's words: its label and its randomized answer."""
    check_rows(rows, name=part.name, people=1, size=part.size)
    if event is None or len(rows.values) != 1:
        raise Failure(f"a device gives one randomized report to {part.name}, no more and no fewer")
    if part.choices:
        if not isinstance(event, RandomizedChoice):
            raise Failure(f"the event of {part.name} is no choice")
        return np.array([[label, int(choose(event, rows.values)[0])]])
    bit = int(respond(event, np.clip(np.nan_to_num(rows.values[:, 0]), -1, 1))[0])
    return np.array([[label, 2 * int(rows.index[0]) + (bit > 0)]])


def aggregate_reports(part: Part, event: Event | None, words: NDArray[Any]) -> Released:
    """The release that the reports make together; those that make no sense are left out."""
    reports = words.astype("<u8").view("<i8")
    limit = part.choices or 2 * part.size
    reports = reports[
        (reports[:, 0] >= 0)
        & (reports[:, 0] < 1 << 53)
        & (reports[:, 1] >= 0)
        & (reports[:, 1] < limit)
    ]
    answers = Answers(part, event)
    answers.count = len(reports)
    if part.choices:
        answers.who, answers.said = [reports[:, 0]], [reports[:, 1]]
    else:
        coordinate, bit = np.divmod(reports[:, 1], 2)
        answers.total += np.bincount(coordinate, 2.0 * bit - 1, part.size).reshape(
            answers.total.shape
        )
    return answers.released()
