"""What privacy costs, from public shape alone: the model behind every forecast.

The model is called *kriged cost*. It was fitted to runs on invented populations and on parts of
public data sets (`runs.json`, made by `benchmarks/forecast.py`), and it reads no data. For each
method and unit it kriges (`tacit.evaluation.kriging`) three things:

- the cost: RMSE above the twin's on a scale of width 4, or recall as a share of the twin's;
- the error as a share of what a person's own mean gives, where `spread` says how far that is off;
- the error (or recall) itself, where nothing says it, which is far less sure.

An interval holds 90 % of what other populations of this shape would show: mostly because their
natures differ, and only a little because noise is drawn afresh. Its ends are not those of a
Gaussian: they are quantiles of how far the model was off for sets that it was not shown, where
it foretold about as much (local conformal intervals).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from math import log10, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.kriging import Scales, Surface

NAME = "kriged cost"
RUNS = "runs.json"
KNOWN = ("bayes", "bias", "als", "covariance-svd", "ease")
"""Methods that it was fitted to."""
LISTS = ("ease",)
"""Of these, those that are judged by recall@20 and not by RMSE."""
OFFSET = 0.01
"""Costs are kriged as asinh(cost / this): like a log above a hundredth of a point, straight
below it, because a measured cost may be a little below 0."""
SURE = 1.645
"""Standard deviations either side that hold 90 % of a Gaussian."""
LIST_OFFSET = 0.03
"""Shares of recall are kriged likewise, by what is missing to 1: near 1 they are surest."""
TAIL = 0.05
"""Beyond each end of an interval lie so many of the points left out."""
NO_BETTER = 0.001
"""A private fit is not better than its twin by more (tests/methods/test_twins.py): no
interval of a cost reaches further below 0."""
NO_MORE = 0.02
"""The same for a share of recall, above 1: lists of a few hundred people differ by so much."""
NEAR = 0.4
"""How near what was foretold must be to count, in standard deviations of it over all runs."""
AROUND = 3.0
"""How near the shape must be to count, in the units of `place`."""
ANYWHERE = 0.002
"""What runs count that are neither: an interval never rests on a handful of them. Widths and
shares inside hardly depend on these three (every set but the six left out in turn)."""
LEAST_SEEN = 1e-3
"""Of recall, where a log is taken: it may be 0."""
LEAST_COST = 0.003
LEAST_SHARE = 0.015
"""Half-widths of an interval at least: two runs of the same population differ by so much."""
LARGER = (1.0, 1.5, 2.25)
"""Budgets that a forecast is compared with, in times of its own (as mu): not far beyond the
largest that was run, where nothing is known."""
CENTRES = (1.0, 1.5, 3.0, 3.7, 0.0, 0.0)
WIDTHS = (1.0, 0.6, 0.5, 0.7, 3.0, 8.0)
"""Of the columns of `place`: they make them of about unit spread over all runs. The last two
are narrower, because what features and real people change is known to be small."""

Kind = Literal["cost", "error", "plain"]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class NineInTen:
    """Nine in ten populations of a shape lie between `low` and `high`, half below
    `middle`."""

    low: float
    middle: float
    high: float

    @property
    def width(self) -> float:
        """From end to end."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class PublicShape:
    """The public facts that a forecast is made from."""

    method: str
    unit: str
    people: int
    items: int
    each: float
    """Mean number of ratings a person; of likes, where only likes count."""
    features: bool = False
    """Whether genres, years or numbers of the items are known."""
    invented: bool = False
    """Whether the people are invented: their tastes are weaker than those of real people, so
    that the model tells the two apart."""


def forecasts(asked: PublicShape) -> bool:
    """Whether the model was fitted to this method and unit."""
    return f"{asked.method} {asked.unit}" in _stored()["surfaces"]


def cost(asked: PublicShape, mu: float) -> NineInTen:
    """RMSE above the twin's on a scale of width 4; for lists recall as a share of the
    twin's. `mu` is the budget in the currency that adds (`gaussian_mu`)."""
    return as_read(asked.method, "cost", _ends(asked, mu, "cost"))


def error(
    asked: PublicShape, mu: float, spread: float | None = None
) -> NineInTen:
    """RMSE itself on a scale of width 4, or recall@20. `spread` is the RMSE of a person's
    own mean, where something public says it; it makes the interval much narrower."""
    kind: Kind = "plain" if spread is None else "error"
    found = as_read(asked.method, kind, _ends(asked, mu, kind))
    if spread is None:
        return found
    return NineInTen(
        spread * found.low, spread * found.middle, spread * found.high
    )


def seconds(method: str, unit: str, ratings: float, items: int) -> float | None:
    """How long a fit takes on one core, from the runs: a power of ratings and of items."""
    told = _stored()["seconds"].get(f"{method} {unit}")
    if told is None:
        return None
    logs = np.array([1.0, log10(ratings), log10(items)])
    return float(10 ** (logs @ np.array(told)))


def place(asked: PublicShape, mu: float) -> Matrix:
    """Where a run lies: how far an average item stands out of the noise, ratings a person,
    items, people (all as logs), whether features are known, and whether people are real."""
    weight = asked.each if asked.unit == "rating" else sqrt(asked.each)
    heard = mu * asked.people * weight / asked.items
    raw = (
        log10(heard),
        log10(asked.each),
        log10(asked.items),
        log10(asked.people),
        float(asked.features),
        float(not asked.invented),
    )
    return (np.array(raw) - CENTRES) / WIDTHS


