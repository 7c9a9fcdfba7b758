"""Timing of samplers: does the work of a draw tell what was drawn?

Seconds depend on the machine, and statements say that they are not protected. What they could
tell is how many random words a draw took: the one thing in a sampler that varies. The attack
counts words of single draws and asks whether large noise takes another number than small.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.gauntlet.exhibit import Cell, Exhibit
from tacit.auditing.gauntlet.game import GameScore, guess
from tacit.auditing.gauntlet.laws import added
from tacit.auditing.verdict import make_finding
from tacit.noise.bits import Bits
from tacit.noise.gaussian import discrete_gaussian
from tacit.noise.knorm import knorm
from tacit.noise.laplace import discrete_laplace

NAME = "timing"
DRAWS = 1500
SPREAD = 1000.0
"""Steps."""
TOGETHER = 3
"""Dimensions of a K-norm draw."""


def attack(exhibit: Exhibit) -> Cell:
    """Guess the size of noise by the words that it took, for every law of the method."""
    laws = added(exhibit.events)
    if not laws:
        return exhibit.skip(NAME, "no noise is added to a sum: a report takes one word")
    won = max(
        (_guessed(name, exhibit.target.mistake) for name in sorted(laws)),
        key=lambda finding: finding.epsilon,
    )
    return make_finding(exhibit.target, NAME, won.epsilon, note=won.summary, box="white")


class CountedBits(Bits):
    """Bits that count how often they are asked, and for how much."""

    asked = 0

    def words(self, n: int) -> NDArray[np.uint64]:
        """As many words as ever."""
        self.asked += n
        return super().words(n)

    def word(self) -> int:
        """One of them."""
        self.asked += 1
        return super().word()


@lru_cache(maxsize=8)
def _guessed(name: str, mistake: float) -> GameScore:
    bits = CountedBits()
    sizes = np.empty(DRAWS)
    work = np.empty(DRAWS)
    for k in range(DRAWS):
        before = bits.asked
        sizes[k] = abs(_draw_one(name, bits))
        work[k] = bits.asked - before
    return by_work(work, sizes, mistake)


def by_work(work: NDArray[np.float64], sizes: NDArray[np.float64], mistake: float) -> GameScore:
    """Guess whether noise is above its median by the work that it took. Ties are broken by
    place, which knows nothing."""
    return guess(work, sizes > np.median(sizes), delta=0.0, mistake=mistake)


def _draw_one(name: str, bits: Bits) -> int:
    if name == "gaussian":
        return int(discrete_gaussian(1, SPREAD, bits)[0])
    if name == "laplace":
        return int(discrete_laplace(1, SPREAD, bits)[0])
    return int(knorm(1, TOGETHER, SPREAD, bits)[0, 0])
