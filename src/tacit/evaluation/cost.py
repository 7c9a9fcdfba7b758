"""What privacy costs, from public shape alone: the model behind every forecast.

The model is called *closed form and kriging*. It was fitted to runs on invented populations and
on parts of public data sets (`runs.json`, made by `benchmarks/forecast.py`), and it reads no
data. For each method and unit it tells three things:

- the cost: RMSE above the twin's on a scale of width 4, or recall as a share of the twin's;
- the error as a share of what a person's own mean gives, where `spread` says how far that is off;
- the error (or recall) itself, where nothing says it, which is far less sure.

What noise in sums over items costs is known in closed form (`tacit.evaluation.excess`); what
that leaves is kriged (`tacit.evaluation.kriging`). An interval holds 90 % of what other
populations of this shape would show: mostly because their natures differ, and only a little
because noise is drawn afresh. Its ends are not those of a Gaussian: they are quantiles of how
far the model was off for sets that it was not shown, where it foretold about as much (local
conformal intervals).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.excess import Loud, LoudLists
from tacit.evaluation.forecast_model import (
    COSTS,
    LIST_OFFSET,
    LISTS,
    OFFSET,
    Kind,
    PublicShape,
    TabulatedCost,
    points_of,
    tabulated_cost,
)
from tacit.evaluation.kriging import Scales

__all__ = ["LISTS", "NineInTen", "PublicShape", "cost", "error", "forecasts"]

NAME = "closed form and kriging"
RUNS = "runs.json"
KNOWN = ("bayes", "bias", "als", "covariance-svd", "ease")
"""Methods that it was fitted to."""
SURE = 1.645
"""Standard deviations either side that hold 90 % of a Gaussian."""
NO_BETTER = 0.001
"""A private fit is not better than its twin by more (tests/methods/test_twins.py): no
interval of a cost reaches further below 0."""
NO_MORE = 0.02
"""The same for a share of recall, above 1: lists of a few hundred people differ by so much."""
LEAST_COST = 0.003
LEAST_SHARE = 0.015
"""Half-widths of an interval at least: two runs of the same population differ by so much."""

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


def forecasts(shape: PublicShape) -> bool:
    """Whether the model was fitted to this method and unit."""
    return f"{shape.method} {shape.unit}" in _stored()["surfaces"]


def cost(shape: PublicShape, mu: float) -> NineInTen:
    """RMSE above the twin's on a scale of width 4; for lists recall as a share of the
    twin's, surer where `asked.floor` is known. `mu` is the budget in the currency that adds
    (`gaussian_mu`)."""
    kind: Kind = "cost" if shape.floor is None else "known"
    return as_read(shape.method, kind, _ends(shape, mu, kind))


def error(shape: PublicShape, mu: float, spread: float | None = None) -> NineInTen:
    """RMSE itself on a scale of width 4, or recall@20. `spread` is the RMSE of a person's
    own mean, where something public says it; it makes the interval much narrower."""
    kind: Kind = "plain" if spread is None else "error"
    interval = as_read(shape.method, kind, _ends(shape, mu, kind))
    if spread is None:
        return interval
    return NineInTen(spread * interval.low, spread * interval.middle, spread * interval.high)


def seconds(method: str, unit: str, ratings: float, items: int) -> float | None:
    """How long a fit takes on one core, from the runs: a power of ratings and of items."""
    coefficients = _stored()["seconds"].get(f"{method} {unit}")
    if coefficients is None:
        return None
    logs = np.array([1.0, log10(ratings), log10(items)])
    return float(10 ** (logs @ np.array(coefficients)))


def as_read(method: str, kind: Kind, ends: Matrix) -> NineInTen:
    """From the kriged scale to the scale that people read. A cost is measured on one split
    with noise drawn once, so that no interval is narrower than that allows."""
    if kind not in COSTS:
        return NineInTen(*(float(end) for end in np.exp(ends)))
    lists = method in LISTS
    offset, nothing = (LIST_OFFSET, 1.0) if lists else (OFFSET, 0.0)
    low, middle, high = (float(end) for end in nothing + offset * np.sinh(ends))
    margin = LEAST_SHARE if lists else LEAST_COST
    low = min(low, middle - margin)
    high = max(high, middle + margin)
    if lists:
        high = min(high, max(1 + NO_MORE, middle + margin))
        return NineInTen(max(low, 0.0), max(middle, 0.0), high)
    low = max(low, min(-NO_BETTER, middle - margin))
    return NineInTen(low, middle, high)


def _ends(shape: PublicShape, mu: float, kind: Kind) -> Matrix:
    return _cost_model(shape.method, shape.unit, kind).ends(shape, mu)


@cache
def _cost_model(method: str, unit: str, kind: Kind) -> TabulatedCost:
    stored = _stored()
    name = f"{method} {unit}"
    fitted = stored["surfaces"][name][kind]
    runs = [run for run in stored["runs"] if run["of"] == name]
    scales = Scales(tuple(fitted["lengths"]), *fitted["sizes"])
    loud_by = stored["loud"]
    parameters = loud_by.get(f"{name} {kind}", loud_by[name])
    loud = LoudLists(*parameters) if method in LISTS else Loud(*parameters)
    points = points_of(method, unit, kind, runs, stored["mus"])
    return tabulated_cost(points, method, kind, scales, loud)


@cache
def _stored() -> dict[str, Any]:
    text = files("tacit.evaluation").joinpath(RUNS).read_text(encoding="utf-8")
    stored: dict[str, Any] = json.loads(text)
    return stored
