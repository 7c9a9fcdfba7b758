"""The idea: bounded contributions, summed, noised, absorbed into public state; and the plan
that pays for them.

A *Round* says what one block of people contributes, how much one person may add, which kind
of release it is, who takes part, and how what was released becomes the next public state. A
*Plan* is the rounds and the split of the budget over them, so all privacy events are known
before any rating is touched. Settings of later rounds may be functions of what earlier
rounds released; events may not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from math import isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Bound, Rows
from tacit.errors import SettingError
from tacit.ledger.account.event import Event, Unit
from tacit.rounds.state import State

AnyState = Any
"""The state of the method's family: a frozen dataclass below `tacit.rounds.state.State`."""


class Kind(Enum):
    """The closed set of releases. A caller cannot add one, so no caller can break a promise
    that Tacit states."""

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
    """Each whole person takes part by a secret coin of this chance; the number who do is
    never released."""

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
    """Devices that are online, at most `cohort` of them; each takes part in at most `most`
    rounds of this kind, which it counts itself. The servers see who they are, so nothing is
    amplified."""

    index: int
    most: int
    cohort: int | None = None
    join: float = 0.0
    """Chances with which a device that is away comes, and one that is there goes, between
    rounds: simulation only."""
    leave: float = 0.0
    scheme: Literal["", "S2", "S3", "direct"] = ""
    """How Hua et al. divide their noise among devices: `paper` only."""


Participation = Everyone | Coin | Slice | Cohort | Turns


@dataclass(frozen=True)
class Claim:
    """Noise as a paper prints it, with what the paper claims for it and why no theorem here
    backs the claim."""

    noise: Literal["laplace", "gaussian", "knorm", "response", "masked", "none"]
    scale: float
    """In real units: the Laplace or K-norm scale, the Gaussian standard deviation, or the
    log-ratio of one bit; `masked`: the Laplace scale of numbers whose presence each device
    hides as well."""
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
    """`gram`: the rows are factors, and what is released is the symmetric sum of their
    products, `size` x `size`."""
    tape: int = 0
    """How many draws a sequential epoch is handed (stepwise and posterior releases)."""
    choices: int = 0
    """Of a randomized report: 0 for a bit about a number in [-1, 1], else a choice among so
    many answers."""
    favoured: int = 1
    """How many of these answers a person's record makes likelier."""

    @property
    def numbers(self) -> int:
        """How many numbers are released, each with its own noise."""
        if self.form == "gram":  # the upper triangle, each number once
            return (
                self.size
                * (self.size + (1 if getattr(self.bound, "diagonal", False) else -1))
                // 2
            )
        return self.size * self.width


@dataclass(frozen=True)
class Personal:
    """State that the engine keeps on each person's side between rounds; never summed, sent
    or saved with a model."""

    name: str
    width: int


