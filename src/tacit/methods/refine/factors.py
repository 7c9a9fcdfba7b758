"""Item factors behind known noise: an empirical-Bayes regression that vanishes where the
noise drowns it.

Released right-hand sides obey b_i = A_i v_i + N(0, R_i), R_i = sampling noise + the noise
of the release (known). The factors are v_i ~ N(0, T). T is found by marginal likelihood of
the released numbers: first its size on a grid that begins at nothing, then its shape by EM.
Unless the likelihood with factors is clearly above that without, the factors are exactly
zero: a stage that does not pay is not used.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SIZES = np.geomspace(1e-5, 0.3, 16)
"""Variances of a factor's entry that are tried, on the inner scale and for person vectors
of unit variance."""
SHAPE_SWEEPS = 12
"""Turns of EM at most, for the shape of T."""
MOMENT_SD = 0.3
"""Prior spread of an entry of people's second moment around I/2."""
PAYS = 3.0
"""By how much, for each free number of T, -2 log likelihood must fall before factors are believed.
"""


@dataclass(frozen=True)
class ItemFactors:
    """v_i and, summed over its entries, what is left unknown of it. `gain` is the fall in
    -2 log likelihood."""

    mean: Floats
    unknown: Floats
    prior: Floats
    gain: float

    @staticmethod
    def none(items: int, width: int) -> ItemFactors:
        """Zeros, where factors do not pay."""
        return ItemFactors(np.zeros((items, width)), np.zeros(items), np.zeros((width, width)), 0.0)


def item_factors(
    right: Floats, left: Floats, noise: Floats, *, shape: bool = True, pays: float = PAYS
) -> ItemFactors:
    """The posterior of v_i from `right` (items x d), `left` = A_i and `noise` = R_i (items
    x d x d each).

    A_i and R_i must commute (R_i is a function of A_i, or A_i a multiple of I): sizes are
    tried in their common eigenbasis. Both may be one number an item, for multiples of I:
    then all is done in the eigenbasis of T.
    """
    items, width = right.shape
    if not items or not np.isfinite(right).all() or not np.isfinite(left).all():
        return ItemFactors.none(items, width)
    empty, *costs = _sized(right, left, noise, np.array([0.0, *SIZES]))
    best = SIZES[int(np.argmin(costs))] * np.eye(width)
    cost = float(min(costs))
    for _ in range(SHAPE_SWEEPS if shape and cost < empty else 0):
        posterior = _posterior(right, left, noise, best)
        updated = (posterior.mean.T @ posterior.mean + posterior.together) / items
        updated_cost = _cost(right, left, noise, updated)
        if not updated_cost < cost - 1e-3:
            break
        best, cost = updated, updated_cost
    gain = empty - cost
    if not gain > pays * (width * (width + 1) / 2 if shape else 1):
        return ItemFactors.none(items, width)
    posterior = _posterior(right, left, noise, best)
    return ItemFactors(posterior.mean, posterior.unknown, best, gain)


def person_moment(total: Floats, weight: float, sd: float) -> Floats:
    """Second moment of people's vectors, total/weight, entry by entry shrunk by the noise
    toward I/2; positive.

    Vectors of prior variance 1, folded in from a person's own ratings, have a variance
    between 0 and 1.
    """
    noise = sd / max(weight, 1e-12)
    shrinkage = MOMENT_SD**2 / (MOMENT_SD**2 + noise**2)
    guess = np.eye(len(total)) / 2
    return clip_spectrum(
        guess + shrinkage * ((total + total.T) / 2 / max(weight, 1e-12) - guess), 0.05, 5.0
    )


