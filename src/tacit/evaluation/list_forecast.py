"""What noise costs lists of likes, in closed form, from public shape alone.

Lists find what is popular, and beyond it what likes together tell. Popularity stands out of the
noise early. Pairs of items are looked at where a rule of the method says that they tell enough, and
not before; the rule goes by public numbers, so that this form asks the method's own
(`tacit.methods.item_item.ease.foreseen_pairs`). From there on what is lost of them falls as a
power of how far they stand out.

Six constants are fitted to runs (`benchmarks/forecast_fit.py`); how much more likes together find
than popularity does is the nature of a population, which a shape says least of. Where it is known
otherwise (`floor`), it is not guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import NormalDist

import numpy as np

from tacit.evaluation.excess import NATURE, Matrix, slices
from tacit.methods.item_item.ease import EVEN, foreseen_pairs, gram_size

LISTED = 20.0
"""Items of a list that is judged."""
PEOPLE = 100
"""Sorts of people by how many they like, that are looked at as one each."""
POPULAR_SHARE = 0.08
"""Of the budget, for popularity where pairs are looked at: about."""


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
