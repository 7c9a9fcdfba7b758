"""What a number of right guesses proves, in one run.

An adversary scores everybody who is in or out by a fair coin, guesses for the r scores that
are furthest from the middle, and v guesses are right. Each function below gives a chance that
a mechanism with a given trade-off curve does as badly: below `mistake` the curve is refuted.
Proofs: docs/proofs/audit.md.

- `chance_independent`: the noise of different people's numbers is independent (which a
  transcript of sums on rows of their own is). Exact, by the law of order statistics.
- `chance_any`: nothing is assumed but the curve for each person, whatever depends on what.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BINS = 400
"""Of the place of the last guess: the chance is rounded up in each."""
LAST = 1e-13
"""Chance of the places beyond the last bin."""
MOST_MU = 12.0
"""Looked for up to here: an epsilon above 100."""
MOST_EPSILON = 60.0
HALVINGS = 40


@dataclass(frozen=True)
class Guessed:
    """Of `people`, `made` were guessed and `right` of these rightly."""

    people: int
    made: int
    right: int


class TradeOff(Protocol):
    """A trade-off curve: how well one person in or out may be told apart."""

    def most(self, wrong: float) -> float:
        """The largest chance of an event of chance `wrong` on a neighbour."""

    def least(self, right: float) -> float:
        """The least chance on a neighbour of an event of chance `right`: the inverse."""

    def epsilon(self, delta: float) -> float:
        """At this delta."""


@dataclass(frozen=True)
class GaussianCurve:
    """Of mu-Gaussian privacy."""

    mu: float

    def most(self, wrong: float) -> float:
        """Phi(Phi^-1(wrong) + mu)."""
        return _shift_normal(wrong, self.mu)

    def least(self, right: float) -> float:
        """Phi(Phi^-1(right) - mu)."""
        return _shift_normal(right, -self.mu)

    def epsilon(self, delta: float) -> float:
        """The closed form."""
        from tacit.ledger.account.gaussian import epsilon_at

        return epsilon_at(self.mu, delta)


@dataclass(frozen=True)
class PureCurve:
    """Of pure epsilon."""

    pure: float

    def most(self, wrong: float) -> float:
        """min(e^epsilon wrong, 1 - e^-epsilon (1 - wrong))."""
        return min(exp(self.pure) * wrong, 1 - exp(-self.pure) * (1 - wrong), 1.0)

    def least(self, right: float) -> float:
        """The inverse."""
        return max(exp(-self.pure) * right, 1 - exp(self.pure) * (1 - right), 0.0)

    def epsilon(self, delta: float) -> float:
        """Less where delta allows: for randomized response, whose curve this is."""
        exp_pure = exp(self.pure)
        # delta(e) = (e^pure - e^e)/(1 + e^pure)
        exp_epsilon = exp_pure - delta * (1 + exp_pure)
        return log(exp_epsilon) if exp_epsilon > 1 else 0.0


def guess(scores: Floats, coins: NDArray[np.bool_], count: int) -> Guessed:
    """Guess `in` above 0 and `out` below, for the `count` scores furthest from 0. Ties are
    broken by place, which is no secret; a score of 0 is a wrong guess."""
    order = np.argsort(-np.abs(scores), kind="stable")[:count]
    right = np.where(coins[order], scores[order] > 0, scores[order] < 0)
    return Guessed(len(scores), len(order), int(right.sum()))


@lru_cache(maxsize=4096)
def chance_independent(guessed: Guessed, mu: float) -> float:
    """The chance of so many right guesses, or an upper bound of it, where everybody's score
    is N(+-mu/2, 1) with noise of its own, or is told apart less.

    The r scores of largest size, given the size a of the next one, are independent, and each
    guess is right with chance q(a) = Phi(mu/2 - a)/(Phi(mu/2 - a) + Phi(-mu/2 - a)). The
    chance of a size below a, at the (m - r)-th of m, has the law Beta(m - r, r + 1).
    """
    from scipy.special import bdtrc, betaincinv

    people = guessed.people
    guesses = guessed.made
    right = guessed.right
    if right == 0:
        return 1.0
    if guesses >= people:
        sizes = np.zeros(1)
        masses = np.ones(1)
        last_mass = 0.0
    else:
        ends = np.linspace(0, 1, BINS + 1)[1:]
        ends[-1] = 1 - LAST
        chances = betaincinv(people - guesses, guesses + 1, ends)
        sizes = _sizes(chances, mu)
        masses = np.diff(ends, prepend=0.0)
        last_mass = LAST
    chance = _right(sizes, mu)
    tail = bdtrc(right - 1, guesses, chance)
    return min(1.0, float((masses * tail).sum()) + last_mass)


def chance_pure(guessed: Guessed, epsilon: float) -> float:
    """The same where nobody can be told apart by more than e^epsilon: binomial, whatever
    depends on what (Steinke, Nasr & Jagielski 2023)."""
    from scipy.special import bdtrc

    if guessed.right == 0:
        return 1.0
    return float(bdtrc(guessed.right - 1, guessed.made, 1 / (1 + exp(-epsilon))))


def is_possible(guessed: Guessed, curve: TradeOff, mistake: float) -> bool:
    """Whether a mechanism with this curve may make at least so many right guesses with a
    chance of `mistake`, whatever depends on what.

    With p_i the chance of i right guesses, the curve says for every k that E[W; W >= k]/m <=
    most(E[(r - W); W >= k - 1]/m). The least total of such p with p_v = mistake is found
    from the top; above 1 there is no such law (docs/proofs/audit.md, 3).
    """
    people = guessed.people
    guesses = guessed.made
    right = guessed.right
    if right == 0:
        return True
    total = mistake
    hits = right * mistake
    misses = (guesses - right) * mistake
    for k in range(right, 0, -1):
        misses_required = people * curve.least(min(hits / people, 1.0))
        if misses_required > misses:
            extra = (misses_required - misses) / (guesses - k + 1)
            total += extra
            hits += (k - 1) * extra
            misses = misses_required
        if total > 1:
            return False
    return True


def least_mu(guessed: Guessed, mistake: float) -> float:
    """The mu below which every independent Gaussian mechanism is refuted."""
    return _least_parameter(lambda mu: chance_independent(guessed, mu) >= mistake, MOST_MU)


def least_mu_any(guessed: Guessed, mistake: float) -> float:
    """The mu below which every mechanism with such a curve is refuted."""
    return _least_parameter(lambda mu: is_possible(guessed, GaussianCurve(mu), mistake), MOST_MU)


def least_epsilon(guessed: Guessed, mistake: float) -> float:
    """The pure epsilon below which every mechanism is refuted."""
    return _least_parameter(lambda epsilon: chance_pure(guessed, epsilon) >= mistake, MOST_EPSILON)


def interval(hits: int, runs: int, mistake: float) -> tuple[float, float]:
    """Clopper & Pearson's interval for a chance, `mistake`/2 on either side."""
    from scipy.special import betaincinv

    half = mistake / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, half))
    high = 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, 1 - half))
    return low, high


