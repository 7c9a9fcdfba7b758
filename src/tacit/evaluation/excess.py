"""What noise in the sums over items costs, in closed form, from public shape alone.

An item with n ratings is known up to a variance of s^2/n without noise, and of s^2/n + b/n^2
with it: b is the variance of the noise in a sum over one item, in ratings. What is drawn with a
variance of a is then off by a v / (a + v), the best that any shrinkage does. Ratings fall on
items as popularity has it, so the excess error is the mean over items, weighed by popularity,
of the difference. The same holds for each taste, but people's own tastes are known only as far
as their ratings tell of them.

How loud the noise is depends on the plan of a method (how it shares the budget, how it clips):
one constant for effects and one for tastes are fitted to runs (`benchmarks/forecast_fit.py`), and
a third for how much of the tastes its twin finds; everything else is the nature of films
(`tacit.evaluation.invent`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.invent import Nature, popularity
from tacit.methods.item_item.ease import EVEN, foreseen_pairs, gram_size

Matrix = NDArray[np.float64]
SLICES = 200
"""Of the items by popularity, that are looked at as one each."""
NATURE = Nature()
RESIDUAL = NATURE.noise**2 + 0.13
"""What is left of a rating beside all that is known, with what whole steps and ends of the
scale add."""
ERROR = 0.9
"""The error of a fit without noise on a scale of width 4, about."""
LISTED = 20.0
"""Items of a list that is judged."""
PEOPLE = 100
"""Sorts of people by how many they like, that are looked at as one each."""
POPULAR_SHARE = 0.08
"""Of the budget, for popularity where pairs are looked at: about."""


@dataclass(frozen=True)
class Loud:
    """How loud noise is, as logs to base 10 of times that of a plan with one round and no
    clipping."""

    effects: float
    tastes: float | None = None
    """None: no tastes are learned."""
    strength: float = 0.0
    """Of tastes that the twin finds, as a log to base 10 of times those of films."""


def excess(unit: str, people: float, items: int, per_user: float, mu: float, loud: Loud) -> float:
    """RMSE above the twin's on a scale of width 4. `mu` is the budget in the currency that
    adds, `per_user` the ratings of a person."""
    chance, share = slices(items)
    rated = people * per_user * chance
    unit_ratings = per_user if unit == "user" else 1.0
    noise = unit_ratings / (mu * rated) ** 2
    plain = RESIDUAL / rated
    added = _added_variance(NATURE.effect**2, plain, 10**loud.effects * noise)
    if loud.tastes is not None:
        strength, known_share = _tastes(per_user, 10**loud.strength)
        added += known_share @ _added_variance(
            strength[:, None],
            plain / known_share[:, None],
            10**loud.tastes * noise / known_share[:, None],
        )
    return sqrt(ERROR**2 + float(share @ added)) - ERROR


def _added_variance(prior_variance: Matrix | float, plain: Matrix, noise: Matrix) -> Matrix:
    """What noise adds to the variance of what is known of each item."""
    noisy = plain + noise
    return np.asarray(
        prior_variance * noisy / (prior_variance + noisy)
        - prior_variance * plain / (prior_variance + plain)
    )


def _tastes(per_user: float, times: float) -> tuple[Matrix, Matrix]:
    """The variance of each taste, and which share of it a person's ratings tell."""
    strength: Matrix = NATURE.decay ** np.arange(NATURE.tastes, dtype=np.float64)
    strength *= times * NATURE.taste**2 / strength.sum()
    evidence = per_user * strength
    return strength, evidence / (evidence + RESIDUAL)


@cache
def slices(items: int) -> tuple[Matrix, Matrix]:
    """The chance of one item of each slice, and of all its items together."""
    chance = popularity(items, NATURE)
    parts = np.array_split(chance, min(SLICES, items))
    mean = np.array([part.mean() for part in parts])
    return mean, np.array([part.sum() for part in parts])


# What noise costs lists of likes, in closed form, from public shape alone.
#
# Lists find what is popular, and beyond it what likes together tell. Popularity stands out of the
# noise early. Pairs of items are looked at where a rule of the method says that they tell enough,
# and not before; the rule goes by public numbers, so that this form asks the method's own
# (`tacit.methods.item_item.ease.foreseen_pairs`). From there on what is lost of them falls as a
# power of how far they stand out.
#
# Six constants are fitted to runs (`benchmarks/forecast_fit.py`); how much more likes together find
# than popularity does is the nature of a population, which a shape says least of. Where it is known
# otherwise (`floor`), it is not guessed.


@dataclass(frozen=True)
class LoudLists:
    """How loud noise is in lists, as logs to base 10."""

    counts: float
    """Noise of how often an item was liked."""
    pairs: float
    """How far pairs must stand out for half of what they tell to be left."""
    steep: float
    """What is lost of pairs falls as this power of how far they stand out; not a log."""
    busy: float
    """How far they stand out grows as this power of the likes of a person; not a log."""
    gain: float
    """What likes together find beyond popularity, in times of what it leaves."""
    few: float
    """Likes at which a person is known by half."""


def forecast_recall(
    unit: str,
    people: float,
    items: int,
    each: float,
    mu: float,
    loud: LoudLists,
    floor: float | None = None,
) -> tuple[float, float]:
    """Recall at 20 with noise and without. `floor` is what popularity finds of what is found
    without noise, where something public says it."""
    chance, listed = _most_liked(items)
    liked = people * each * chance
    unit_ratings = each if unit == "user" else 1.0
    paired = looks_at_pairs(unit, people, items, each, mu)
    part = POPULAR_SHARE if paired else 1.0
    noise = unit_ratings / (part * (mu * liked) ** 2)
    popular = float(listed.sum())
    known_share = each / (each + 10**loud.few)
    beyond = (1 - popular) * min(10**loud.gain * known_share, 1.0)
    if floor is not None:
        beyond = popular * max(1 / floor - 1, 0.0)
    counts = float(listed @ (1 / (1 + 10**loud.counts * noise)))
    surviving_share = 0.0
    if paired:
        reach = people * mu
        signal = reach / sqrt(_covered(unit, items, reach)) * each**loud.busy
        surviving_share = 1 / (1 + (10**loud.pairs / signal) ** loud.steep)
    return counts + beyond * surviving_share, popular + beyond


@cache
def _most_liked(items: int) -> tuple[Matrix, Matrix]:
    """The chance of one item of each slice by popularity, and of those of its items that are
    among the twenty most liked."""
    chance, share = slices(items)
    cumulative = np.minimum(np.cumsum(share / chance), LISTED)
    return chance, np.diff(cumulative, prepend=0.0) * chance


@cache
def looks_at_pairs(unit: str, people: float, items: int, per_user: float, mu: float) -> bool:
    """Whether lists are made from pairs of items, and not from popularity alone: the method's
    own rule."""
    likes = row_likes(per_user) if unit == "user" else per_user
    return foreseen_pairs(unit, people, items, likes, mu) >= 1


@cache
def _covered(unit: str, items: int, reach: float) -> int:
    return gram_size(unit, items, reach)


@cache
def row_likes(per_user: float) -> float:
    """Likes of a person as the method reads them off rows whose weight stops growing: of people
    who like `per_user` on average, some many times more than others."""
    normal = NormalDist(0.0, NATURE.activity)
    activity = np.exp([normal.inv_cdf((index + 0.5) / PEOPLE) for index in range(PEOPLE)])
    likes = per_user * activity / activity.mean()
    return float((likes / np.sqrt(np.maximum(likes, EVEN))).mean() ** 2)
