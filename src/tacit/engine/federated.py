"""A federation in one process: who is online, who takes part, and the noise that all of
their devices add together.

Contributions are computed, bounded and put on the grid exactly as on devices, so with the
noise off a round here equals the same round over HTTP bit for bit. With it on, the sum of
all shares is drawn at once, from the law that they have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.engine.base import Progress
from tacit.engine.gram import Factors, off_grid
from tacit.engine.threads import Threads
from tacit.errors import SettingError
from tacit.ledger.account.event import Event, Laplace, Skellam, Unbounded
from tacit.noise import bits
from tacit.noise.portion import together, whole_pieces
from tacit.noise.release import Charge, draw_noise
from tacit.rounds.people import People, Turns
from tacit.rounds.round import Kind, Part, Released, Round
from tacit.rounds.shares import for_everyone
from tacit.rounds.state import State

HONEST = 0.9
"""Of the devices of a round, whose shares suffice: the default of a task."""


class Federated(Threads):
    """See the module. `seed` moves people between online and offline; it has nothing to do
    with privacy noise. `groups` says instead who takes part in each round, such as those
    who came over HTTP."""

    name = "federated"
    trust = "two servers that do not collude, simulated in one process"

    def __init__(
        self,
        ratings: Ratings,
        threads: int | None = None,
        progress: Progress | None = None,
        *,
        seed: int = 0,
        honest: float = HONEST,
        groups: Sequence[NDArray[np.int64]] | None = None,
    ) -> None:
        super().__init__(ratings, threads, progress)
        self._rng, self._honest = np.random.default_rng(seed), honest
        self._groups = groups
        self._online: NDArray[np.bool_] | None = None
        self._turns = np.zeros(ratings.n_users, np.int64)
        self._present: NDArray[np.int64] | None = None
        self._eta: dict[str, NDArray[np.int64]] = {}
        self.cohorts: list[int] = []

    def run(
        self, round_: Round, state: State, charge: Charge
    ) -> Mapping[str, Released]:
        if any(part.kind is not Kind.SUM for part in round_.parts):
            raise SettingError(
                f"the round {round_.name} is not a sum: it has no federated form here"
            )
        for kept in round_.personal:
            if kept.name not in self._personal:
                self._personal[kept.name] = np.zeros((self.ratings.n_users, kept.width))
        self._cohort = self.ratings.n_users
        factors = {
            part.name: Factors(part) for part in round_.parts if part.form == "gram"
        }
        sums = self._sum(round_, state, {}, factors)
        wholes = {name: total.whole for name, total in sums.items()} | {
            n: f.packed() for n, f in factors.items()
        }
        done = {}
        for part in round_.parts:
            event = charge.draw(f"{round_.name}/{part.name}")
            released = self._release(round_, part, wholes[part.name], event)
            if not round_.takes_part.printed:
                released = for_everyone(released, state.people, self._cohort)
            done[part.name] = released
        self.cohorts.append(self._cohort)
        return done

    def _release(
        self, round_: Round, part: Part, whole: NDArray[np.int64], event: Event | None
    ) -> Released:
        steps, devices = part.bound.steps, self._cohort
        if event is None:
            return Released(off_grid(part, whole), 0.0, private=False)
        if isinstance(event, Skellam | Laplace):
            enough = max(1, floor(self._honest * devices))
            noise = together(event, whole.size, devices, enough).reshape(whole.shape)
            one = event.variance if isinstance(event, Skellam) else 2 * event.scale**2
            deviation = (one * devices / enough) ** 0.5
        elif isinstance(event, Unbounded):
            noise, deviation = self._printed(round_, part, event, whole.shape)
        else:
            raise SettingError(
                f"the noise of {event.name} cannot be shared among devices"
            )
        return Released(
            off_grid(part, whole + noise),
            deviation / steps,
            private=not bits.injected(),
        )

    def _printed(
        self, round_: Round, part: Part, event: Unbounded, shape: tuple[int, ...]
    ) -> tuple[NDArray[np.int64], float]:
        """eta, the same in every round, and rho, fresh in each (Hua et al. 4.2-4.3)."""
        if event.noise == "none":
            return np.zeros(shape, np.int64), 0.0
        scheme = round_.takes_part.printed
        if not scheme:
            return draw_noise(event, shape)
        if (
            part.name not in self._eta
        ):  # of the items that somebody who is there now has rated
            self._eta[part.name] = np.where(
                self._raters()[:, None] > 0, draw_noise(event, shape)[0], 0
            )
        if round_.name == "initialise":
            return np.zeros(shape, np.int64), 0.0
        if scheme == "direct":  # equation 13: every rater adds a whole rho
            raters, scale = self._raters(), event.scale / shape[1] ** 0.5
            own = np.trunc(whole_pieces(scale, raters, shape[1])).astype(np.int64)
            variance = (
                scale**2 * (shape[1] + 1) * float(raters.mean()) + 2 * event.scale**2
            )
            return own + self._eta[part.name], variance**0.5
        rho, deviation = draw_noise(event, shape)
        return rho + self._eta[part.name], deviation * 2**0.5

    def _raters(self) -> NDArray[np.int64]:
        """How many of those who take part have rated each item: the paper's k."""
        data = self.ratings
        here = np.zeros(data.n_users, bool)
        here[slice(None) if self._present is None else self._present] = True
        return np.bincount(data.item[here[data.user]], minlength=data.n_items)

    def _hits(self, chance: float, count: int) -> NDArray[np.int64]:
        """The places of heads among `count` coins, by the gaps between them: most coins of
        a round come up tails."""
        if chance <= 0:
            return np.zeros(0, np.int64)
        likely = int(count * chance + 12 * (count * chance) ** 0.5) + 12
        places = np.cumsum(self._rng.geometric(chance, likely)) - 1
        return places[places < count]

    def turn(self, turns: Turns) -> People:
        """Who is online and has turns left, at most a cohort of them."""
        count = self.ratings.n_users
        if turns.index == 0:  # a new series of turns
            self._turns[:] = 0
        able = self._turns < turns.most
        if turns.leave or turns.join:
            if self._online is None:  # the share of time that a device is there
                share = turns.join / max(turns.join + turns.leave, 1e-300)
                self._online = self._rng.random(count) < share
            else:
                coming, going = (
                    self._hits(chance, count) for chance in (turns.join, turns.leave)
                )
                coming, going = (
                    coming[~self._online[coming]],
                    going[self._online[going]],
                )
                self._online[coming], self._online[going] = True, False
            able = able & self._online
        people = np.flatnonzero(able)
        if self._groups is not None:
            people = np.sort(self._groups[len(self.cohorts)])
        elif turns.cohort is not None and len(people) > turns.cohort:
            people = np.sort(self._rng.choice(people, turns.cohort, replace=False))
        self._turns[people] += 1
        self._cohort = len(people)
        self._present = None if len(people) == count else people
        return self._present
