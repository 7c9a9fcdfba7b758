"""Kriging with groups: a smooth surface through measured points, and how sure it is.

A value is a plane, plus a smooth departure from it, plus what is peculiar to its group (here
one population: cells of one data set err together), plus noise. All four are Gaussian, so the
value at a new place, of a group never seen, has a mean and a standard deviation; both grow
where nothing was measured. This is a Gaussian process with a random effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

Matrix = NDArray[np.float64]
Groups = NDArray[np.int64]

PLANE = 0.1
"""Prior variance of each slope of the plane: columns are of about unit spread, and values are
what a closed form leaves."""
LEAST = 1e-3
"""Standard deviation of noise at least: keeps the matrix invertible."""


@dataclass(frozen=True)
class Scales:
    """What is fitted: how fast the surface turns, and how large each part is."""

    lengths: tuple[float, ...]
    """Of each column: over this distance the departure from the plane turns."""
    departure: float
    peculiar: float
    """How far one population lies from another of the same shape."""
    turn: float
    """Over this distance of the first column what is peculiar changes."""
    noise: float

    def packed(self) -> Matrix:
        """As logs in one row, for an optimiser."""
        parts = (self.departure, self.peculiar, self.turn, self.noise)
        return np.asarray(np.log([*self.lengths, *parts]))

    @classmethod
    def unpacked(cls, logs: Matrix) -> Scales:
        """The way back."""
        values = [float(value) for value in np.exp(logs)]
        return cls(tuple(values[:-4]), *values[-4:])


@dataclass(frozen=True, eq=False)
class Surface:
    """Measured points under given scales."""

    places: Matrix
    """Points x columns."""
    values: Matrix
    groups: Groups
    scales: Scales

    @cached_property
    def _factor(self) -> tuple[Matrix, bool]:
        kernel = covariance(self.places, self.groups, self.scales)
        factor: tuple[Matrix, bool] = cho_factor(kernel, lower=True)
        return factor

    @cached_property
    def _middle(self) -> float:
        return float(self.values.mean())

    @cached_property
    def _weights(self) -> Matrix:
        return np.asarray(cho_solve(self._factor, self.values - self._middle))

    def at(self, points: Matrix) -> tuple[Matrix, Matrix]:
        """Mean and standard deviation at places of a group that was never seen."""
        cross = shared(points, self.places, self.scales)
        mean = self._middle + cross @ self._weights
        pulled = solve_triangular(self._factor[0], cross.T, lower=True)
        prior_variance = np.einsum("ij,ij->i", points, points) * PLANE + PLANE
        prior_variance += self.scales.departure**2 + self.scales.peculiar**2
        prior_variance += self.scales.noise**2 + LEAST**2
        variance = prior_variance - np.einsum("ij,ij->j", pulled, pulled)
        return mean, np.sqrt(np.maximum(variance, LEAST**2))

    def left_out(self, together: Groups | None = None) -> tuple[Matrix, Matrix]:
        """Mean and standard deviation at every point, from all points that are not left out
        `together` with it: its group, unless larger ones are given."""
        together = self.groups if together is None else together
        inverse = cho_solve(self._factor, np.eye(len(self.values)))
        mean = np.empty_like(self.values)
        sd = np.empty_like(self.values)
        for group in np.unique(together):
            rows = np.flatnonzero(together == group)
            block = np.linalg.inv(inverse[np.ix_(rows, rows)])
            mean[rows] = self.values[rows] - block @ self._weights[rows]
            sd[rows] = np.sqrt(np.diag(block))
        return mean, sd


def shared(left: Matrix, right: Matrix, scales: Scales) -> Matrix:
    """What two points have in common whatever their groups: the plane, and the departure."""
    lengths = np.array(scales.lengths)
    smooth = np.exp(-0.5 * _squares(left / lengths, right / lengths))
    return PLANE * (1 + left @ right.T) + scales.departure**2 * smooth


def covariance(points: Matrix, groups: Groups, scales: Scales) -> Matrix:
    """Of all points with each other."""
    kernel = shared(points, points, scales)
    kernel += _peculiar(points, groups, scales)
    kernel[np.diag_indices(len(kernel))] += scales.noise**2 + LEAST**2
    return kernel


def _peculiar(points: Matrix, groups: Groups, scales: Scales) -> Matrix:
    first_axis = points[:, :1] / scales.turn
    same = groups[:, None] == groups[None, :]
    near = np.exp(-0.5 * _squares(first_axis, first_axis))
    return np.asarray(scales.peculiar**2 * same * near)


def _squares(left: Matrix, right: Matrix) -> Matrix:
    norms = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)
    return np.asarray(np.maximum(norms - 2 * left @ right.T, 0.0))


def unlikeliness(
    logs: Matrix, points: Matrix, values: Matrix, groups: Groups
) -> tuple[float, Matrix]:
    """The negative log of the likelihood and its slope in each logged scale, with a weak
    prior that keeps scales near 1."""
    scales = Scales.unpacked(logs)
    kernel = covariance(points, groups, scales)
    factor = cho_factor(kernel, lower=True)
    centred = values - values.mean()
    weights = cho_solve(factor, centred)
    size = np.log(np.diag(factor[0])).sum()
    total = 0.5 * float(centred @ weights) + float(size)
    inner = cho_solve(factor, np.eye(len(values))) - np.outer(weights, weights)
    lengths = np.array(scales.lengths)
    smooth = scales.departure**2 * np.exp(-0.5 * _squares(points / lengths, points / lengths))
    peculiar = _peculiar(points, groups, scales)
    slopes = []
    for column, length in enumerate(lengths):
        squared_distance = (points[:, column, None] - points[:, column]) ** 2 / length**2
        slopes.append(0.5 * np.sum(inner * smooth * squared_distance))
    slopes.append(np.sum(inner * smooth))
    slopes.append(np.sum(inner * peculiar))
    squared_distance = (points[:, 0, None] - points[:, 0]) ** 2 / scales.turn**2
    slopes.append(0.5 * np.sum(inner * peculiar * squared_distance))
    slopes.append(np.trace(inner) * scales.noise**2)
    return total + 0.5 * float(logs @ logs), np.array(slopes) + logs


def fit_scales(
    points: Matrix, values: Matrix, groups: Groups, *, start: Scales | None = None, steps: int = 60
) -> Scales:
    """The likeliest scales, looked for from `start`."""
    from scipy.optimize import minimize

    columns = points.shape[1]
    spread = float(values.std())
    if start is None:
        start = Scales((1.5,) * columns, spread, spread / 2, 1.0, spread / 5)
    solution = minimize(
        unlikeliness,
        start.packed(),
        args=(points, values, groups),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-5.0, 4.0)] * (columns + 4),
        options={"maxiter": steps},
    )
    return Scales.unpacked(solution.x)
