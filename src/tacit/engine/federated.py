"""A federation in one process: who is online, who takes part, and the noise that both
servers and all devices add together.

Contributions are computed, bounded and put on the grid exactly as on devices, so with the
noise off a round here equals the same round over HTTP bit for bit. With it on, each of two
servers draws a whole noise, and the sum of all shares is drawn at once, from the law that
they have (`--noise`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.engine.gram import off_grid
from tacit.engine.threads import Threads, factors_of
from tacit.errors import SettingError
from tacit.ledger.account.event import Event, Laplace, Skellam
from tacit.noise import bits
from tacit.noise.portion import SERVERS, draw_server_noise, spread_of, together
from tacit.noise.release import Charge, Noise
from tacit.rounds.options import NOISE_FROM, How, NoiseFrom, Progress
from tacit.rounds.people import People, Turns
from tacit.rounds.plan import Budget
from tacit.rounds.round import Kind, Part, Released, Round
from tacit.rounds.shares import for_everyone
from tacit.rounds.state import State

HONEST = 0.9
"""Of the devices of a round, whose shares suffice: the default of a task."""
SURELY = 12
"""Standard deviations by which the number of heads among many coins never exceeds its
mean."""


def noises(source: NoiseFrom) -> float:
    """How many whole noises a sum of everybody has: in variance, as much of the charged one."""
    servers = 0.0 if source == "devices" else float(SERVERS)
    return servers + (0.0 if source == "servers" else 1 / HONEST)


class Federated(Threads):
    """Devices over a network, or simulated ones (see the module).

    `seed` moves people between online and offline; it has nothing to do with privacy noise.
    `groups` instead fixes who takes part in each round, such as those who came over HTTP."""

    name = "federated"
    trust = "two servers that do not collude, simulated in one process"
    shows_people = True

    def __init__(
        self,
        ratings: Ratings,
        threads: int | None = None,
        progress: Progress | None = None,
        *,
        seed: int = 0,
        honest: float = HONEST,
        groups: Sequence[NDArray[np.int64]] | None = None,
        noise: NoiseFrom = NOISE_FROM,
    ) -> None:
        super().__init__(ratings, threads, progress)
        self._from = noise
        self._rng = np.random.default_rng(seed)
        self._honest = honest
        self._groups = groups
        self._online: NDArray[np.bool_] | None = None
        self._turns = np.zeros(0, np.int64)
        self._present: NDArray[np.int64] | None = None
        self.cohorts: list[int] = []

    @classmethod
    def over(cls, ratings: Ratings, how: How, budget: Budget | None = None) -> Self:
        """Devices and servers of which those add the noise that were asked to."""
        engine = super().over(ratings, how)
        engine._from = how.noise_from or NOISE_FROM
        return engine

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        """Sum over the devices that take part, with the noise of all their shares."""
        self._check_round(round_)
        self._make_room(round_)
        self._cohort = self.people
        factors = factors_of(round_)
        sums = self._sum(round_, state, factors)
        wholes = {name: total.whole for name, total in sums.items()}
        wholes |= {name: matrix.packed() for name, matrix in factors.items()}
        released_parts = {}
        for part in round_.parts:
            event = charge.draw(f"{round_.name}/{part.name}")
            released = self._release(round_, part, wholes[part.name], event)
            released_parts[part.name] = self._for_all(round_, released, state)
        self.cohorts.append(self._cohort)
        return released_parts

    def _check_round(self, round_: Round) -> None:
        super()._check_round(round_)
        summed = (p.kind is Kind.SUM and not p.is_sequential for p in round_.parts)
        if not all(summed):
            raise SettingError(
                f"the round {round_.name} is not a sum: it has no federated form here"
            )

    def _for_all(self, round_: Round, released: Released, state: State) -> Released:
        """A sum over a cohort as an estimate for all people."""
        return for_everyone(released, state.people, self._cohort)

    def _release(
        self, round_: Round, part: Part, integer_sums: NDArray[np.int64], event: Event | None
    ) -> Released:
        if event is None:
            return Released(off_grid(part, integer_sums), 0.0, private=False)
        noise = self._noise(round_, part, event, integer_sums.shape)
        return Released(
            off_grid(part, integer_sums + noise.steps),
            noise.sd / part.bound.steps,
            private=not bits.injected(),
        )

    def _noise(self, round_: Round, part: Part, event: Event, shape: tuple[int, ...]) -> Noise:
        """What both servers and the shares of all devices add up to."""
        size = int(np.prod(shape))
        total, variance = np.zeros(size, np.int64), 0.0
        if self._from != "devices":
            spread = spread_of(event)
            for _ in range(SERVERS):
                total += draw_server_noise(spread, size)
                variance += spread.variance
        if self._from != "servers":
            if not isinstance(event, Skellam | Laplace):
                raise SettingError(f"the noise of {event.name} cannot be shared among devices")
            devices = self._cohort
            enough = max(1, floor(self._honest * devices))
            total += together(event, size, devices, enough)
            share_variance = spread_of(event).variance
            variance += share_variance * devices / enough
        return Noise(total.reshape(shape), variance**0.5)

    def _hits(self, chance: float, count: int) -> NDArray[np.int64]:
        """The places of heads among `count` coins, by the gaps between them: most coins of
        a round come up tails."""
        if chance <= 0:
            return np.zeros(0, np.int64)
        mean = count * chance
        likely = int(mean + SURELY * mean**0.5) + SURELY
        positions = np.cumsum(self._rng.geometric(chance, likely)) - 1
        return positions[positions < count]

    def online_cohort(self, turns: Turns) -> People:
        """Those who are online and have turns left, at most a cohort of them."""
        count = self.people
        if turns.index == 0 or len(self._turns) != count:  # a new series of turns
            self._turns = np.zeros(count, np.int64)
        able = self._turns < turns.most
        if turns.leave or turns.join:
            able = able & self._come_and_go(turns)
        people = np.flatnonzero(able)
        if self._groups is not None:
            people = np.sort(self._groups[len(self.cohorts)])
        elif turns.cohort is not None and len(people) > turns.cohort:
            people = np.sort(self._rng.choice(people, turns.cohort, replace=False))
        self._turns[people] += 1
        self._cohort = len(people)
        self._present = None if len(people) == count else people
        return self._present

    def _come_and_go(self, turns: Turns) -> NDArray[np.bool_]:
        """Whose device is there, one round later than last time."""
        count = self.people
        if self._online is None:
            share = turns.online
            if share is None and turns.cohort is not None:
                share = min(1.0, turns.cohort / max(count, 1))
            elif share is None:  # the share of time that a device is there
                share = turns.join / (turns.join + turns.leave)
            shuffled = self._rng.permutation(count)
            self._online = np.zeros(count, np.bool_)
            self._online[shuffled[: max(1, round(share * count))]] = True
            return self._online
        coming = self._hits(turns.join, count)
        going = self._hits(turns.leave, count)
        coming = coming[~self._online[coming]]
        going = going[self._online[going]]
        self._online[coming] = True
        self._online[going] = False
        return self._online
