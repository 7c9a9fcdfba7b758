"""People who may be published: ratings of invented people, drawn from a released model.

Guarantee: the model is read and nothing else, so what was promised of the model holds of them:
the same epsilon and delta, for the same unit. Whatever a model does not release is declared by
the caller, or has a default that is said in the facts of what is made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log, pi, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from tacit.atomic_write import open_atomic
from tacit.data.ratings import Notes, Ratings
from tacit.data.schema import Schema
from tacit.errors import SettingError
from tacit.exports import write_csv, write_parquet
from tacit.page import paragraph
from tacit.validation import Suggesting, by_name, count, number
from tacit.validation import model as asked_model

if TYPE_CHECKING:
    from tacit.ledger.statement.statement import Statement
    from tacit.model.model import Model
    from tacit.model.shared import Shared

MARK = "invented"
"""Begins the id of every invented person, and is part of the name of the file."""
EACH, SPREAD = 40.0, 1.0
"""Ratings of a person on average, and the standard deviation of their logarithm, where a model
releases neither."""
LEAN = 2.0
"""How much more people rate what they like, in log-odds for a point: a guess that was tried on
MovieLens 100K and kept, not tuned; no model releases it."""
MOST_PEOPLE = 100_000_000
"""Whose ratings a machine may hold."""
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


class FittedMethod(Protocol):
    """A method after `fit`."""

    @property
    def fitted(self) -> Model:
        """The fitted model."""


@dataclass(frozen=True, repr=False)
class Invented(Suggesting):
    """Invented people, and the facts that their file records about them."""

    ratings: Ratings
    facts: Mapping[str, Any]
    """From which model, with which promise, what was assumed, which seed."""

    def __repr__(self) -> str:
        people, ratings = self.ratings.n_users, len(self.ratings)
        return f"Invented({people:,} people, {ratings:,} ratings; .ratings, .facts)"

    def _repr_html_(self) -> str:
        return paragraph(repr(self))

    @by_name
    def write(self, out: str | Path) -> None:
        """Write .parquet or .csv, whole or not at all; the name must contain that they are
        invented."""
        import polars as pl

        target = writable(out)
        frame = pl.DataFrame(_columns(self.ratings))
        with open_atomic(target, remedy="choose another --out") as file:
            if target.suffix == ".parquet":
                metadata = {"tacit": json.dumps(self.facts, sort_keys=True)}
                write_parquet(frame, file, metadata)
            else:
                write_csv(frame, file)


def writable(out: str | Path) -> Path:
    """The path to write, if its name shows that it holds invented people."""
    target = Path(out)
    if target.suffix not in (".parquet", ".csv"):
        raise SettingError(
            f"--out {out} is neither .parquet nor .csv", remedy="choose one of the two"
        )
    if MARK not in target.name.lower():
        raise SettingError(
            f"--out {target.name} does not say that its people are invented",
            remedy=f"name it {MARK}{target.suffix}, or {target.stem}-{MARK}{target.suffix}",
        )
    return target


@by_name
def synthesize(
    model: Model | FittedMethod,
    *,
    people: int = 1000,
    seed: int = 0,
    each: float | None = None,
    spread: float | None = None,
    lean: float | None = None,
    step: float | None = None,
    period: tuple[int, int] | None = None,
) -> Invented:
    """Draw invented people from a released model; free, and as private as the model.

    `each` and `spread` say how much people rate (mean, and standard deviation of the logarithm)
    where the model does not release it; `lean` how much more they rate what they like; `step`
    the steps of the scale; `period` the first and last second of their times, without which
    there are none. The seed is that of an ordinary generator: nothing here needs to be secret.
    """
    released = cast("Model", asked_model(model))
    if count("people", people) > MOST_PEOPLE:
        raise SettingError(
            f"{MOST_PEOPLE:,} people are the most that are invented at once",
            remedy="ask for fewer, or several times with other seeds",
        )
    count("seed", seed, least=0)
    _check_numbers(each=each, spread=spread, lean=lean, step=step)
    check_released(released)
    assumptions = dict[str, str]()
    world = world_of(
        released.shared,
        released.statement.unit,
        assumptions,
        each=each,
        spread=spread,
        lean=lean,
        step=step,
    )
    ratings = draw_ratings(world, released.shared, people, seed, period)
    origin = "none" if period is None else "invented"
    assumptions["times"] = f"{origin}: no model releases them"
    return Invented(ratings, _facts(released, people, seed, assumptions))


def check_released(model: Model) -> None:
    """Refuse a model from which people cannot be drawn, or must not be."""
    shared, statement = model.shared, model.statement
    if statement.certified != "certified":
        raise SettingError(
            f"this model is {statement.certified}: people drawn from it must not be published",
            remedy="synthesize from a model that `tacit fit` certified",
        )
    if shared.personal != "gaussian" or "weight" not in shared.arrays:
        raise SettingError(
            f"a model of {shared.method} does not release all that people are drawn from: "
            "the level and the effects of items, tastes, and how much each item is rated",
            remedy="synthesize from a model of bayes or bias",
        )
    if shared.schema.positive is not None:
        raise SettingError(
            "a model of likes does not release how people rate",
            remedy="synthesize from a model of ratings",
        )


def world_of(
    shared: Shared,
    unit: str,
    assumptions: dict[str, str],
    *,
    each: float | None = None,
    spread: float | None = None,
    lean: float | None = None,
    step: float | None = None,
) -> World:
    """What people are drawn from. `assumptions` collects, in words, what came from where."""
    power = 0.5 if unit == "user" else 0.0
    activity = _activity(shared, power, each, spread, assumptions)
    weight = np.maximum(np.asarray(shared.arrays["weight"], np.float64), 0.0)
    leaning = LEAN if lean is None else float(lean)
    assumptions["lean"] = (
        f"{leaning:g} in log-odds for a point of liking, "
        + ("a default" if lean is None else "as declared")
        + ": it follows from no release"
    )
    steps = _step(shared.schema) if step is None else float(step)
    width = shared.schema.high - shared.schema.low
    if steps > width:
        raise SettingError(
            f"steps of {steps:g} do not fit a scale that is {width:g} wide",
            remedy="give --step a smaller number, or leave it out",
        )
    assumptions["steps"] = (f"of {steps:g}" if steps else "none: any number on the scale") + (
        ", a default" if step is None else ", as declared"
    )
    item_factors = np.asarray(shared.arrays["loadings"], np.float64)
    variance = np.asarray(shared.arrays["variance"], np.float64)
    return World(
        shared.schema,
        np.asarray(shared.arrays["baseline"], np.float64),
        item_factors,
        shared.numbers["noise"] + variance,
        fit_exposure(weight, covariance_factors(item_factors), leaning, activity, power),
        activity,
        leaning,
        steps,
    )


def draw_ratings(
    world: World, shared: Shared, count: int, seed: int, period: tuple[int, int] | None = None
) -> Ratings:
    """Ratings of `count` invented people."""
    rng = np.random.default_rng([count, seed])
    cells = people(world, rng, count)
    when = None
    if period is not None:
        start, end = period
        if not 0 <= start < end:
            raise SettingError(
                "the times begin after their end",
                remedy="give the first and the last, in this order",
            )
        when = times(rng, cells.count, start, end)
    width = len(str(count))
    schema = Schema(shared.schema.low, shared.schema.high, source=MARK)
    note = "invented people: nobody has rated anything here"
    return Ratings(
        schema,
        [f"{MARK}-{number:0{width}d}" for number in range(1, count + 1)],
        shared.catalogue.ids,
        np.concatenate([[0], np.cumsum(cells.count)]).astype(np.int64),
        cells.item,
        cells.value,
        when,
        Notes(layout=MARK, messages=(note,)),
    )


def _activity(
    shared: Shared,
    power: float,
    mean_ratings: float | None,
    spread: float | None,
    assumptions: dict[str, str],
) -> Activity:
    """How much people rate, as released as far as it is."""
    numbers = shared.numbers
    declared = SPREAD if spread is None else float(spread)
    origin = "as declared"
    if mean_ratings is not None:
        activity = Activity.of_mean(float(mean_ratings), declared)
    elif numbers.get("count", 0.0) > 1 and numbers.get("people", 0.0) > 0:
        total = float(np.sum(shared.arrays["weight"], dtype=np.float64))
        activity = activity_of(numbers["count"], total / numbers["people"], power, spread)
        origin = "as released"
    else:
        activity = Activity.of_mean(EACH, declared)
        origin = "a default: this model does not release it"
    assumptions["activity"] = (
        f"{activity.mean:.0f} ratings a person on average, half of all people have "
        f"{activity.median:.0f} or more; {origin}"
    )
    return activity


def _step(schema: Schema) -> float:
    """Whole points, or half ones where the scale begins with one; none on a narrow scale."""
    if schema.low == 0.5:
        return 0.5
    return 1.0 if schema.high - schema.low >= 2 else 0.0


def _check_numbers(**numbers: float | None) -> None:
    """Each a number, and none below 0."""
    for name, value in numbers.items():
        if value is None:
            continue
        minimum = 1.0 if name == "each" else 0.0
        if not minimum <= number(name, value) < np.inf:
            raise SettingError(
                f"{name} is {value:g}; it must be at least {minimum:g}",
                remedy=f"give {name} as a number of {minimum:g} or more",
            )


def _facts(model: Model, count: int, seed: int, assumptions: Mapping[str, str]) -> dict[str, Any]:
    statement = model.statement
    return {
        "invented": True,
        "people": count,
        "seed": seed,
        "model": model.shared.digest(),
        "method": model.shared.method,
        "promise": {
            "epsilon": statement.epsilon,
            "delta": statement.delta,
            "unit": statement.unit,
            **_chain(statement),
            "words": "drawn from a released model and nothing else: what its statement "
            "promises of it holds of these people, at no further cost",
        },
        "assumed": dict(assumptions),
    }


def _chain(statement: Statement) -> dict[str, Any]:
    """What the model's statement promises beyond its own epsilon: the composed cost of the releases
    it builds on, and what it takes as public."""
    facts: dict[str, Any] = {"assumed_public": list(statement.public)}
    if statement.honest:
        facts["honest"] = list(statement.honest)
    if statement.starts:
        facts["releases"] = 1 + len(statement.starts)
        facts["chain_epsilon"] = statement.chain_epsilon
        facts["uncovered"] = sum(not link.covered for link in statement.starts)
    return facts


def _columns(ratings: Ratings) -> dict[str, Any]:
    """A row a rating, for any tool."""
    users = np.asarray(ratings.users, dtype=object)
    items = np.asarray(ratings.items, dtype=object)
    columns = {
        "user": users[ratings.user].tolist(),
        "item": items[ratings.item].tolist(),
        "rating": ratings.value,
    }
    if ratings.time is not None:
        columns["timestamp"] = ratings.time
    columns["invented"] = np.ones(len(ratings), bool)
    return columns


# Invented people: who they are, what they rate, and how, from released numbers alone.
#
# A person is drawn in three steps: how much she rates (a log-normal number), what she thinks of
# each item (the personal Gaussian model: z ~ N(0, I), a rating is baseline_i + x_i'z + chance),
# and what she rates: items by their released weight, and more often those that she likes.
#
# Guarantee: everything here is computed from a released model, declared numbers and an ordinary
# seeded generator. It is post-processing: no budget, and no privacy noise.


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
