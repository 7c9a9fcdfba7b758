"""The idea: bounded contributions, summed, noised, absorbed into public state; and the plan that pays for them.

A *Round* says what one block of people contributes, how much one person may add, which kind of release it is, who takes
part, and how what was released becomes the next public state. A *Plan* is the rounds and the split of the budget over
them, so all privacy events are known before any rating is touched. Settings of later rounds may be functions of what
earlier rounds released; events may not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from math import inf, isfinite, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Bound, Rows
from tacit.errors import SettingError
from tacit.ledger.event import Choice, Event, Gaussian, KNorm, Laplace, Response, Selection, Unbounded, Unit

SCALES = (2.0**-8, 2.0**47)
"""Least and largest noise in steps, well inside what `tacit.noise` draws: refused here, before anything is charged."""
State = Mapping[str, NDArray[Any]]
"""Public: what was released so far, and what follows from it."""


class Kind(Enum):
    """The closed set of releases. A caller cannot add one, so no caller can break a promise that Tacit states."""

    SUM = "additive sum"
    REPORT = "randomized report"
    INPUT = "input"
    OBJECTIVE = "objective term"
    OUTPUT = "output"
    SELECTION = "selection"
    STEPWISE = "stepwise"
    POSTERIOR = "posterior sample"

    @property
    def paper_only(self) -> bool:
        return self in (Kind.STEPWISE, Kind.POSTERIOR)


@dataclass(frozen=True)
class Everyone:
    """All people take part."""


@dataclass(frozen=True)
class Coin:
    """Each whole person takes part by a secret coin of this chance; the number who do is never released."""

    rate: float


@dataclass(frozen=True)
class Slice:
    """One slice of a secret random partition of the people: nobody is in two slices of one plan."""

    index: int
    of: int
    width: int = 1
    """How many neighbouring slices, from `index` on, are taken together."""


@dataclass(frozen=True)
class Cohort:
    """The people who rated one item. Who they are becomes visible, so this serves `paper` only."""

    item: int


@dataclass(frozen=True)
class Turns:
    """Devices that are online, at most `cohort` of them; each takes part in at most `most` rounds of this kind, which
    it counts itself. The servers see who they are, so nothing is amplified."""

    index: int
    most: int
    cohort: int | None = None
    join: float = 0.0
    """Chances with which a device that is away comes, and one that is there goes, between rounds: simulation only."""
    leave: float = 0.0
    scheme: Literal["", "S2", "S3", "direct"] = ""
    """How Hua et al. divide their noise among devices: `paper` only."""


Participation = Everyone | Coin | Slice | Cohort | Turns


@dataclass(frozen=True)
class Claim:
    """Noise as a paper prints it, with what the paper claims for it and why no theorem here backs the claim."""

    noise: Literal["laplace", "gaussian", "knorm", "response", "masked", "none"]
    scale: float
    """In real units: the Laplace or K-norm scale, the Gaussian standard deviation, or the log-ratio of one bit;
    `masked`: the Laplace scale of numbers whose presence each device hides as well."""
    epsilon: float
    delta: float
    reason: str


@dataclass(frozen=True)
class Part:
    """One array of `size` rows and `width` columns that a round releases."""

    name: str
    size: int
    bound: Bound
    width: int = 1
    share: float = 1.0
    """Of the plan's budget: of mu^2 for Gaussian parts, of epsilon for pure ones."""
    kind: Kind = Kind.SUM
    claim: Claim | None = None
    """Given in `paper` calibration only."""
    form: Literal["rows", "gram"] = "rows"
    """`gram`: the rows are factors, and what is released is the symmetric sum of their products, `size` x `size`."""
    tape: int = 0
    """How many draws a sequential epoch is handed (stepwise and posterior releases)."""
    choices: int = 0
    """Of a randomized report: 0 for a bit about a number in [-1, 1], else a choice among so many answers."""
    favoured: int = 1
    """How many of these answers a person's record makes likelier."""


    @property
    def numbers(self) -> int:
        """How many numbers are released, each with its own noise."""
        if self.form == "gram":  # the upper triangle, each number once
            return self.size * (self.size + (1 if getattr(self.bound, "diagonal", False) else -1)) // 2
        return self.size * self.width


