"""Many devices in one process: the local engine in blocks over threads, with drop-outs,
late joiners and cheats.

For research and tests. The process sees every rating, so a promise covers what was released
and not the process. Devices pay, compute and randomize by the code of `tacit.engine.local`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.engine.federated import Federated
from tacit.engine.local import Local
from tacit.engine.scenario import Scenario
from tacit.ledger.book.devices import DeviceBooks
from tacit.noise.release import Charge
from tacit.rounds.options import NOISE_FROM, How, NoiseFrom, Progress
from tacit.rounds.people import People, Turns
from tacit.rounds.plan import Budget
from tacit.rounds.round import Released, Round
from tacit.rounds.state import State


class Simulate(Local):
    """See the module. Answers are added up, so neither blocks nor threads change anything."""

    name = "simulate"
    trust = "devices and servers simulated in one process, which saw every rating"
    alone = False
    noise_from: NoiseFrom = NOISE_FROM
    """Of turns under two servers: who adds it."""

    def __init__(
        self,
        ratings: Ratings,
        threads: int | None = None,
        progress: Progress | None = None,
        *,
        books: DeviceBooks | None = None,
        scenario: Scenario | None = None,
    ) -> None:
        super().__init__(ratings, threads, progress, books=books)
        self.scenario = scenario
        self._round = 0
        self._fleet: Fleet | None = None
        self._federated: Federated | None = None

    @classmethod
    def over(cls, ratings: Ratings, how: How, budget: Budget | None = None) -> Self:
        """As asked for, with the noise of a federation from where it was asked to be."""
        engine = super().over(ratings, how, budget)
        engine.noise_from = how.noise_from or NOISE_FROM
        return engine

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        """As devices answer, or take turns under two servers."""
        if isinstance(round_.takes_part, Turns):
            return self._federation().run(round_, state, charge)
        released = super().run(round_, state, charge)
        self._round += 1
        return released

    def _check_round(self, round_: Round) -> None:
        if isinstance(round_.takes_part, Turns):
            self._federation()._check_round(round_)
        else:
            super()._check_round(round_)

    def _federation(self) -> Federated:
        if self._federated is None:
            self._federated = self._made_federation()
        self._federated.ratings = self.ratings
        self._federated.watched = self.watched
        return self._federated

    def _made_federation(self) -> Federated:
        return Federated(self.ratings, self.threads, self._progress, noise=self.noise_from)

    def _simulated_fleet(self) -> Fleet | None:
        """The simulated devices, made when the first round asks for them."""
        if self._fleet is None and self.scenario is not None:
            self._fleet = Fleet.create(self.scenario, self.people)
        return self._fleet

    def _present(self, people: People) -> People:
        fleet = self._simulated_fleet()
        if fleet is None:
            return people
        is_present = fleet.present(self._round)
        return np.flatnonzero(is_present) if people is None else people[is_present[people]]

    def _cheats(self, people: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        fleet = self._simulated_fleet()
        if fleet is None or not fleet.scenario.cheats:
            return None
        return fleet.dishonest[people]


@dataclass(frozen=True)
class Fleet:
    """When each device joins and leaves, and which of them cheat."""

    scenario: Scenario
    rng: np.random.Generator
    joins: NDArray[np.int64]
    leaves: NDArray[np.int64]
    dishonest: NDArray[np.bool_]

    @staticmethod
    def create(scenario: Scenario, count: int) -> Fleet:
        """Draw when each device joins and leaves, and which ones cheat, from the scenario's
        seed."""
        rng = np.random.default_rng(scenario.seed)
        last_round = max(scenario.over, 2)
        when = rng.integers(1, last_round, count)
        joins = np.where(rng.random(count) < scenario.late, when, 0)
        when = rng.integers(1, last_round, count)
        never = np.iinfo(np.int64).max
        leaves = np.where(rng.random(count) < scenario.leave, when, never)
        dishonest = rng.random(count) < scenario.cheats
        return Fleet(scenario, rng, joins, leaves, dishonest)

    def present(self, round_index: int) -> NDArray[np.bool_]:
        """Mask of the devices that answer in this round."""
        is_present = (self.joins <= round_index) & (round_index < self.leaves)
        is_present &= self.rng.random(len(is_present)) >= self.scenario.drop_out
        return is_present
