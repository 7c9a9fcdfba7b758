"""What people's choice of items says of their tastes, from released products.

Who rates many westerns mostly likes them, whatever she thinks of each. So a person's tastes z
have the prior mean m = B'h, h the loadings of what she has rated less those of what people
usually rate, summed and divided by their number and a few more. Released are the sums over
people of h s' and of hh', s being what her ratings say of her tastes along some axes. As
ratings show R of an axis, h s' is about hh' B R on average: a regression, whose coefficients have
one prior variance that maximises their posterior and may be nothing at all.

That is too much where people rate little: who rates much of one kind shows more of her taste for
it, and h and R belong together. So how far B is believed is asked of everybody again, one number
for all of it.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.user_factors import Axes
from tacit.methods.refine.variety import unpack

Floats = NDArray[np.float64]

SPREADS = np.geomspace(1e-4, 1.0, 17)
"""Prior variances of a coefficient that are tried, beside none."""
SPREAD, SPREAD_SD = 0.01, 1.5
"""Prior median of that variance and standard deviation of its logarithm."""
LEAST_VARIES = 0.02
"""A direction of h counts as varying at least so much as a share of the others."""
BELIEVED, BELIEVED_SD = 0.5, 0.5
"""Prior mean and standard deviation of how far the coefficients are believed."""
MOST_BELIEVED = 2.0
"""And how far at most."""
FLAT = 1e-8
"""Variance of loadings below which there is no direction."""
LEAST = 1e-12
"""Stands for nothing at all, where a formula divides by it."""


@dataclass(frozen=True, eq=False)
class Leanings:
    """Each item's factors less what people usually rate, in the leading directions."""

    usual: Floats
    """The loadings of what people usually rate."""
    turn: Floats
    """(loadings - usual) times this are the items' `rows`; columns of zeros where there are fewer
    directions than asked for."""
    rows: Floats
    """Items x directions, each of variance 1 over what is rated."""

    @property
    def present(self) -> NDArray[np.bool_]:
        """Mask of the directions that are not zero."""
        return np.asarray(np.abs(self.turn).sum(axis=0) > 0)


def leanings(item_factors: Floats, weight: Floats, count: int) -> Leanings:
    """The `count` directions in which item factors vary most, without the user bias in column 0;
    `weight` is the popularity of each item."""
    share = weight / max(float(weight.sum()), 1e-300)
    usual = share @ item_factors
    centred = item_factors - usual
    centred[:, 0] = 0.0
    values, vectors = np.linalg.eigh((centred.T * share) @ centred)
    best = np.argsort(-values, kind="stable")[:count]
    best = best[values[best] > FLAT]
    rotation = np.zeros((item_factors.shape[1], count))
    rotation[:, : len(best)] = vectors[:, best] / np.sqrt(values[best])
    rotation[0] = 0.0
    return Leanings(usual, rotation, np.ascontiguousarray(centred @ rotation))


def coefficients(
    products: Floats, packed: Floats, sd: float, axes: Axes, directions: NDArray[np.bool_]
) -> Floats:
    """B, directions x axes, from the released sums of h s', with noise of `sd`, and of hh'
    (packed), with noise of about that size. Nothing for `directions` and axes that are not
    there."""
    present = np.abs(axes.vectors).sum(axis=0) > 0
    active = np.ix_(directions, present)
    solution = np.zeros_like(products)
    if not solution[active].size:
        return solution
    squares = unpack(packed, len(products))[np.ix_(directions, directions)]
    values, vectors = np.linalg.eigh(squares)
    typical = float(np.maximum(values, 0.0).mean())
    varies = np.maximum(values, max(sd, LEAST_VARIES * typical, LEAST))
    turned = vectors.T @ products[active]
    scale = varies[:, None] * axes.reliability[present]
    noise = sd**2 + scale
    spread = _spread(turned, scale, noise)
    gain = scale * spread / (scale**2 * spread + noise)
    solution[active] = vectors @ (gain * turned)
    return solution


def _spread(projected: Floats, scale: Floats, noise: Floats) -> float:
    """The most probable variance of the coefficients; 0 where none explains the release better."""
    best = (float(np.sum(np.log(noise) + projected**2 / noise)), 0.0)
    for spread in SPREADS:
        variance = scale**2 * spread + noise
        cost = (
            float(np.sum(np.log(variance) + projected**2 / variance))
            + (np.log(spread / SPREAD) / SPREAD_SD) ** 2
        )
        if cost < best[0]:
            best = (cost, float(spread))
    return best[1]


def believed(agreed: float, size: float, sd: float) -> float:
    """Multiplier of implicit feedback, from the released sums over people of m's and m'Rm, m being
    the prior mean that her choice implies, each with noise of `sd`.

    What ratings show along m is m'Rm times the multiplier on average, and has that variance."""
    size = max(size, sd, LEAST)
    gain = size * BELIEVED_SD**2 / ((size * BELIEVED_SD) ** 2 + size + sd**2)
    belief = BELIEVED + gain * (agreed - BELIEVED * size)
    return float(np.clip(belief, 0.0, MOST_BELIEVED))