@dataclass(frozen=True)
class Personal:
    """State that the engine keeps on each person's side between rounds; never summed, sent or saved with a model."""

    name: str
    width: int


@dataclass(frozen=True)
class Block:
    """Some people and their ratings, as a kernel sees them. A thread, a partition or a phone holds one."""

    people: NDArray[np.int64]
    ptr: NDArray[np.int64]
    item: NDArray[np.uint32]
    value: NDArray[np.float64]
    """On the inner scale: mid-scale is 0, the ends are -2 and 2."""
    time: NDArray[np.int64] | None = None
    first_cell: int = 0
    """Position of the block's first cell among all cells, for a release of one number a cell."""
    personal: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Rows of the people of this block; a kernel writes its updates in place."""
    tape: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Draws for a sequential epoch (`paper` only), by part."""


@dataclass(frozen=True)
class Released:
    """A noisy array, public from here on."""

    value: NDArray[Any]
    sd: float
    """Standard deviation of the noise on each number: known, so post-processing may use it."""
    private: bool = True
    """False where the noise was switched off or its bits were injected by a test."""
    reports: int = 0
    """How many devices answered, where that is visible (the local model)."""


@dataclass(frozen=True)
class Round:
    """See the module. `contribute` must treat every person alone, in a fixed order of operations."""

    name: str
    parts: tuple[Part, ...]
    contribute: Callable[[Block, State], Mapping[str, Rows]]
    absorb: Callable[[State, Mapping[str, Released]], State]
    takes_part: Participation = Everyone()
    personal: tuple[Personal, ...] = ()


