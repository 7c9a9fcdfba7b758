"""What a book answers with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isinf

from tacit.errors import UnknownKeyError
from tacit.ledger.account.account import epsilon_of
from tacit.ledger.account.rounded import down, up
from tacit.ledger.book.chain import Stray
from tacit.ledger.book.entry import Entry
from tacit.ledger.book.rules import UnitSpent, replay
from tacit.page import paragraph
from tacit.units import Unit
from tacit.validation import Suggesting, near

SHOWN_DELTA = 1e-6
"""At which totals are shown where no cap gives a delta."""


@dataclass(frozen=True, repr=False)
class Receipt:
    """Proof of a reservation: what a statement carries."""

    population: str
    number: int
    hash: str

    def __repr__(self) -> str:
        return f"Receipt(entry {self.number} of {self.population!r}, {self.hash[:12]}…)"


@dataclass(frozen=True, repr=False)
class Spent(Suggesting):
    """What a population has spent, by unit."""

    units: tuple[UnitSpent, ...]

    def __getitem__(self, unit: Unit) -> UnitSpent:
        for unit_spent in self.units:
            if unit_spent.unit == unit:
                return unit_spent
        unit_names = [unit_spent.unit for unit_spent in self.units]
        raise UnknownKeyError(
            f"nothing is spent at the unit {unit!r}",
            remedy=f"{near(str(unit), unit_names)}there is: {', '.join(unit_names)}",
        )

    def __repr__(self) -> str:
        return f"Spent({'; '.join(map(_render_unit, self.units))})"

    def _repr_html_(self) -> str:
        return "".join(paragraph(_render_unit(unit_spent)) for unit_spent in self.units)


def _render_unit(unit_spent: UnitSpent) -> str:
    """`user: epsilon 2.8 at delta 1e-06 over 7 releases, cap 3, 0.9 left`."""
    text = (
        f"{unit_spent.unit}: epsilon {up(unit_spent.epsilon)} at delta {unit_spent.delta:g} over "
        f"{unit_spent.entries} release{'s' * (unit_spent.entries != 1)}"
    )
    if unit_spent.cap is not None and unit_spent.left is not None:
        text += f", cap {unit_spent.cap:g}, {down(max(unit_spent.left, 0.0))} left"
    if unit_spent.unbounded:
        text += f", {unit_spent.unbounded} more without a bound"
    return text


@dataclass(frozen=True)
class Verified:
    """A book that was replayed without a fault."""

    population: str
    entries: int
    head: str
    spent: Spent
    strays: tuple[Stray, ...] = ()
    """Rows under no seal, which are not counted."""


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
