"""A checked request: everything about a fit but the ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.data.held_out import HeldOut
from tacit.engine.scenario import Scenario
from tacit.methods.base import Method
from tacit.rounds.options import NOISE_FROM, Calibration, How, NoiseFrom
from tacit.rounds.plan import Budget
from tacit.units import Unit

if TYPE_CHECKING:
    from tacit.data.budgets import Budgets
    from tacit.data.public import PublicPeople
    from tacit.ledger.book.book import Book
    from tacit.model.model import Model


@dataclass(frozen=True)
class Order:
    """What `tacit.fitting.check.check` has found possible. It is made once for a fit, and its
    book is opened once."""

    method: Method
    unit: Unit
    calibration: Calibration
    budget: Budget | None
    """None where nothing is promised."""
    how: How
    """With the engine that was chosen."""
    settings: Mapping[str, Any]
    devices: Scenario | None = None
    start: Model | None = None
    """An earlier model that this fit may build on."""
    apart: HeldOut | None = None
    """Which ratings the fit does not see."""
    public: PublicPeople | None = None
    """People whose ratings are public: a prior of what is released."""
    budgets: Budgets | None = None
    """What people asked for who want less revealed than the rest."""

    @property
    def engine(self) -> str:
        """Name of the requested engine."""
        assert self.how.engine is not None
        return self.how.engine

    @property
    def runs_on(self) -> str:
        """Where it runs. In the local model a wire adds nothing to simulate: every device
        answers for itself."""
        if self.engine == "federated" and self.method.local:
            return "simulate"
        return self.engine

    @property
    def is_shared(self) -> bool:
        """Whether devices add the noise together. In the local model each adds all of it,
        over whatever wire."""
        return self.engine == "federated" and not self.method.local

    @property
    def noise(self) -> NoiseFrom:
        """Who adds the noise of a federation."""
        return self.how.noise_from or NOISE_FROM

    @cached_property
    def book(self) -> Book:
        """The book that is asked to pay, opened once."""
        from tacit.ledger.book.book import opened

        return opened(self.how.ledger, self.how.population)

    def book_of(self, population: str) -> Book:
        """The book of a population in the same ledger."""
        from tacit.ledger.book.book import opened

        if population == self.how.population:
            return self.book
        return opened(self.how.ledger, population)