def seen(method: str, kind: Kind, run: dict[str, Any]) -> list[float]:
    """What was measured in a run, on the scale on which it is kriged."""
    measured = np.array(run["measured"])
    if kind == "plain":
        found = np.log(np.maximum(measured, LEAST_SEEN))
    elif kind == "error":
        found = np.log(measured / run["own_mean"])
    elif method in LISTS:
        missing = 1 - measured / run["twin"]
        found = -np.arcsinh(missing / LIST_OFFSET)
    else:
        found = np.arcsinh((measured - run["twin"]) / OFFSET)
    return [float(value) for value in found]


def as_read(method: str, kind: Kind, ends: Matrix) -> NineInTen:
    """From the kriged scale to the scale that people read. A cost is measured on one split
    with noise drawn once, so that no interval is narrower than that allows."""
    if kind != "cost":
        return NineInTen(*(float(end) for end in np.exp(ends)))
    lists = method in LISTS
    offset, nothing = (LIST_OFFSET, 1.0) if lists else (OFFSET, 0.0)
    low, middle, high = (float(end) for end in nothing + offset * np.sinh(ends))
    least = LEAST_SHARE if lists else LEAST_COST
    low = min(low, middle - least)
    high = max(high, middle + least)
    if lists:
        high = min(high, max(1 + NO_MORE, middle + least))
        return NineInTen(max(low, 0.0), max(middle, 0.0), high)
    low = max(low, min(-NO_BETTER, middle - least))
    return NineInTen(low, middle, high)


def _ends(asked: PublicShape, mu: float, kind: Kind) -> Matrix:
    return _told(asked.method, asked.unit, kind).ends(place(asked, mu))


@dataclass(frozen=True, eq=False)
class ToldCost:
    """A surface, and how far it was off where sets were left out."""

    surface: Surface
    sets: NDArray[np.int64]
    """Points of one set are left out together: a part of a set is no stranger to it."""
    local: bool
    """Whether how far it was off depends on where: costs are surer where they are small. An
    error itself is off by what is peculiar to a population, everywhere alike."""
    rises: bool
    """Whether more budget makes it larger (recall) or smaller (error)."""

    @cached_property
    def off(self) -> tuple[Matrix, Matrix]:
        """What was foretold of every point from other sets, and how far that was off, in
        standard deviations."""
        mean, sd = self.surface.left_out(self.sets)
        return mean, (self.surface.values - mean) / sd

    def ends(self, at: Matrix) -> Matrix:
        """Low, middle and high on the kriged scale. More budget never harms: what is told of
        a budget is at least as bad as what is told of every larger one."""
        places = np.repeat(at[None, :], len(LARGER), axis=0)
        places[:, 0] += np.log10(LARGER) / WIDTHS[0]
        means, sds = self.surface.at(places)
        found = np.array(
            [
                self.around(place, float(mean), float(sd))
                for place, mean, sd in zip(places, means, sds, strict=True)
            ]
        )
        worst = found.min(axis=0) if self.rises else found.max(axis=0)
        return np.asarray(worst)

    def around(self, at: Matrix, mean: float, sd: float) -> Matrix:
        """The same from what is foretold: quantiles of how far the like of it was off."""
        off = self.off[1]
        weight = self._weights(at, mean) if self.local else np.ones(len(off))
        order = np.argsort(off)
        reached = np.cumsum(weight[order])
        reached /= reached[-1]
        places = np.searchsorted(reached, [TAIL, 1 - TAIL])
        low, high = off[order][np.minimum(places, len(off) - 1)]
        return np.array(
            [mean + sd * min(low, 0.0), mean, mean + sd * max(high, 0.0)]
        )

    def _weights(self, at: Matrix, mean: float) -> Matrix:
        """How much each point left out says about this place."""
        foretold = self.off[0]
        spread = NEAR * float(foretold.std())
        apart = ((foretold - mean) / spread) ** 2
        away = (self.surface.places - at) / AROUND
        apart += (away**2).sum(axis=1)
        return np.asarray(np.exp(-0.5 * apart) + ANYWHERE)


@cache
def _told(method: str, unit: str, kind: Kind) -> ToldCost:
    stored = _stored()
    scales = stored["surfaces"][f"{method} {unit}"][kind]
    runs = [run for run in stored["runs"] if run["of"] == f"{method} {unit}"]
    made = Scales(tuple(scales["lengths"]), *scales["sizes"])
    return told(method, unit, kind, runs, stored["mus"], made)


def told(
    method: str,
    unit: str,
    kind: Kind,
    runs: list[dict[str, Any]],
    mus: list[float],
    scales: Scales,
) -> ToldCost:
    """From runs and fitted scales."""
    surface = Surface(*points_of(method, unit, kind, runs, mus), scales)
    names = [run["set"] for run in runs]
    numbers = [names.index(name) for name in names]
    together = np.repeat(numbers, len(mus))
    return ToldCost(surface, together, kind == "cost", method in LISTS)


def points_of(
    method: str,
    unit: str,
    kind: Kind,
    runs: list[dict[str, Any]],
    mus: list[float],
) -> tuple[Matrix, Matrix, NDArray[np.int64]]:
    """Places, values and groups of all runs of one method and unit."""
    places = []
    values: list[float] = []
    groups = []
    for group, run in enumerate(runs):
        asked = shape_of(method, unit, run)
        places += [place(asked, mu) for mu in mus]
        values += seen(method, kind, run)
        groups += [group] * len(mus)
    return np.array(places), np.array(values), np.array(groups)


def shape_of(method: str, unit: str, run: dict[str, Any]) -> PublicShape:
    """The public shape of the people that a run was on."""
    return PublicShape(
        method,
        unit,
        run["people"],
        run["items"],
        run["each"],
        run["features"],
        is_invented(run),
    )


def is_invented(run: dict[str, Any]) -> bool:
    """Whether a run was on invented people."""
    return str(run["set"]).startswith(("invented", "six"))


@cache
def _stored() -> dict[str, Any]:
    text = files("tacit.evaluation").joinpath(RUNS).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