def clip_spectrum(matrix: Floats, low: float, high: float) -> Floats:
    """The symmetric matrix (or stack of them) with its eigenvalues cut to [low, high]."""
    values, vectors = np.linalg.eigh(matrix)
    cut = np.clip(values, low, high)
    result: Floats = (vectors * cut[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return result


def item_moments(released: Floats, weight: Floats, moment: Floats, sd: Floats) -> Floats:
    """A_i = W_i S + what is special to item i, shrunk by the noise: its spread is W_i^2
    t^2, t^2 by moments.

    `released` are noisy A_i, `sd` the noise of each of their entries, S the `moment` of all people.
    """
    special = released - weight[:, None, None] * moment
    spread = float(
        np.clip(
            ((special**2).mean(axis=(1, 2)) - (sd**2).mean()).sum()
            / np.maximum(weight**2, 1e-12).sum(),
            0,
            1,
        )
    )
    ratio = weight**2 * spread
    shrinkage = ratio[:, None, None] / (ratio[:, None, None] + sd**2 + 1e-300)
    scaled = moment + shrinkage * special / np.maximum(weight, 1e-9)[:, None, None]
    return weight[:, None, None] * clip_spectrum(scaled, 0.02, 10.0)


def unpack(packed: Floats, width: int) -> Floats:
    """Symmetric matrices from their upper triangles, whose off-diagonal entries were
    multiplied by sqrt 2."""
    out = np.zeros((*packed.shape[:-1], width, width))
    rows, columns = np.triu_indices(width)
    values = packed / np.where(rows == columns, 1.0, np.sqrt(2.0))
    out[..., rows, columns] = values
    out[..., columns, rows] = values
    return out


def _sized(right: Floats, left: Floats, noise: Floats, sizes: Floats) -> list[float]:
    """`_cost` for priors that are multiples of I."""
    if left.ndim == 1:
        plain = right
        answer = left[:, None]
        error = noise[:, None]
    else:
        error, basis = np.linalg.eigh(noise)
        plain = np.einsum("nab,na->nb", basis, right)
        answer = np.einsum("nab,nab->nb", basis, left @ basis)
    spreads = (size * answer**2 + error for size in sizes)
    costs = (float(np.sum(np.log(spread) + plain**2 / spread)) for spread in spreads)
    return [cost if np.isfinite(cost) else np.inf for cost in costs]


class _Posterior(NamedTuple):
    """Posterior of all v_i under one T."""

    mean: Floats
    unknown: Floats
    """Trace of each covariance."""
    together: Floats
    """Sum of the covariances."""


def _posterior(right: Floats, left: Floats, noise: Floats, prior: Floats) -> _Posterior:
    if left.ndim == 1:
        values, basis = np.linalg.eigh(prior)
        total = left[:, None] ** 2 * values + noise[:, None]
        variances = values * noise[:, None] / total
        mean = (right @ basis * (left[:, None] * values / total)) @ basis.T
        together = (basis * variances.sum(axis=0)) @ basis.T
        return _Posterior(mean, variances.sum(axis=1), together)
    spread = left @ prior
    gain = np.swapaxes(np.linalg.solve(spread @ np.swapaxes(left, 1, 2) + noise, spread), 1, 2)
    covariance = prior - gain @ spread
    return _Posterior(
        np.einsum("nab,nb->na", gain, right),
        np.einsum("nii->n", covariance),
        covariance.sum(axis=0),
    )


def _cost(right: Floats, left: Floats, noise: Floats, prior: Floats) -> float:
    """-2 log likelihood, up to a constant."""
    if left.ndim == 1:
        values, basis = np.linalg.eigh(prior)
        spread = left[:, None] ** 2 * np.maximum(values, 0.0) + noise[:, None]
        value = float(np.sum(np.log(spread) + (right @ basis) ** 2 / spread))
    else:
        total = left @ prior @ np.swapaxes(left, 1, 2) + noise
        solved = np.linalg.solve(total, right[:, :, None])[:, :, 0]
        value = float(np.linalg.slogdet(total)[1].sum() + np.einsum("na,na->", right, solved))
    return value if np.isfinite(value) else np.inf
