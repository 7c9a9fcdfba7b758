"""Many devices in one process: the local engine in blocks over threads, with drop-outs, late joiners and cheats.

For research and tests. The process sees every rating, so a promise covers what was released and not the process.
Devices pay, compute and randomize as in `tacit.engine.local`; only the loop over them is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.engine.base import Progress
from tacit.engine.device import DeviceBooks
from tacit.engine.federated.simulate import Federated
from tacit.engine.local import Answers, Local
from tacit.errors import SettingError
from tacit.noise.release import Charge
from tacit.round import Released, Round, State, Turns


@dataclass(frozen=True)
class Scenario:
    """How devices behave. All of it is simulated with a seed and has nothing to do with privacy noise."""

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

    def __post_init__(self) -> None:
        for name in ("drop_out", "late", "leave", "cheats"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingError(f"the scenario's {name} is {getattr(self, name):g}; it must be between 0 and 1")


class Simulate(Local):
    """See the module. Blocks are cut as in the threads engine and answers are added up, so threads change nothing."""

    name = "simulate"
    trust = "devices and servers simulated in one process, which saw every rating"

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
            self._leaves = np.where(rng.random(count) < scenario.leave, when, np.iinfo(np.int64).max)
            self._cheats = rng.random(count) < scenario.cheats
            self._rng = rng

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        from threadpoolctl import threadpool_limits

        if isinstance(round_.takes_part, Turns):  # devices that take turns under two servers
            return self._federation().run(round_, state, charge)
        answers = self._open(round_, charge)
        people = self._pay_all(answers, self._present(self._who(round_.takes_part)))
        blocks = list(self._cut(people, whole=False))
        workers = max(1, min(self.threads, len(blocks)))
        heard = [{name: Answers(a.part, a.event) for name, a in answers.items()} for _ in range(workers)]
        cheats = self._cheats if self.scenario is not None and self.scenario.cheats else None

        def work(worker: int) -> None:
            for position in range(worker, len(blocks), workers):
                block = self._block(blocks[position], {})
                given = round_.contribute(block, state)
                self._keep(block, round_)
                for name, answer in heard[worker].items():
                    answer.hear(block, given[name], None if cheats is None else cheats[block.people])
                if self._progress:
                    self._progress(position + 1, len(blocks), round_.name)

        with threadpool_limits(1) if workers > 1 else nullcontext(), ThreadPoolExecutor(workers) as pool:
            list(pool.map(work, range(workers)))
        for part in heard:
            for name, answer in part.items():
                answers[name].merge(answer)
        self._round += 1
        return self._close(round_, state, answers)

    def _federation(self) -> Federated:
        if self._federated is None:
            self._federated = Federated(self.ratings, self.threads, self._progress)
        return self._federated

    def _pay_all(self, answers: Mapping[str, Answers], people: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        if self.books is None or all(answer.event is None for answer in answers.values()):
            return people
        asked = np.arange(self.ratings.n_users) if people is None else people
        paid = self._pay(answers, asked)
        return None if people is None and len(paid) == len(asked) else paid

    def _present(self, people: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        """Of the people who are asked, those whose device is there and answers."""
        if self.scenario is None:
            return people
        there = (self._joins <= self._round) & (self._round < self._leaves)
        there &= self._rng.random(len(there)) >= self.scenario.drop_out
        return np.flatnonzero(there) if people is None else people[there[people]]
