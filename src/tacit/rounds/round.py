"""The idea: bounded contributions, summed, noised, absorbed into public state.

A *Round* says what one block of people contributes, how much one person may add, which kind
of release it is, who takes part (`tacit.rounds.people`), and how what was released becomes
the next public state (`tacit.rounds.state`). The rounds of a method and the split of its
budget over them are its *Plan* (`tacit.rounds.plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Bound, GramBound, Rows
from tacit.errors import Failure
from tacit.ledger.account.event import Event
from tacit.repr import shapes
from tacit.rounds.people import EVERYONE, Participation

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


class Printed(Protocol):
    """A release as a paper prints it: claimed and never certified. Sound plans have none."""

    @property
    def release_kind(self) -> str:
        """The kind of release; empty for that of its part."""

    @property
    def sequential(self) -> bool:
        """Whether the people's side makes the array itself, in one block of everybody."""

    @property
    def draws(self) -> int:
        """How many draws a sequential epoch is handed."""

    @property
    def bare(self) -> bool:
        """Whether it is printed without noise: claimed as all of it is, not switched off."""

    @property
    def masked(self) -> bool:
        """Whether a device hides which rows it fills as well, with noise of its own."""

    def event(self, name: str, part: Part) -> Event:
        """The ledger event of this part."""


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
    form: Literal["rows", "gram"] = "rows"
    """`gram`: the rows are factors, and what is released is the symmetric sum of their
    products, `size` x `size`."""
    choices: int = 0
    """Of a randomized report: 0 for a bit about a number in [-1, 1], else a choice among so
    many answers."""
    favoured: int = 1
    """How many of these answers a person's record makes likelier."""
    centred: bool = False
    """Whether something that is known is taken off everybody's rows, so that people have numbers
    for items that they have not rated."""
    printed: Printed | None = None
    """Given for papers and twins only."""

    @property
    def numbers(self) -> int:
        """How many numbers are released, each with its own noise."""
        if self.form == "rows":
            return self.size * self.width
        # The upper triangle, each number once.
        return self.size * (self.size + (1 if self.diagonal else -1)) // 2

    @property
    def diagonal(self) -> bool:
        """Of a Gram part: whether its diagonal is released too."""
        if not isinstance(self.bound, GramBound):
            raise Failure(f"the part {self.name} has no bound for products")
        return self.bound.diagonal

    @property
    def is_sequential(self) -> bool:
        """Whether an epoch of a paper or a twin makes the array, and nothing is summed."""
        return self.printed is not None and self.printed.sequential

    @property
    def release_kind(self) -> str:
        """Kind of release as statements print it: that of the printed form, else that of the
        mechanism."""
        return (self.printed and self.printed.release_kind) or self.kind.value


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
    draws: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """What a sequential epoch is handed, by part; empty in every sound plan."""

    __repr__ = shapes


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
class Stationary:
    """What one person adds on average in a week of a calendar: scale x weight x (b - taken),
    with the same weight and b in every week. Numbers, or arrays of the part's numbers."""

    scale: NDArray[np.float64] | float = 1.0
    taken: NDArray[np.float64] | float = 0.0
    weight: NDArray[np.float64] | float = 1.0
    """As it is known now; the other two are those of the week."""


@dataclass(frozen=True)
class Round:
    """See the module. `contribute` must treat every person alone, in a fixed order of
    operations."""

    name: str
    parts: tuple[Part, ...]
    contribute: Callable[[Block, AnyState], Mapping[str, Rows]]
    absorb: Callable[[AnyState, Mapping[str, Released]], AnyState]
    takes_part: Participation = EVERYONE
    personal: tuple[Personal, ...] = ()
    instead: str = ""
    """Name of an earlier round of one part and equal share, whose place this one takes if
    `chosen` says so."""
    chosen: Callable[[AnyState], bool] | None = None
    """From what was released before that earlier round: pure, so that asking twice gives
    one answer."""
    steady: Callable[[AnyState], Mapping[str, Stationary]] | None = None
    """On a calendar, by part: what is the same from week to week, if anything is
    (`tacit.rounds.running`)."""
