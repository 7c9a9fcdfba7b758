"""What every engine that sums must do: exact, order-free integer sums, and noise only from
paid events."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tacit.bound import RowClip, Rows
from tacit.errors import Failure
from tacit.noise.release import Charge, NoNoise
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.data.ratings import Ratings
    from tacit.engine.base import Engine


def _values(block: Block, state: State) -> Mapping[str, Rows]:
    return {"sum": Rows(block.ptr, block.item, block.value[:, None])}


def _keep(state: State, released: Mapping[str, Released]) -> State:
    return state


class EngineTests:
    """Subclass and say how the engine is made, with a number of workers."""

    @abstractmethod
    def make(self, ratings: Ratings, workers: int) -> Engine: ...

    @pytest.fixture
    def ratings(self) -> Ratings:
        """A few hundred invented people."""
        from tacit.data.sample import sample

        return sample(people=300, ratings=9_000, seed=5)

    def round(self, ratings: Ratings) -> Round:
        """A round with one clipped sum."""
        return Round("r", (Part("sum", ratings.n_items, RowClip(1.0)),), _values, _keep)

    def test_sums_do_not_depend_on_workers(self, ratings: Ratings) -> None:
        round_ = self.round(ratings)
        sums = [
            self.make(ratings, workers).run(round_, State(), NoNoise())["sum"].value
            for workers in (1, 2, 5)
        ]
        assert sums[0].any()
        assert np.array_equal(sums[0], sums[1])
        assert np.array_equal(sums[0], sums[2])

    def test_nothing_is_released_unpaid(self, ratings: Ratings) -> None:
        with pytest.raises(Failure):
            self.make(ratings, 1).run(self.round(ratings), State(), Charge(()))

    def test_noise_is_added_once_it_is_paid(self, ratings: Ratings) -> None:
        round_ = self.round(ratings)
        exact = self.make(ratings, 1).run(round_, State(), NoNoise())["sum"]
        events = Plan("user", (round_,)).events(Budget(1.0, 1e-6))
        noisy = self.make(ratings, 1).run(round_, State(), Charge(events.values()))["sum"]
        assert noisy.private
        assert not exact.private
        spread = (noisy.value - exact.value).std()
        assert noisy.sd * 0.7 < spread < noisy.sd * 1.3
