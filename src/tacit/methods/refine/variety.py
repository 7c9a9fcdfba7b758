"""How tastes vary between people: their covariance T, from released moments.

Moments are the sum over people of E[zz' | ratings] - I, seen along some axes. A person whose
ratings show R of her taste adds R (T - I) R' on average, and N more where ratings have more
chance in them than the model says, N being what chance adds to her estimate. R differs widely
from person to person, as somebody rates three items of one kind and none of another; so R and
N are averaged over invented people, who rate as many items as the released count says and
choose them as the released weights say.

T - I is then the posterior mean of a Gaussian model: a widening of each group of tastes, and a
turn of any directions whose spread maximises its posterior and may be nothing. What moments do
not show stays as it was, and a direction is raised only as far as it was measured.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.user_factors import Axes

Floats = NDArray[np.float64]

INVENTED = 200
"""People over whom is averaged what ratings show."""
ACTIVITY = 0.8
"""Standard deviation of the log of their number of ratings."""
WIDER = 0.3
"""Prior spread of the variance of a group of tastes around what the model says, as a share."""
NOISIER = 0.05
"""The same of the chance in a rating."""
TURNS = np.geomspace(0.02, 1.5, 10)
"""Spreads of T - I along any axes that are tried, beside none."""
TURN, TURN_SD = 0.2, 1.0
"""Prior median of that spread and standard deviation of its logarithm."""
LEAST, MOST = 0.05, 8.0
"""Bounds of the eigenvalues of T."""


@dataclass(frozen=True, eq=False)
class Raters:
    """What is known of who rates what."""

    weight: Floats
    """How much each item is rated."""
    count: float
    """Ratings of a typical person."""
    precision: Floats
    """Of a rating around the personal model, by item."""

    def ratings(self) -> list[NDArray[np.int64]]:
        """The items of each invented person: always the same draws."""
        rng = np.random.default_rng(0)
        items = len(self.weight)
        floor = 1e-12 * max(float(self.weight.max()), 1e-300)
        appeal = np.log(np.maximum(self.weight, floor))
        samples = []
        for person in range(INVENTED):
            score = NormalDist().inv_cdf((person + 0.5) / INVENTED)
            expected_count = round(self.count * np.exp(ACTIVITY * score))
            count = int(np.clip(expected_count, 1, max(items // 2, 1)))
            # The largest of log-weight plus Gumbel noise: a draw without replacement.
            order = np.argpartition(-(appeal + rng.gumbel(size=items)), count - 1)
            samples.append(order[:count])
        return samples


@dataclass(frozen=True, eq=False)
class Expected:
    """Packed moments of an average person, for one unit of each unknown."""

    turns: Floats
    """A column for each packed entry of T - I along the axes."""
    groups: Floats
    """A column for each group: all its tastes vary by one unit more."""
    noise: Floats
    """Ratings have twice the chance in them."""


def expected(
    item_factors: Floats, groups: NDArray[np.int64], axes: Floats, raters: Raters
) -> Expected:
    """Expected moments, averaged over invented people."""
    width, rank = axes.shape
    names = np.unique(groups)
    products = np.zeros((rank**2, rank**2))
    wider = np.zeros((len(names), rank, rank))
    chance = np.zeros((rank, rank))
    for items in raters.ratings():
        rows = item_factors[items]
        information = (rows.T * raters.precision[items]) @ rows
        unknown = np.linalg.inv(np.eye(width) + information)
        resolved = axes.T @ unknown @ information
        along = (resolved @ axes).ravel()
        products += np.outer(along, along)
        for index, name in enumerate(names):
            part = resolved[:, groups == name]
            wider[index] += part @ part.T
        chance += resolved @ unknown @ axes
    return Expected(
        _rotation_map(products.reshape(rank, rank, rank, rank) / INVENTED),
        np.array([pack(matrix) for matrix in wider / INVENTED]).T,
        pack(chance / INVENTED),
    )


def _rotation_map(products: Floats) -> Floats:
    """The map of packed S to packed R S R', from the averages of R_ac R_bd by (a, c, b, d)."""
    rows, columns = np.triu_indices(len(products))
    size = np.where(rows == columns, 1.0, np.sqrt(2.0))
    straight = products[rows[:, None], rows, columns[:, None], columns]
    crossed = products[rows[:, None], columns, columns[:, None], rows]
    result: Floats = size[:, None] * (straight + crossed) / 2 * size
    return result


def retaste(
    item_factors: Floats,
    groups: NDArray[np.int64],
    axes: Axes,
    raters: Raters,
    packed: Floats,
    sd: float,
    people: float,
) -> Floats:
    """Item factors X T^1/2, from the released sum of packed moments with noise of `sd`; `groups` is
    the group of each column of X."""
    turned = axes.vectors
    moments = expected(item_factors, groups, turned, raters)
    fixed = np.column_stack([WIDER * moments.groups, NOISIER * moments.noise])
    first, second = np.triu_indices(len(axes.reliability))
    sampling = 2 * axes.reliability[first] * axes.reliability[second]
    noise = (sd**2 / people + sampling) / people
    spread, pull = _spread(packed / people, fixed, moments.turns, noise)
    wider = WIDER * (fixed.T @ pull)[:-1]
    change = np.diag(wider[np.searchsorted(np.unique(groups), groups)])
    rotation = unpack(spread**2 * moments.turns.T @ pull, turned.shape[1])
    change += turned @ rotation @ turned.T
    values, vectors = np.linalg.eigh(np.eye(len(change)) + change)
    root = (vectors * np.sqrt(np.clip(values, LEAST, MOST))) @ vectors.T
    result: Floats = item_factors @ root
    return result


def _spread(
    observed: Floats, fixed: Floats, rotations: Floats, noise: Floats
) -> tuple[float, Floats]:
    """The most probable spread of turns, and K^-1 `observed` under it, K being the covariance of
    the released moments; zeros where no K can be solved."""
    noise_matrix = np.diag(np.maximum(noise, 1e-12))
    fixed_covariance = fixed @ fixed.T + noise_matrix
    free = rotations @ rotations.T
    best = (np.inf, 0.0, np.zeros_like(observed))
    for spread in (0.0, *TURNS):
        try:
            lower = np.linalg.cholesky(fixed_covariance + spread**2 * free)
        except np.linalg.LinAlgError:
            continue  # so little noise beside the moments that rounding leaves no covariance
        white = np.linalg.solve(lower, observed)
        cost = 2 * float(np.log(np.diag(lower)).sum()) + float(white @ white)
        if spread:
            cost += (np.log(spread / TURN) / TURN_SD) ** 2
        if cost < best[0]:
            best = (cost, float(spread), np.linalg.solve(lower.T, white))
    return best[1], best[2]


def pack(matrix: Floats) -> Floats:
    """The upper triangle by rows, entries beside the diagonal times sqrt 2, so that its L2
    norm is the matrix's Frobenius norm."""
    rows, columns = np.triu_indices(len(matrix))
    size = np.where(rows == columns, 1.0, np.sqrt(2.0))
    result: Floats = matrix[rows, columns] * size
    return result


def unpack(packed: Floats, width: int) -> Floats:
    """The symmetric matrix of a packed one."""
    rows, columns = np.triu_indices(width)
    size = np.where(rows == columns, 1.0, np.sqrt(2.0))
    upper = np.zeros((width, width))
    upper[rows, columns] = packed / size
    result: Floats = upper + np.triu(upper, 1).T
    return result
