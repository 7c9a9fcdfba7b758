"""People who may be published: ratings of invented people, drawn from a released model.

Guarantee: the model is read and nothing else, so what was promised of the model holds of them:
the same epsilon and delta, for the same unit. Whatever a model does not release is declared by
the caller, or has a default that is said in the facts of what is made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from tacit.atomic_write import open_atomic
from tacit.data.ratings import Notes, Ratings
from tacit.data.schema import Schema
from tacit.errors import SettingError
from tacit.exports import write_csv, write_parquet
from tacit.model.invent import (
    Activity,
    World,
    activity_of,
    covariance_factors,
    fit_exposure,
    people,
    times,
)
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
