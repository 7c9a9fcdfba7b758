"""Curves: tastes for products of what is known of items.

A person may like old comedies but not old dramas, or films that are both famous and well
liked. The prior for such tastes is a quadratic kernel over the known loadings x, CURVED
(x_i'x_j)^2, less what is linear in them. Its columns are products of pairs; the leading
directions of these, weighted as items are rated, stand for all.

Guarantee: every function of this module reads released numbers and public constants only;
it is post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CURVED = 2.0
"""Size of the kernel. Chosen on ML-1M (split 102): 1 and 2 are alike, 4 loses half."""
AXES = 12
"""Products are taken of so many leading directions of the loadings: with all of them no gain."""
KEPT = 24
"""Columns of the result at most: 16 give nine tenths of the gain, 40 a tenth more."""


def feature_interactions(item_factors: Floats, weight: Floats) -> Floats:
    """Item factors (items x at most `KEPT`) for products of the given ones; `weight` is the
    popularity of each item."""
    share = weight / max(float(weight.sum()), 1e-300)
    axes = _leading(item_factors - share @ item_factors, share, AXES)
    first, second = np.triu_indices(axes.shape[1])
    size = np.sqrt(CURVED * np.where(first == second, 1.0, 2.0))
    products = axes[:, first] * axes[:, second] * size
    products -= share @ products
    root = np.sqrt(share)[:, None]
    linear = np.linalg.lstsq(axes * root, products * root, rcond=1e-8)[0]
    return _leading(products - axes @ linear, share, KEPT)


def _leading(columns: Floats, share: Floats, rank: int) -> Floats:
    """Turned so that the first column varies most; so many columns at most."""
    if not columns.shape[1]:
        return columns
    vectors = np.linalg.eigh((columns.T * share) @ columns)[1]
    result: Floats = columns @ vectors[:, ::-1][:, :rank]
    return result