class _Consistency(Protocol):
    def __call__(self, parameter: float, /) -> bool: ...


def _least_parameter(is_consistent: _Consistency, upper: float) -> float:
    """The least parameter that is not refuted; a larger one never is where this is not."""
    if is_consistent(0.0):
        return 0.0
    low, high = 0.0, upper
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_consistent(middle) else (middle, high)
    return low


def _shift_normal(chance: float, by: float) -> float:
    from scipy.special import ndtr, ndtri

    if chance <= 0:
        return 0.0
    if chance >= 1:
        return 1.0
    return float(ndtr(ndtri(chance) + by))


def _sizes(chances: Floats, mu: float) -> Floats:
    """Where |N(mu/2, 1)| has these chances of being smaller, rounded up."""
    from scipy.special import ndtr

    low = np.zeros_like(chances)
    high = np.full_like(chances, mu / 2 + 40.0)
    for _ in range(60):
        middle = (low + high) / 2
        below = ndtr(middle - mu / 2) - ndtr(-middle - mu / 2) < chances
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    return high


def _right(sizes: Floats, mu: float) -> Floats:
    """Chance that a guess beyond this size is right."""
    from scipy.special import log_ndtr

    odds = log_ndtr(mu / 2 - sizes) - log_ndtr(-mu / 2 - sizes)
    return np.asarray(1 / (1 + np.exp(-odds)), np.float64)
