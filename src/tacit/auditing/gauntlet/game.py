"""Coins guessed from one fit, as an epsilon that the fit surely costs.

Of m independent fair coins some are guessed, the others passed over. Under a promise of
(epsilon, delta) the number of right guesses is no larger, but for delta's part, than that of
as many coins of chance 1/(1 + e^-epsilon) (Steinke, Nasr & Jagielski 2023, theorem 5.2). So
a count that those coins reach with a chance below `mistake` refutes the promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

SHARES = (0.15, 0.35, 0.5)
"""Of the coins, how many are guessed at either end of the scores. Each, in either direction,
is a test of its own, and the chance of a mistake is split among them."""
MOST = 20.0
"""An epsilon beyond which nothing is looked for."""
CLOSE = 1e-6


@dataclass(frozen=True)
class GameScore:
    """How one attack did on the coins of one fit."""

    right: int
    guesses: int
    coins: int
    epsilon: float
    """That the fit surely costs."""

    @property
    def summary(self) -> str:
        """What was seen."""
        return f"{self.right} of {self.guesses} guesses right"


def guess(
    scores: NDArray[np.float64], coins: NDArray[np.bool_], *, delta: float, mistake: float
) -> GameScore:
    """Guess the coins of the highest scores as true and those of the lowest as false, or the
    other way round, at the best of a few numbers of guesses.

    Equal scores are broken by place, which knows nothing of the coins.
    """
    order = np.argsort(np.nan_to_num(scores), kind="stable")
    games: list[GameScore] = []
    for share in SHARES:
        side = max(1, int(share * len(coins)))
        right = int((~coins[order[:side]]).sum() + coins[order[-side:]].sum())
        right = max(right, 2 * side - right)  # which way is part of the guess
        epsilon = epsilon_of(right, 2 * side, len(coins), delta, mistake / (2 * len(SHARES)))
        games.append(GameScore(right, 2 * side, len(coins), epsilon))
    return max(games, key=lambda game: (game.epsilon, game.right))


def epsilon_of(right: int, guesses: int, coins: int, delta: float, mistake: float) -> float:
    """The largest epsilon that these guesses refute."""
    if chance_of(0.0, right, guesses, coins, delta) > mistake:
        return 0.0
    low, high = 0.0, MOST
    while high - low > CLOSE:
        middle = (low + high) / 2
        refuted = chance_of(middle, right, guesses, coins, delta) <= mistake
        low, high = (middle, high) if refuted else (low, middle)
    return low


def chance_of(epsilon: float, right: int, guesses: int, coins: int, delta: float) -> float:
    """The most likely that so many are right under (epsilon, delta)."""
    from scipy.special import bdtrc

    def reached(count: int) -> float:
        if count <= 0:
            return 1.0
        return float(bdtrc(count - 1, guesses, 1 / (1 + exp(-epsilon))))

    lowest = reached(right)
    if delta == 0:
        return lowest
    gains = ((reached(right - i) - lowest) / i for i in range(1, max(right, 1) + 1))
    return min(1.0, lowest + 2 * coins * delta * max(gains))
