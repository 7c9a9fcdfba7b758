"""Loadings from a released covariance of items: first how tastes for known loadings vary,
then tastes not known before.

The released entry of items i and j is about a_i a_j x_i'T x_j, a as in
`tacit.methods.refine.spectrum_items`. T - I is looked for in the few dimensions of the
known loadings, where noise is small, and new loadings in what those leave over. Both are
cleaned by the edge of the noise: noise alone leaves T = I and finds nothing new.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.methods.refine.spectrum_items import Profile, fit_item_factors

Floats = NDArray[np.float64]

KEPT = 1.0
"""What the released covariance holds of that of ratings: centring and clipping leave about
.7, and a little shrinkage makes up for loadings that follow the noise of finitely many
people (flat from .9 to 1.4 on ML-1M)."""
WEAK = 0.05
"""Directions whose own size is below this share of the noise edge are left as they are."""
MOST = 6.0
"""Bound of the eigenvalues of T."""
RANK = 60
"""New loadings are looked for in so many columns at most."""
TOGETHER, MOST_TOGETHER = 2.0, 3.0
"""How many times the scatter of an entry counts, as entries of a row share people: it matters
where noise is low. The larger of the two where a matrix has at least a row for two people and
those of many ratings weigh more, whose own rows look like common tastes
(docs/results/bayes.md)."""


@dataclass(frozen=True, eq=False)
class CovarianceFactors:
    """`turn`: known item factors times this have the released covariance; `fresh`: new item factors
    of the rows."""

    turn: Floats
    fresh: Floats
    unknown: Floats
    """Summed variance of what is unknown of each row of `fresh`."""
    typical: float
    """Prior variance of all fresh loadings of an item that is no row of the matrix."""


def covariance_factors(
    matrix: NDArray[np.float32],
    sd: float,
    profile: Profile,
    item_factors: Floats,
    together: float = TOGETHER,
) -> CovarianceFactors:
    """From the released covariance (noise `sd`, diagonal never released) of the items with
    these `item_factors`; `together` as `shared_scatter` has it."""
    rotation = _rotation(matrix, sd, profile, item_factors)
    scaled = item_factors @ rotation * (profile.weight * np.sqrt(KEPT))[:, None]
    residuals = matrix - (scaled @ scaled.T).astype(np.float32)
    np.fill_diagonal(residuals, 0.0)
    fit = fit_item_factors(residuals, sd, profile, rank_max=RANK, together=together)
    fresh = fit.mean.astype(np.float64) / np.sqrt(KEPT)
    unknown = fit.spread.astype(np.float64) / KEPT
    typical = float((fresh**2).sum(axis=1).mean() + unknown.mean()) if fit.rank else 0.0
    return CovarianceFactors(rotation, fresh, unknown, typical)


def shared_scatter(rows: int, people: float) -> float:
    """How many times scatter counts at the unit `rating`."""
    crowded = min(2 * rows / max(people, 1.0), 1.0)
    return TOGETHER + (MOST_TOGETHER - TOGETHER) * crowded


def _rotation(
    matrix: NDArray[np.float32], sd: float, profile: Profile, item_factors: Floats
) -> Floats:
    """T^1/2, by the projection of the whitened matrix on the whitened item factors."""
    width = item_factors.shape[1]
    white = (sd**2 + profile.sampling * profile.weight**2 + 1e-30) ** -0.25
    rows = item_factors * (profile.weight * white * np.sqrt(KEPT))[:, None]
    parts = np.linalg.svd(rows, full_matrices=False)
    size = parts.S
    clear = size**2 > WEAK * 2 * np.sqrt(width)
    if not clear.any():
        return np.eye(width)
    basis = parts.U[:, clear]
    size = size[clear]
    right_vectors = parts.Vh[clear]
    whitened = basis * white[:, None]
    # The diagonal was never released: it is taken to be what the loadings say, and so drops
    # out of the difference.
    diagonal = (rows**2).sum(axis=1)
    difference = whitened.T @ (matrix @ whitened) + (basis.T * diagonal) @ basis - np.diag(size**2)
    values, vectors = np.linalg.eigh((difference + difference.T) / 2)
    edge = 2 * np.sqrt(len(size))
    cleaned = np.sign(values) * np.sqrt(np.maximum(values**2 - edge**2, 0.0))
    change = (vectors * cleaned) @ vectors.T / (size[:, None] * size)
    values, vectors = np.linalg.eigh(np.eye(width) + right_vectors.T @ change @ right_vectors)
    result: Floats = (vectors * np.sqrt(np.clip(values, 0.0, MOST))) @ vectors.T
    return result
