"""What a book answers with."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.ledger.book.rules import UnitSpent
from tacit.units import Unit


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
