"""Who takes part in a round, as values that know whom they select.

A participation asks a `Crowd`, which is what an engine knows of its people: fresh coins, a
place of one's own in a secret partition, whose device is there. So an engine runs any of
them, and a new one is a class of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

People = NDArray[np.int64] | None
"""The rows of some people, ascending; None for everyone."""
WORDS = 2**64 - 2048
"""A chance in 64-bit coins: rounded down, which never weakens a guarantee."""


class Crowd(Protocol):
    """The people of one run, as far as a participation may ask about them."""

    def coins(self) -> NDArray[np.uint64]:
        """A fresh secret word for each person."""

    def partition_words(self) -> NDArray[np.uint64]:
        """A secret word for each person, the same through the run."""

    def online_cohort(self, turns: Turns) -> People:
        """Rows of the people whose devices answer in this turn."""


@dataclass(frozen=True)
class Participation(ABC):
    """Which people contribute to a round; privacy amplification follows from it."""

    printed: str = field(default="", kw_only=True)
    """How a paper chooses or shows its people: empty in every sound plan."""

    @abstractmethod
    def among(self, crowd: Crowd) -> People:
        """Those of the crowd who take part."""

    @property
    def chance(self) -> float:
        """The chance of a secret coin for each person, by which privacy is amplified; 1
        without one."""
        return 1.0

    @property
    def times(self) -> int:
        """How often one person may take part in rounds of this kind, all charged with the
        first."""
        return 1

    @property
    def is_later(self) -> bool:
        """Whether an earlier round of the same kind is charged for this one too."""
        return False

    def is_first_of(self, later: Participation) -> bool:
        """Whether a round of these people is charged for `later` rounds too."""
        return False

    @property
    def first(self) -> str:
        """Phrase for the round that is charged in place of this one."""
        return "an earlier round"


@dataclass(frozen=True)
class Everyone(Participation):
    """Every person contributes."""

    def among(self, crowd: Crowd) -> People:
        return None


EVERYONE = Everyone()


@dataclass(frozen=True)
class Coin(Participation):
    """Each whole person takes part by a secret coin of this chance; the number who do is
    never released."""

    rate: float

    def among(self, crowd: Crowd) -> People:
        """Rows of the people whose secret coin came up in this round."""
        return np.flatnonzero(crowd.coins() < np.uint64(self.rate * WORDS))

    @property
    def chance(self) -> float:
        return self.rate


@dataclass(frozen=True)
class Slice(Participation):
    """One slice of a secret random partition of the people: nobody is in two slices of one
    plan."""

    index: int
    of: int
    width: int = 1
    """How many neighbouring slices, from `index` on, are taken together."""

    def among(self, crowd: Crowd) -> People:
        """Those whose place is in this slice."""
        position = (crowd.partition_words() % np.uint64(self.of)).astype(np.int64)
        return np.flatnonzero((position >= self.index) & (position < self.index + self.width))

    @property
    def is_later(self) -> bool:
        """Slice 0 is charged for the others: nobody is in two."""
        return self.index > 0

    def is_first_of(self, later: Participation) -> bool:
        """Whether this is slice 0 of the same partition: it is charged for all slices, because each
        person is in one."""
        return isinstance(later, Slice) and self.index == 0 and self.of == later.of

    @property
    def first(self) -> str:
        return "slice 0 of its partition"


@dataclass(frozen=True)
class Turns(Participation):
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
    online: float | None = None
    """Simulation only: share of the devices that are there at the beginning; unset, as many
    as a cohort, or where there is none the share of time that one is there."""

    def among(self, crowd: Crowd) -> People:
        """Rows of the devices that answer in this turn."""
        return crowd.online_cohort(self)

    @property
    def times(self) -> int:
        """As often as one device may take part."""
        return self.most

    @property
    def is_later(self) -> bool:
        """The first turn is charged for all that one device may take."""
        return self.index > 0

    def is_first_of(self, later: Participation) -> bool:
        """Whether this turn opens a series, and so is charged for all of it."""
        return isinstance(later, Turns) and self.index == 0

    @property
    def first(self) -> str:
        return "the first turn"
