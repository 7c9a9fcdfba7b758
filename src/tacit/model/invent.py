"""Invented people: who they are, what they rate, and how, from released numbers alone.

A person is drawn in three steps: how much she rates (a log-normal number), what she thinks of
each item (the personal Gaussian model: z ~ N(0, I), a rating is baseline_i + x_i'z + chance),
and what she rates: items by their released weight, and more often those that she likes.

Guarantee: everything here is computed from a released model, declared numbers and an ordinary
seeded generator. It is post-processing: no budget, and no privacy noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.data.schema import Schema

LEAST, MOST_OF_ITEMS = 3, 0.5
"""A person rates at least so many items, and at most so much of the catalogue."""
LEVELS = 48
"""Quantiles of activity that stand for all people while popularity is matched."""
PASSES = 25
"""Of that matching: shares then lie within a hundredth of what was released."""
LIKINGS = 9
"""Points of the normal distribution that stand for all likings, meanwhile."""
LEAST_SHARE = 1e-6
"""Of the most popular item's weight: what an item has at least."""
GRID, CHANCES = 161, 41
"""Points at which the effect of a scale's ends is computed, and standard scores of chance."""
ENDS = 0.04
"""Of the width of the scale: nobody is expected to rate closer to its ends."""
BLOCK = 500
"""People drawn at once; bounds memory, and is part of what a seed means."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Activity:
    """Numbers of ratings a person, log-normal."""

    median: float
    spread: float
    """Standard deviation of the logarithm."""

    @staticmethod
    def of_mean(mean: float, spread: float) -> Activity:
        """The distribution with this mean; `spread` is the standard deviation of the logarithm."""
        return Activity(mean * exp(-(spread**2) / 2), spread)

    @property
    def mean(self) -> float:
        """Mean number of ratings a person."""
        return self.median * exp(self.spread**2 / 2)

    def quantiles(self, count: int, items: int) -> Floats:
        """Of so many people, evenly over all; within what a person may rate."""
        from scipy.special import ndtri

        at = ndtri((np.arange(count) + 0.5) / count)
        return self.bounded(self.median * np.exp(self.spread * at), items)

    def draw(self, rng: np.random.Generator, people: int, items: int) -> NDArray[np.int64]:
        """Numbers of ratings, a whole number for each person."""
        luck = rng.standard_normal(people)
        rating_counts = self.median * np.exp(self.spread * luck)
        return np.rint(self.bounded(rating_counts, items)).astype(np.int64)

    @staticmethod
    def bounded(rating_counts: Floats, items: int) -> Floats:
        """At least `LEAST`, and not more than half of the catalogue."""
        limit = max(MOST_OF_ITEMS * items, 1.0)
        return np.clip(rating_counts, min(LEAST, limit), limit)


@dataclass(frozen=True, eq=False)
class Exposure:
    """Which items people come across: by popularity, and by how much they would like them."""

    appeal: Floats
    """Logarithm of how often, before anybody's likings."""
    gained: Floats
    """By how much those who rate an item like it more than everybody would, on average."""


def fit_exposure(
    weight: Floats, widely: Floats, lean: float, activity: Activity, power: float
) -> Exposure:
    """How often items are met, so that what people then rate has the shares of `weight`.

    A person with c ratings who likes item i by l has it with chance 1 - exp(-rate_c a_i
    exp(lean l)), l ~ N(0, widely_i): busy people have nearly all of the popular items, so that
    shares of ratings are flatter than `a`. `power` is how a person's weight in `weight` falls
    with her number of ratings, c^-power. Found by repeated proportional fitting.
    """
    share = np.maximum(weight, weight.max() * LEAST_SHARE)
    share = share / share.sum()
    counts = activity.quantiles(LEVELS, len(share))
    user_weights = counts**-power
    point, chance = np.polynomial.hermite_e.hermegauss(LIKINGS)
    chance /= chance.sum()
    liked = np.sqrt(widely)[:, None] * point
    attraction = np.exp(lean * liked - lean**2 * widely[:, None] / 2)
    appeal = share.copy()
    rate = counts.copy()
    for _ in range(PASSES):
        pull = appeal[:, None] * attraction
        rated = np.array([-np.expm1(-level_rate * pull) @ chance for level_rate in rate])
        rate *= counts / rated.sum(axis=1)
        rating_totals = user_weights @ rated
        appeal *= share / (rating_totals / rating_totals.sum())
        appeal /= appeal.sum()
    pull = appeal[:, None] * attraction
    gained = sum(
        times * (-np.expm1(-level_rate * pull) * liked) @ chance
        for level_rate, times in zip(rate, user_weights, strict=True)
    )
    total = user_weights @ np.array([-np.expm1(-level_rate * pull) @ chance for level_rate in rate])
    return Exposure(np.log(appeal), np.asarray(gained / total, np.float64))


@dataclass(frozen=True, eq=False)
class World:
    """What invented people are drawn from: released numbers, and what was declared."""

    schema: Schema
    baseline: Floats
    loadings: Floats
    chance: Floats
    """Variance of a rating around what its person thinks, by item."""
    met: Exposure
    activity: Activity
    lean: float
    """By how much a point of liking (inner scale) raises the log-odds of rating an item."""
    step: float
    """Ratings are multiples of it above the lowest; 0 for any number."""

    @property
    def widely(self) -> Floats:
        """Variance over people of their opinion of each item, user biases apart."""
        return covariance_factors(self.loadings)


