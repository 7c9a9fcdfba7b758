"""Many devices in one process: the local engine in blocks over threads, with drop-outs,
late joiners and cheats.

For research and tests. The process sees every rating, so a promise covers what was released
and not the process. Devices pay, compute and randomize by the code of `tacit.engine.local`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.engine.base import Progress
from tacit.engine.federated import Federated
from tacit.engine.local import Local
from tacit.errors import SettingError
from tacit.ledger.book.devices import DeviceBooks
from tacit.noise.release import Charge
from tacit.rounds.people import Turns
from tacit.rounds.round import Released, Round
from tacit.rounds.state import State


@dataclass(frozen=True)
class Scenario:
    """How devices behave. All of it is simulated with a seed and has nothing to do with
    privacy noise."""

    drop_out: float = 0.0
    """Chance that a device does not answer in a round."""
    late: float = 0.0
    """Share of the devices that join at a random round of the first `over`."""
    leave: float = 0.0
    """Share of the devices that leave for good at a random round of the first `over`."""
    over: int = 10
    cheats: float = 0.0
    """Share of the devices that always send the largest answer, unrandomized."""
    seed: int = 0
    book: str | None = None
    """File of the devices' own ledgers, which outlives the run; unset, they end with it."""
    cap: float | None = None
    """Epsilon that a device's own ledger lets it answer in all; unset, the budget of the fit."""

    def __post_init__(self) -> None:
        for name in ("drop_out", "late", "leave", "cheats"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingError(
                    f"the scenario's {name} is {getattr(self, name):g}; it must be between 0 and 1"
                )

    @staticmethod
    def told(given: Mapping[str, Any], engine: str) -> Scenario:
        """From `--devices NAME=VALUE`. Real devices (`local`) behave as they do: only their
        ledger can be named."""
        kinds = {
            field.name: (str if field.name == "book" else float)
            for field in fields(Scenario)
        }
        known = [
            name for name in kinds if engine == "simulate" or name in ("book", "cap")
        ]
        found: dict[str, Any] = {}
        for name, value in given.items():
            if engine not in ("local", "simulate") or name not in known:
                raise SettingError(
                    f"the engine {engine} has no devices of which to say {name}",
                    remedy=f"use --engine simulate with {', '.join(kinds)}; --engine "
                    "local with book, cap",
                )
            try:
                found[name] = kinds[name](value)
            except (TypeError, ValueError):
                raise SettingError(
                    f"devices: {name} is {value!r}, which is no number"
                ) from None
        found |= {name: int(found[name]) for name in ("over", "seed") if name in found}
        return Scenario(**found)

    def words(self) -> list[str]:
        """What is not as usual, for a statement; a path is nobody's business."""
        usual = Scenario(book=self.book)
        changed = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if getattr(self, f.name) != getattr(usual, f.name)
        }
        return [f"devices: {name} = {value:g}" for name, value in changed.items()]


class Simulate(Local):
    """See the module. Answers are added up, so neither blocks nor threads change anything."""

    name = "simulate"
    trust = "devices and servers simulated in one process, which saw every rating"
    alone = False

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
        self._federated: Federated | None = None
        if scenario is not None:
            rng, count = np.random.default_rng(scenario.seed), ratings.n_users
            when = rng.integers(1, max(scenario.over, 2), count)
            self._joins = np.where(rng.random(count) < scenario.late, when, 0)
            when = rng.integers(1, max(scenario.over, 2), count)
            self._leaves = np.where(
                rng.random(count) < scenario.leave, when, np.iinfo(np.int64).max
            )
            self._dishonest = rng.random(count) < scenario.cheats
            self._rng = rng

    def run(
        self, round_: Round, state: State, charge: Charge
    ) -> Mapping[str, Released]:
        if isinstance(
            round_.takes_part, Turns
        ):  # devices that take turns under two servers
            return self._federation().run(round_, state, charge)
        released = super().run(round_, state, charge)
        self._round += 1
        return released

    def _federation(self) -> Federated:
        if self._federated is None:
            self._federated = Federated(self.ratings, self.threads, self._progress)
        return self._federated

    def _present(self, people: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        if self.scenario is None:
            return people
        there = (self._joins <= self._round) & (self._round < self._leaves)
        there &= self._rng.random(len(there)) >= self.scenario.drop_out
        return np.flatnonzero(there) if people is None else people[there[people]]

    def _cheats(self, people: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        return (
            self._dishonest[people]
            if self.scenario is not None and self.scenario.cheats
            else None
        )
