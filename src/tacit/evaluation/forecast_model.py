"""The model of a forecast for one method, unit and kind: a closed form, a surface through what
it leaves, and how far both were off for sets that they were not shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log10, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.excess import ERROR, Loud, LoudLists, excess, forecast_recall, looks_at_pairs
from tacit.evaluation.kriging import Scales, Surface

Kind = Literal["cost", "known", "error", "plain"]
"""What is told: the cost, the same where `PublicShape.floor` is given, the error in times of a
person's own mean's, the error itself."""
Matrix = NDArray[np.float64]
Numbers = NDArray[np.int64]

LISTS = ("ease",)
"""Methods that are judged by recall@20 and not by RMSE."""
OFFSET = 0.01
"""Costs are kriged as asinh(cost / this): like a log above a hundredth of a point, straight
below it, because a measured cost may be a little below 0."""
LIST_OFFSET = 0.03
"""Shares of recall are kriged likewise, by what is missing to 1: near 1 they are surest."""
TAIL = 0.05
"""Beyond each end of an interval lie so many of the points left out."""
NEAR = 0.4
"""How near what was foretold must be to count, in standard deviations of it over all runs."""
AROUND = 3.0
"""How near the shape must be to count, in the units of `place`."""
ANYWHERE = 0.002
"""What runs count that are neither: an interval never rests on a handful of them."""
COSTS = ("cost", "known")
"""Kinds that are kriged by what is missing to the twin."""
PAIRS = 3.0
"""What the last column of `place` holds for lists where pairs are looked at."""
SAME_SIDE = 0.5
"""How far apart that column may be of runs that both look at pairs, or both do not: between
nothing and one step of it."""
DOUBT = 1.1
"""A rule that looks at released likes may turn at so many times less or more than the budget at
which the shape says that it turns: there an interval covers both sides."""
LEAST_SEEN = 1e-3
"""Of recall, where a log is taken: it may be 0."""
LARGER = (1.0, 1.5, 2.25)
"""Budgets that a forecast is compared with, in times of its own (as mu): not far beyond the
largest that was run, where nothing is known."""
CENTRES = (1.0, 1.5, 3.0, 3.7, 0.0)
WIDTHS = (1.0, 0.6, 0.5, 0.7, 3.0)
"""Of the columns of `place`: they make them of about unit spread over all runs. The last is
narrower, because what features change is known to be small."""


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
    floor: float | None = None
    """Of lists: recall of what is liked most, as a share of the twin's, where something public
    says it."""


def locate(shape: PublicShape, mu: float) -> Matrix:
    """Where a run lies: how far an average item stands out of the noise, ratings a person,
    items, people (all as logs), and whether features are known; for lists whether pairs of
    items are looked at."""
    weight = shape.each if shape.unit == "rating" else sqrt(shape.each)
    signal = mu * shape.people * weight / shape.items
    raw = (
        log10(signal),
        log10(shape.each),
        log10(shape.items),
        log10(shape.people),
        PAIRS * looks(shape, mu) if shape.method in LISTS else float(shape.features),
    )
    return (np.array(raw) - CENTRES) / WIDTHS


def looks(shape: PublicShape, mu: float) -> bool:
    """Whether lists are made from pairs of items, and not from popularity alone."""
    return looks_at_pairs(shape.unit, shape.people, shape.items, shape.each, mu)


def kriged_value(method: str, kind: Kind, run: dict[str, Any], value: float) -> float:
    """What was measured in a run, on the scale on which it is kriged."""
    if kind == "plain":
        return float(np.log(max(value, LEAST_SEEN)))
    if kind == "error":
        return float(np.log(value / run["own_mean"]))
    if method in LISTS:
        return float(-np.arcsinh((1 - value / run["twin"]) / LIST_OFFSET))
    return float(np.arcsinh((value - run["twin"]) / OFFSET))


@dataclass(frozen=True)
class CostLaw:
    """The closed form, on the kriged scale."""

    kind: Kind
    loud: Loud | LoudLists

    def at(self, shape: PublicShape, mu: float) -> float:
        """What it foretells."""
        law_inputs = (shape.unit, shape.people, shape.items, shape.each, mu)
        if isinstance(self.loud, LoudLists):
            floor = shape.floor if self.kind == "known" else None
            recall, twin = forecast_recall(*law_inputs, self.loud, floor)
            if self.kind in COSTS:
                return float(-np.arcsinh((1 - recall / twin) / LIST_OFFSET))
            return float(np.log(max(recall, LEAST_SEEN)))
        excess_rmse = excess(*law_inputs, self.loud)
        if self.kind == "cost":
            return float(np.arcsinh(excess_rmse / OFFSET))
        return float(np.log(ERROR + excess_rmse))


@dataclass(frozen=True, eq=False)
class Points:
    """All that was measured of one method and unit."""

    places: Matrix
    values: Matrix
    groups: Numbers
    """Which run each is of."""
    sets: Numbers
    """Points of one set are left out together: a part of a set is no stranger to it."""
    budgets: Matrix
    """As mu."""
    shapes: list[PublicShape]


def points_of(
    method: str, unit: str, kind: Kind, runs: list[dict[str, Any]], mus: list[float]
) -> Points:
    """From runs; where a run left an epsilon out there is no point."""
    rows = [
        (group, mu, value)
        for group, run in enumerate(runs)
        for mu, value in zip(mus, run["measured"], strict=True)
        if value is not None
    ]
    names = [run["set"] for run in runs]
    shapes = [shape_of(method, unit, run) for run in runs]
    return Points(
        np.array([locate(shapes[group], mu) for group, mu, _ in rows]),
        np.array([kriged_value(method, kind, runs[g], value) for g, _, value in rows]),
        np.array([group for group, _, _ in rows]),
        np.array([names.index(names[group]) for group, _, _ in rows]),
        np.array([mu for _, mu, _ in rows]),
        [shapes[group] for group, _, _ in rows],
    )


def shape_of(method: str, unit: str, run: dict[str, Any]) -> PublicShape:
    """The public shape of the people that a run was on."""
    return PublicShape(
        method, unit, run["people"], run["items"], run["each"], run["features"], run.get("floor")
    )


def closed(law: CostLaw, points: Points) -> Matrix:
    """What the closed form foretells of every point."""
    pairs = zip(points.shapes, points.budgets, strict=True)
    return np.array([law.at(shape, float(mu)) for shape, mu in pairs])


@dataclass(frozen=True, eq=False)
class TabulatedCost:
    """Law and surface, and how far they were off where sets were left out."""

    law: CostLaw
    surface: Surface
    """Through what the law leaves."""
    base: Matrix
    """What the law foretells of each point of the surface."""
    sets: Numbers
    budgets: Matrix
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
        plain = self._plain(self.surface.places)
        mean, sd = np.where(plain, 0.0, mean), np.where(plain, 1.0, sd)
        return self.base + mean, (self.surface.values - mean) / sd

    def _plain(self, points: Matrix) -> NDArray[np.bool_]:
        """Where the law is not bent: lists of popularity alone, of which it is known what
        they find."""
        pairs = points[:, -1] * WIDTHS[-1] + CENTRES[-1] > SAME_SIDE
        return np.asarray(~pairs & (self.law.kind == "known"))

    def ends(self, shape: PublicShape, mu: float) -> Matrix:
        """Low, middle and high on the kriged scale. More budget never harms: what is told of
        a budget is at least as bad as what is told of every larger one."""
        if not self._in_doubt(shape, mu):
            return self._ends(shape, mu)
        at_smaller, at_larger = (self._ends(shape, mu / DOUBT), self._ends(shape, mu * DOUBT))
        return np.array([at_smaller[0], self._ends(shape, mu)[1], at_larger[2]])

    def _in_doubt(self, shape: PublicShape, mu: float) -> bool:
        if shape.method not in LISTS:
            return False
        return looks(shape, mu / DOUBT) != looks(shape, mu * DOUBT)

    def _ends(self, shape: PublicShape, mu: float) -> Matrix:
        budgets = [mu * times for times in LARGER]
        points = np.array([locate(shape, budget) for budget in budgets])
        law = np.array([self.law.at(shape, budget) for budget in budgets])
        means, sds = self.surface.at(points)
        plain = self._plain(points)
        means, sds = np.where(plain, 0.0, means), np.where(plain, 1.0, sds)
        ends = np.array(
            [
                self.around(at, float(mean), float(sd))
                for at, mean, sd in zip(points, law + means, sds, strict=True)
            ]
        )
        worst = ends.min(axis=0) if self.rises else ends.max(axis=0)
        return np.asarray(worst)

    def around(self, at: Matrix, mean: float, sd: float) -> Matrix:
        """The same from what is foretold: quantiles of how far the like of it was off."""
        off = self.off[1]
        weight = self._weights(at, mean) if self.local else np.ones(len(off))
        order = np.argsort(off)
        reached = np.cumsum(weight[order])
        reached /= reached[-1]
        ranks = np.searchsorted(reached, [TAIL, 1 - TAIL])
        low, high = off[order][np.minimum(ranks, len(off) - 1)]
        return np.array([mean + sd * min(low, 0.0), mean, mean + sd * max(high, 0.0)])

    def _weights(self, at: Matrix, mean: float) -> Matrix:
        """How much each point left out says about this place."""
        foretold = self.off[0]
        spread = NEAR * float(foretold.std())
        squared_distance = ((foretold - mean) / spread) ** 2
        away = (self.surface.places - at) / AROUND
        squared_distance += (away**2).sum(axis=1)
        near = np.exp(-0.5 * squared_distance)
        if not self.rises:
            return np.asarray(near + ANYWHERE)
        # Lists: popularity says little of pairs, and they of it.
        same = np.abs(self.surface.places[:, -1] - at[-1]) < SAME_SIDE
        near = (near + ANYWHERE) * (same if same.any() else 1.0)
        # Parts of one set err together: a set counts by the root of its points.
        return np.asarray(near / np.sqrt(np.bincount(self.sets)[self.sets]))


def tabulated_cost(
    points: Points, method: str, kind: Kind, scales: Scales, loud: Loud | LoudLists
) -> TabulatedCost:
    """From points and what was fitted to them."""
    law = CostLaw(kind, loud)
    base = closed(law, points)
    surface = Surface(points.places, points.values - base, points.groups, scales)
    return TabulatedCost(
        law, surface, base, points.sets, points.budgets, kind in COSTS, method in LISTS
    )