def covariance_factors(item_factors: Floats) -> Floats:
    """Variance over people of their opinion of each item, user biases apart."""
    return np.asarray((item_factors[:, 1:] ** 2).sum(axis=1), np.float64)


@dataclass(frozen=True, eq=False)
class InventedCells:
    """Some people's ratings, each person's items ascending."""

    count: NDArray[np.int64]
    item: NDArray[np.uint32]
    value: NDArray[np.float32]


def people(world: World, rng: np.random.Generator, count: int) -> InventedCells:
    """So many people's ratings, on the scale of the schema."""
    items = len(world.baseline)
    counts = world.activity.draw(rng, count, items)
    expected = _ScaleEnds.of(world)
    parts = [_block(world, expected, rng, counts[at : at + BLOCK]) for at in range(0, count, BLOCK)]
    return InventedCells(
        counts,
        np.concatenate([part[0] for part in parts]).astype(np.uint32),
        np.concatenate([part[1] for part in parts]).astype(np.float32),
    )


def times(
    rng: np.random.Generator, count: NDArray[np.int64], begin: int, end: int
) -> NDArray[np.int64]:
    """When each rating was made, in seconds since 1970: a person comes on a few days of the period,
    each rating on one of them. The model releases nothing about times, so these are invented."""
    person = np.repeat(np.arange(len(count)), count)
    days = np.maximum(np.rint(np.sqrt(count)).astype(np.int64), 1)
    which = (rng.random(len(person)) * days[person]).astype(np.int64)
    start = np.cumsum(days) - days
    morning = begin + (end - begin) * rng.random(int(days.sum()))
    within = rng.random(len(person)) * min(7200, end - begin)
    return np.minimum(morning[start[person] + which] + within, end).astype(np.int64)


def _block(
    world: World, ends: _ScaleEnds, rng: np.random.Generator, counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Floats]:
    taste = rng.standard_normal((len(counts), world.loadings.shape[1]))
    # A person's own level moves all of her ratings and none of her choices.
    liking = taste[:, 1:] @ world.loadings[:, 1:].T
    even = world.met.appeal - world.lean**2 * world.widely / 2
    # A draw without replacement: the largest of log-weight plus Gumbel noise (Yellott 1977).
    luck = rng.standard_exponential(liking.shape)
    gumbel_scores = even + world.lean * liking - np.log(luck + 1e-300)
    row = np.repeat(np.arange(len(counts)), counts)
    item = np.concatenate(
        [
            np.sort(np.argpartition(-line, size - 1)[:size])
            for line, size in zip(gumbel_scores, counts.tolist(), strict=True)
        ]
    )
    # The released baseline is that of people who chose what they rate: it has the gain in it.
    opinion = world.baseline[item] + liking[row, item] - world.met.gained[item]
    opinion += taste[row, 0] * world.loadings[item, 0]
    chance = rng.standard_normal(len(item)) * np.sqrt(world.chance[item])
    return item, ends.rating(ends.uncut_opinion(opinion) + chance)


@dataclass(frozen=True, eq=False)
class _ScaleEnds:
    """Corrects for the ends of the scale, where an opinion plus noise is cut off: looks up the
    opinion before noise whose expected rating is the wanted one."""

    schema: Schema
    step: float
    said: Floats
    expected: Floats

    @staticmethod
    def of(world: World) -> _ScaleEnds:
        """For the chance of a typical item."""
        schema = world.schema
        opinion_grid = np.linspace(-4.0, 4.0, GRID)
        scores = np.linspace(-4.0, 4.0, CHANCES)
        share = np.exp(-(scores**2) / 2) / sqrt(2 * pi)
        share /= share.sum()
        ends = _ScaleEnds(schema, world.step, opinion_grid, opinion_grid)
        typical = sqrt(float(np.median(world.chance)))
        mean_ratings = ends.rating(opinion_grid[:, None] + typical * scores) @ share
        inner = (mean_ratings - schema.middle) / schema.unit_width
        return _ScaleEnds(schema, world.step, opinion_grid, np.maximum.accumulate(inner))

    def uncut_opinion(self, opinion: Floats) -> Floats:
        """Opinion before noise whose expected rating, after cutting at the ends, is `opinion`."""
        reach = 2.0 - 4.0 * ENDS
        clipped = np.clip(opinion, -reach, reach)
        return np.interp(clipped, self.expected, self.said)

    def rating(self, inner: Floats) -> Floats:
        """From normalized ratings to the scale, in its steps."""
        schema = self.schema
        value = schema.middle + schema.unit_width * inner
        if self.step:
            value = schema.low + self.step * np.rint((value - schema.low) / self.step)
        return np.clip(value, schema.low, schema.high)


def activity_of(median: float, total: float, power: float, spread: float | None) -> Activity:
    """From released numbers: the median, and the sum over people of c^(1 - power), by person.
    Of a log-normal c the logarithm of its mean is (1-p) m + (1-p)^2 s^2/2, which gives s."""
    if spread is not None:
        return Activity(median, spread)
    part = 1.0 - power
    beyond = log(max(total, 1e-9)) - part * log(median)
    square = 2.0 * beyond / part**2
    return Activity(median, sqrt(min(max(square, LEAST_SPREAD**2), MOST_SPREAD**2)))


LEAST_SPREAD, MOST_SPREAD = 0.5, 1.3
"""Of activity: what released numbers say is kept within what is common."""
