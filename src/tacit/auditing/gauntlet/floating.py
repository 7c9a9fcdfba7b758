"""Mironov 2012: the last bits of a noisy number tell what was noised.

Not every float can be the sum of a number and a float of noise, and which can depends on the
number. The attack takes releases of 0 and of 1 and looks for values near 0 that are no
multiple of 2^-53: only noise that was added to 0 gives them. Integers on a grid have none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit
from tacit.auditing.gauntlet.game import GameScore, epsilon_of
from tacit.auditing.gauntlet.laws import added
from tacit.auditing.verdict import make_finding
from tacit.noise.law import Law
from tacit.noise.release import draw_law

NAME = "floating point"
COINS = 4000
NEAR = 0.25
"""Where sums with 1 are multiples of 2^-53 and sums with 0 need not be."""
LAST = 2.0**53
Noise = Callable[[int], NDArray[np.float64]]


def attack(exhibit: Exhibit) -> Cell:
    """Attack every law that the method adds to sums, at a spread of 1."""
    laws = added(exhibit.events)
    if not laws:
        return exhibit.skip(NAME, "no noise is added to a sum")
    won = max(
        (_guessed(name, exhibit.target.mistake) for name in sorted(laws)),
        key=lambda finding: finding.epsilon,
    )
    return make_finding(exhibit.target, NAME, won.epsilon, note=won.summary, box="white")


@lru_cache(maxsize=8)
def _guessed(name: str, mistake: float) -> GameScore:
    return porous(on_grid(name), mistake)


def on_grid(name: str, steps: int = 2**20) -> Noise:
    """Noise of a law, in units, as `tacit.noise.release` leaves the grid."""

    def noise(count: int) -> NDArray[np.float64]:
        samples = draw_law(Law(name, float(steps), count), (count, 1)).steps
        return np.asarray(samples.ravel() / steps)

    return noise


def porous(noise: Noise, mistake: float, seed: int = 3) -> GameScore:
    """Guess 0 wherever a value near 0 is no multiple of 2^-53; pass over the rest."""
    coins = np.random.default_rng(seed).random(COINS) < 0.5
    noisy = coins + noise(COINS)
    scaled = noisy * LAST
    odd = (np.abs(noisy) < NEAR) & (scaled != np.rint(scaled))
    right = int((~coins[odd]).sum())
    guesses = int(odd.sum())
    epsilon = epsilon_of(right, guesses, COINS, 0.0, mistake)
    return GameScore(right, guesses, COINS, epsilon)
