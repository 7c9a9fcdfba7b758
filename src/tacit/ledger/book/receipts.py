"""What a book answers with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isinf

from tacit.ledger.account.account import epsilon_of
from tacit.ledger.book.entry import Entry
from tacit.ledger.book.rules import UnitSpent, replay
from tacit.units import Unit

SHOWN_DELTA = 1e-6
"""At which totals are shown where no cap gives a delta."""


@dataclass(frozen=True)
class Receipt:
    """Proof of a reservation: what a statement carries."""

    population: str
    number: int
    hash: str


@dataclass(frozen=True)
class Spent:
    """What a population has spent, by unit."""

    units: tuple[UnitSpent, ...]

    def __getitem__(self, unit: Unit) -> UnitSpent:
        return next(each for each in self.units if each.unit == unit)


@dataclass(frozen=True)
class Verified:
    """A book that was replayed without a fault."""

    population: str
    entries: int
    head: str
    spent: Spent


@dataclass(frozen=True)
class RunningCost:
    """What the first reservations of a population cost together, at one unit."""

    entries: int
    """Releases that were charged, at any unit."""
    epsilon: float
    """Composed over all that have a bound, at `delta`."""
    delta: float
    uncovered: int
    """Releases that no bound covers at this unit: not in `epsilon`."""
    cap: tuple[float, float] | None
    """The cap that held: (epsilon, delta)."""
    under_cap: float | None
    """What is spent at the delta of the cap."""


def running(entries: Iterable[Entry], unit: Unit, delta: float) -> RunningCost:
    """The total after these entries. Where nothing is bounded at `delta` (0 after Gaussian
    noise) it is that at `SHOWN_DELTA`."""
    state = replay(entries)
    tally = state.tally(unit)
    cap = state.caps.get(unit)
    at = SHOWN_DELTA if isinf(epsilon_of(tally.cost, delta)) else delta
    return RunningCost(
        entries=len(state.charged),
        epsilon=epsilon_of(tally.cost, at),
        delta=at,
        uncovered=tally.uncovered,
        cap=cap,
        under_cap=None if cap is None else epsilon_of(tally.cost, cap[1]),
    )