@dataclass(frozen=True)
class Block:
    """Some people and their ratings, as a kernel sees them. A thread, a partition or a
    phone holds one."""

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
    """See the module. `contribute` must treat every person alone, in a fixed order of
    operations."""

    name: str
    parts: tuple[Part, ...]
    contribute: Callable[[Block, AnyState], Mapping[str, Rows]]
    absorb: Callable[[AnyState, Mapping[str, Released]], AnyState]
    takes_part: Participation = Everyone()
    personal: tuple[Personal, ...] = ()
    instead: str = ""
    """Name of an earlier round of one part and equal share, whose place this one takes if
    `chosen` says so."""
    chosen: Callable[[AnyState], bool] | None = None
    """From what was released before that earlier round: pure, so that asking twice gives
    one answer."""


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
    """The rounds and their unit. Shares are normalised to the whole; more than the whole is
    refused."""

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
        slices = [
            (r.takes_part, p.name)
            for r in self.rounds
            for p in r.parts
            if isinstance(r.takes_part, Slice)
        ]
        if len(set(slices)) != len(slices):
            raise SettingError(
                "a slice of a partition may release a part of one name once only"
            )
        if _overlap(
            {r.takes_part for r in self.rounds if isinstance(r.takes_part, Slice)}
        ):
            raise SettingError("two slices of the plan share people")
        total = self.whole
        if total > 1 + 1e-9:
            raise SettingError(
                f"the shares of the plan add up to {total:.6g}: more than the whole budget"
            )
        if any(not p.share > 0 for r in self.rounds for p in r.parts):
            raise SettingError("every part of a plan needs a positive share")
        if any(
            isinstance(r.takes_part, Coin) and len(r.parts) > 1 for r in self.rounds
        ):
            # Parts under one coin cost more than the accountant's sum, in which every event
            # has a coin of its own.
            raise SettingError(
                "a round of people drawn by a coin has one part",
                remedy="put its columns side by side",
            )
        for other in (r for r in self.rounds if r.instead):
            first = self.first_of(other)
            alike = (
                len(first.parts) == len(other.parts) == 1
                and first.parts[0].share == other.parts[0].share
            )
            if (
                other.chosen is None
                or not alike
                or not first.takes_part == other.takes_part == Everyone()
            ):
                raise SettingError(
                    f"the round {other.name} cannot stand instead of {other.instead}"
                )

    def first_of(self, other: Round) -> Round:
        found = [
            r
            for r in self.rounds[: self.rounds.index(other)]
            if r.name == other.instead and not r.instead
        ]
        if len(found) != 1:
            raise SettingError(
                f"no round {other.instead} comes before {other.name}, which stands instead of it"
            )
        return found[0]

    def passed_over(self, round_: Round, state: State, run: Collection[str]) -> bool:
        """Whether another round takes the place of this one; `run` names the rounds that
        were run so far.

        Guarantee: of a round and those that stand instead of it exactly one runs; the
        charge forbids a second.
        """
        if round_.instead:
            rivals = {
                round_.instead,
                *(r.name for r in self.rounds if r.instead == round_.instead),
            }
            return bool(rivals & set(run)) or not (
                round_.chosen and round_.chosen(state)
            )
        return any(
            r.chosen(state)
            for r in self.rounds
            if r.instead == round_.name and r.chosen
        )

    @cached_property
    def first_turns(self) -> tuple[Round, ...]:
        """The first round of every series of turns: it is charged for all turns that one
        device may take."""
        return tuple(
            r
            for r in self.rounds
            if isinstance(r.takes_part, Turns) and r.takes_part.index == 0
        )

    @property
    def whole(self) -> float:
        return sum(
            p.share
            for r in self.rounds
            for p in r.parts
            if p.claim is None and not is_beside(r)
        )

    def after(self, first: Round, share: float) -> Plan:
        """The same plan with a round before it that takes `share` of the budget."""
        whole = self.whole or 1.0
        priced = replace(
            first,
            parts=tuple(
                replace(p, share=share / len(first.parts)) for p in first.parts
            ),
        )
        rest = tuple(
            replace(
                r,
                parts=tuple(
                    replace(p, share=p.share / whole * (1 - share)) for p in r.parts
                ),
            )
            for r in self.rounds
        )
        return replace(self, rounds=(priced, *rest))

    def events(self, budget: Budget) -> dict[str, Event]:
        """The event of each part, keyed `round/part`, so that all of them together cost at
        most `budget`."""
        from tacit.rounds.price import events

        return events(self, budget)


def _overlap(slices: set[Slice]) -> bool:
    """Whether two different slices of one partition have people in common."""
    taken = [
        (s.of, place) for s in slices for place in range(s.index, s.index + s.width)
    ]
    return len(set(taken)) != len(taken)


def is_beside(round_: Round) -> bool:
    """Later slices of a partition touch people whom the first slice does not; a round
    instead of another takes its place. Neither costs anything on top of the first."""
    return bool(round_.instead) or (
        isinstance(round_.takes_part, Slice | Turns) and round_.takes_part.index > 0
    )
