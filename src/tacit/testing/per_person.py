"""Each person alone: what every method must do, and every promise stands on. Part of
`MethodTests`.

class TestMine(AloneTests):
    method = Mine

For every unit of the method, with a delta and without, through all rounds of the sound plan:
what somebody adds is the same, bit for bit, in a block of all, by herself, in another order
and among people who rate otherwise; and what is published follows from what was released,
whoever contributes meanwhile. `not_alone` says the same of one method in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, ClassVar

import numpy as np
import pytest

from tacit.auditing.neighbours import broken
from tacit.auditing.per_person import depends_on_others, not_alone
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.errors import SettingError
from tacit.methods.base import Method
from tacit.noise.bits import _inject
from tacit.units import Unit

__all__ = ["AloneTests", "broken", "depends_on_others", "not_alone"]

DELTAS = (1e-6, 0.0)
SEED = 11
"""Of the injected bits."""
FEW = 60
"""Declared, besides the true number: plans have other rounds for few and for many."""
MANY = 100_000


class AloneTests:
    """See the module. `MethodTests` has the fixtures; they may be replaced."""

    method: ClassVar[type[Method]]
    settings: ClassVar[dict[str, Any]] = {}

    @pytest.fixture
    def items(self) -> Catalogue:
        """The public catalogue."""
        from tacit.testing.small_sample import few_films

        return few_films()

    @pytest.fixture
    def ratings(self) -> Ratings:
        """Invented people."""
        from tacit.testing.small_sample import few_ratings

        return few_ratings()

    def make(self, **options: Any) -> Method:
        """The method with the settings of this test."""
        return self.method(**({"epsilon": 2.0} | self.settings | options))

    def each(self, delta: float) -> Iterator[tuple[Unit, Method]]:
        """The method at every unit for which it has a plan with this delta."""
        for unit in self.method.units:
            yield unit, self.make(unit=unit, delta=delta)

    def for_each(self, delta: float, find: Callable[[Method], object]) -> None:
        """`find` finds nothing at any unit. Without a delta a method may have no plan, and
        says so; with one it has."""
        for unit, method in self.each(delta):
            try:
                differences = find(method)
            except SettingError:
                if delta > 0:
                    raise
                continue
            assert not differences, f"{method.name} at the unit {unit}: {differences}"

    @pytest.mark.parametrize("noise", ["off", "injected"])
    @pytest.mark.parametrize("delta", DELTAS)
    def test_each_person_is_computed_alone(
        self, ratings: Ratings, items: Catalogue, delta: float, noise: str
    ) -> None:
        """Whoever else is in her block, and whatever they have rated."""

        def find(method: Method) -> list[str]:
            source = np.random.default_rng(SEED).bytes
            with _inject(source) if noise == "injected" else nullcontext():
                return [
                    fault
                    for users in (FEW, MANY)
                    for fault in not_alone(
                        method, ratings, items, users=users, noise=noise == "injected"
                    )
                ]

        self.for_each(delta, find)

    @pytest.mark.parametrize("delta", DELTAS)
    def test_a_model_is_made_of_what_was_released(
        self, ratings: Ratings, items: Catalogue, delta: float
    ) -> None:
        """The same releases give the same model, whoever contributed."""
        self.for_each(delta, lambda method: depends_on_others(method, ratings, items, users=FEW))

    @pytest.mark.parametrize("most", [None, 12])
    @pytest.mark.parametrize("delta", DELTAS)
    def test_no_neighbour_moves_a_sum_by_more_than_was_charged(
        self, ratings: Ratings, items: Catalogue, delta: float, most: int | None
    ) -> None:
        """A hunt over neighbouring data sets, through the engine's sum over all people."""
        self.for_each(
            delta, lambda method: broken(method, items, ratings, users=FEW, max_ratings=most)
        )
