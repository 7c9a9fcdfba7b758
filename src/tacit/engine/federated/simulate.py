"""A federation in one process: who is online, who takes part, and the noise that all of their devices add together.

Contributions are computed, bounded and put on the grid exactly as on devices, so with the noise off a round here equals
the same round over HTTP bit for bit. With it on, the sum of all shares is drawn at once, from the law that they have.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.engine.base import Progress
from tacit.engine.federated.task import for_everyone
from tacit.engine.threads import Threads
from tacit.errors import SettingError
from tacit.ledger.event import Event, Laplace, Skellam, Unbounded
from tacit.noise import bits
from tacit.noise.portion import together
from tacit.noise.release import Charge, draw_noise
from tacit.round import Kind, Part, Participation, Released, Round, State, Turns

HONEST = 0.9
"""Of the devices of a round, whose shares suffice: the default of a task."""


class Federated(Threads):
    """See the module. `seed` moves people between online and offline; it has nothing to do with privacy noise."""

    name = "federated"
    trust = "two servers that do not collude, simulated in one process"

    def __init__(
        self, ratings: Ratings, threads: int | None = None, progress: Progress | None = None, *, seed: int = 0,
        honest: float = HONEST,
    ) -> None:  # fmt: skip
        super().__init__(ratings, threads, progress)
        self._rng, self._honest = np.random.default_rng(seed), honest
        self._online: NDArray[np.bool_] | None = None
        self._turns = np.zeros(ratings.n_users, np.int64)
        self._eta: dict[str, NDArray[np.int64]] = {}
        self.cohorts: list[int] = []

    def run(self, round_: Round, state: State, charge: Charge) -> Mapping[str, Released]:
        if any(part.kind is not Kind.SUM for part in round_.parts):
            raise SettingError(f"the round {round_.name} is not a sum: it has no federated form here")
        for kept in round_.personal:
            if kept.name not in self._personal:
                self._personal[kept.name] = np.zeros((self.ratings.n_users, kept.width))
        self._cohort = self.ratings.n_users
        sums = self._sum(round_, state, {})
        done = {}
        for part in round_.parts:
            event = charge.draw(f"{round_.name}/{part.name}")
            released = self._release(round_, part, sums[part.name].whole, event)
            if not getattr(round_.takes_part, "scheme", ""):
                released = for_everyone(released, float(state["people"][0]), self._cohort)
            done[part.name] = released
        self.cohorts.append(self._cohort)
        return done

    def _release(self, round_: Round, part: Part, whole: NDArray[np.int64], event: Event | None) -> Released:
        steps, devices = part.bound.steps, self._cohort
        if event is None:
            return Released(whole / steps, 0.0, private=False)
        if isinstance(event, Skellam | Laplace):
            enough = max(1, floor(self._honest * devices))
            noise = together(event, whole.size, devices, enough).reshape(whole.shape)
            one = event.variance if isinstance(event, Skellam) else 2 * event.scale**2
            deviation = (one * devices / enough) ** 0.5
        elif isinstance(event, Unbounded):
            noise, deviation = self._printed(round_, part, event, whole.shape)
        else:
            raise SettingError(f"the noise of {event.name} cannot be shared among devices")
        return Released((whole + noise) / steps, deviation / steps, private=not bits.injected())

    def _printed(
        self, round_: Round, part: Part, event: Unbounded, shape: tuple[int, ...]
    ) -> tuple[NDArray[np.int64], float]:
        """eta, the same in every round, and rho, fresh in each (Hua et al. 4.2-4.3)."""
        if event.noise == "none":
            return np.zeros(shape, np.int64), 0.0
        rho, deviation = draw_noise(event, shape)
        scheme = getattr(round_.takes_part, "scheme", "")
        if scheme not in ("S2", "S3"):
            return rho, deviation
        if part.name not in self._eta:
            self._eta[part.name] = draw_noise(event, shape)[0]
        if round_.name == "initialise":
            return np.zeros(shape, np.int64), 0.0
        return rho + self._eta[part.name], deviation * 2**0.5

    def _who(self, takes_part: Participation) -> NDArray[np.int64] | None:
        if not isinstance(takes_part, Turns):
            return super()._who(takes_part)
        count = self.ratings.n_users
        if takes_part.index == 0:  # a new series of turns
            self._turns[:] = 0
        able = self._turns < takes_part.most
        if takes_part.leave or takes_part.join:
            if self._online is None:  # the share of time that a device is there
                share = takes_part.join / max(takes_part.join + takes_part.leave, 1e-300)
                self._online = self._rng.random(count) < share
            else:
                coin = self._rng.random(count)
                self._online = np.where(self._online, coin >= takes_part.leave, coin < takes_part.join)
            able = able & self._online
        people = np.flatnonzero(able)
        if takes_part.cohort is not None and len(people) > takes_part.cohort:
            people = np.sort(self._rng.choice(people, takes_part.cohort, replace=False))
        self._turns[people] += 1
        self._cohort = len(people)
        return None if len(people) == count else people