@dataclass(frozen=True)
class Budget:
    """What may be spent: delta 0 asks for pure mechanisms."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if not (isfinite(self.epsilon) and self.epsilon > 0):
            raise SettingError(
                f"epsilon is {self.epsilon:g}; it must be a positive, finite number",
                remedy="run `tacit plan` to see what a budget buys; 1 is a common choice",
            )
        if not 0 <= self.delta < 1:
            raise SettingError(
                f"delta is {self.delta:g}; it must be at least 0 and below 1",
                remedy="use the default 1e-6, or 0 for a pure mechanism",
            )


@dataclass(frozen=True)
class Plan:
    """The rounds and their unit. Shares are normalised to the whole; more than the whole is refused."""

    unit: Unit
    rounds: tuple[Round, ...]
    story: tuple[str, ...] = ()
    """Sentences that say why the plan is as it is, for `tacit plan` and the statement."""
    limited: int | None = None
    """At most this many ratings of a person are used."""

    def __post_init__(self) -> None:
        names = [f"{r.name}/{p.name}" for r in self.rounds for p in r.parts]
        if len(set(names)) != len(names):
            raise SettingError("two parts of the plan share a name")
        slices = [(r.takes_part, p.name) for r in self.rounds for p in r.parts if isinstance(r.takes_part, Slice)]
        if len(set(slices)) != len(slices):
            raise SettingError("a slice of a partition may release a part of one name once only")
        if _overlap({r.takes_part for r in self.rounds if isinstance(r.takes_part, Slice)}):
            raise SettingError("two slices of the plan share people")
        total = self._whole
        if total > 1 + 1e-9:
            raise SettingError(f"the shares of the plan add up to {total:.6g}: more than the whole budget")
        if any(not p.share > 0 for r in self.rounds for p in r.parts):
            raise SettingError("every part of a plan needs a positive share")

    @property
    def _whole(self) -> float:
        return sum(p.share for r in self.rounds for p in r.parts if p.claim is None and not _is_beside(r))

    def after(self, first: Round, share: float) -> Plan:
        """The same plan with a round before it that takes `share` of the budget."""
        whole = self._whole or 1.0
        priced = replace(first, parts=tuple(replace(p, share=share / len(first.parts)) for p in first.parts))
        rest = tuple(
            replace(r, parts=tuple(replace(p, share=p.share / whole * (1 - share)) for p in r.parts))
            for r in self.rounds
        )
        return replace(self, rounds=(priced, *rest))

    def events(self, budget: Budget) -> dict[str, Event]:
        """The event of each part, keyed `round/part`, so that all of them together cost at most `budget`."""
        from tacit.ledger.account import epsilon as account
        from tacit.ledger.calibrate import gaussian_mu

        priced = [(r, p) for r in self.rounds for p in r.parts]
        whole = self._whole or 1.0
        pure = {id(p) for _, p in priced if p.claim is None and _is_pure(p, budget)}
        pure_share = sum(p.share for r, p in priced if id(p) in pure and not _is_beside(r)) / whole
        rest = 1 - pure_share
        mu = gaussian_mu(budget.epsilon * rest, budget.delta) if rest > 1e-12 and budget.delta > 0 else 0.0
        mu *= 1 - 1e-9  # so that rounding never makes a plan cost more than its budget
        each = self._each_report(budget)

        def at(level: float) -> dict[str, Event]:
            events: dict[str, Event] = {}
            for r, p in priced:
                share = p.share / whole
                turns = r.takes_part.most if isinstance(r.takes_part, Turns) else 1
                part_mu = level * sqrt(share / rest / turns) if rest > 1e-12 else 0.0
                event = _event(self, r, p, each or budget.epsilon * share / turns, part_mu, id(p) in pure)
                if turns > 1:
                    event = event.model_copy(update={"times": turns})
                if _is_beside(r):
                    event = event.model_copy(update={"beside": self._lead(r, p, event, events)})
                events[event.name] = event
            return events

        if (
            any(isinstance(r.takes_part, Coin) for r in self.rounds) and mu > 0
        ):  # amplified: more mu for the same epsilon
            low = mu
            while account(tuple(at(low).values()), budget.delta, unit=self.unit) > budget.epsilon and low > 1e-6 * mu:
                low /= 2  # sampled rounds are priced by an accountant that is looser than the closed form
            high = low
            while (
                account(tuple(at(high * 2).values()), budget.delta, unit=self.unit) <= budget.epsilon
                and high < 1e4 * mu
            ):
                low = high = high * 2
            high *= 2
            for _ in range(30):
                middle = (low + high) / 2
                fits = account(tuple(at(middle).values()), budget.delta, unit=self.unit) <= budget.epsilon
                low, high = (middle, high) if fits else (low, middle)
            mu = low
        return at(mu)

    def _each_report(self, budget: Budget) -> float | None:
        """The epsilon of each of several like reports and nothing else: they compose exactly, so delta buys more."""
        from tacit.ledger.calibrate import response_epsilon

        paid = [p for r in self.rounds for p in r.parts if not _is_beside(r)]
        alike = all(p.kind is Kind.REPORT and p.claim is None and p.share == paid[0].share for p in paid)
        if len(paid) < 2 or not alike or budget.delta == 0:
            return None
        return response_epsilon(len(paid), budget.epsilon, budget.delta)

    def _lead(self, later: Round, part: Part, event: Event, events: Mapping[str, Event]) -> str:
        """The same part in slice 0 of the same partition, which must exist and cost as much."""
        if isinstance(later.takes_part, Turns):  # the first turn is charged for all turns that one device may take
            firsts = [r for r in self.rounds if isinstance(r.takes_part, Turns) and r.takes_part.index == 0]
            names = [f"{r.name}/{part.name}" for r in firsts]
            equal = [n for n in names if n in events and events[n].model_copy(update={"name": event.name}) == event]
            if not equal:
                raise SettingError(f"{later.name}/{part.name} has no equal part in the first turn")
            return equal[0]
        assert isinstance(later.takes_part, Slice)
        for r in self.rounds:
            name = f"{r.name}/{part.name}"
            first = isinstance(r.takes_part, Slice) and (r.takes_part.index, r.takes_part.of) == (
                0,
                later.takes_part.of,
            )
            if first and name in events:
                alike = events[name].model_copy(update={"name": event.name})
                if alike == event:
                    return name
        raise SettingError(f"{later.name}/{part.name} has no equal part in slice 0 of its partition")


def _overlap(slices: set[Slice]) -> bool:
    """Whether two different slices of one partition have people in common."""
    taken = [(s.of, place) for s in slices for place in range(s.index, s.index + s.width)]
    return len(set(taken)) != len(taken)


def _is_beside(round_: Round) -> bool:
    """Later slices of a partition touch people whom the first slice does not: they cost nothing on top of it."""
    return isinstance(round_.takes_part, Slice | Turns) and round_.takes_part.index > 0


def _is_pure(part: Part, budget: Budget) -> bool:
    if part.kind in (Kind.REPORT, Kind.INPUT, Kind.OBJECTIVE, Kind.OUTPUT, Kind.SELECTION):
        return True  # one unit moves one number or one short row: pure noise is the smaller, whatever delta allows
    return budget.delta == 0


def _event(plan: Plan, round_: Round, part: Part, epsilon: float, mu: float, pure: bool) -> Event:
    """The frozen event from which the noise of this part will be drawn."""
    name = f"{round_.name}/{part.name}"
    draws = part.tape if part.kind.paper_only else part.numbers
    if part.claim is not None:
        claim = part.claim
        return Unbounded(
            name=name, claimed_epsilon=claim.epsilon, claimed_delta=claim.delta, reason=claim.reason,
            noise=claim.noise, scale=claim.scale * part.bound.steps, draws=draws,
        )  # fmt: skip
    if part.kind.paper_only:
        raise SettingError(f"{part.kind.value} releases exist in `paper` calibration only")
    if isinstance(round_.takes_part, Cohort):
        raise SettingError("cohorts of one item exist in `paper` calibration only")
    sampled, steps = getattr(round_.takes_part, "rate", 1.0), part.bound.steps
    size = part.bound.sensitivity(plan.unit, plan.limited)
    needed = size.l1 if pure else size.l2
    if part.kind in (Kind.OBJECTIVE, Kind.OUTPUT):
        needed = size.by_rows(part.size)  # noise is drawn row by row, and epsilon adds up over the rows that move
    if part.kind is Kind.INPUT and plan.unit != "value":
        raise SettingError(f"{name} lists every cell, so who rated what must be public", remedy="use --unit value")
    if needed == inf:
        raise SettingError(
            f"the part {name} has no {'pure' if pure else 'finite'} bound at the unit {plan.unit}",
            remedy="ask for a positive --delta" if pure else "choose another unit",
        )
    if not SCALES[0] <= (scale := needed / (epsilon if pure else mu)) <= SCALES[1]:
        raise SettingError(
            f"the noise of {name} would be {scale:.3g} steps of its grid, more or less than can be drawn",
            remedy="ask for an epsilon between a millionth and a million",
        )
    if part.kind is Kind.REPORT and part.choices:
        return Choice(name=name, epsilon=epsilon, choices=part.choices, favoured=part.favoured)
    if part.kind is Kind.REPORT:
        return Response(name=name, epsilon=epsilon, reports=1, sampled=sampled)
    if part.kind is Kind.SELECTION:
        return Selection(name=name, sensitivity=needed, epsilon=epsilon, candidates=draws, sampled=sampled, steps=steps)
    if part.kind in (Kind.OBJECTIVE, Kind.OUTPUT):
        return KNorm(
            name=name,
            sensitivity=needed,
            scale=needed / epsilon,
            dimension=part.width,
            rows=part.size,
            sampled=sampled,
            steps=steps,
        )
    if pure:
        return Laplace(name=name, sensitivity=needed, scale=needed / epsilon, draws=draws, sampled=sampled, steps=steps)
    sigma = sqrt((needed / mu) ** 2 + 4) * (1 + 1e-12)  # the closed form for the discrete Gaussian uses sigma^2 - 4
    if sigma < 16:
        raise SettingError(f"the grid of {name} is too coarse for so little noise: {sigma:.3g} steps, 16 are needed")
    return Gaussian(name=name, sensitivity=needed, sigma=sigma, draws=draws, sampled=sampled, steps=steps)
