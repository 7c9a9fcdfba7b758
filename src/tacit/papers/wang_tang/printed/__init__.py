"""Algorithms 1 and 2 of Wang & Tang as printed: claimed, not certified.

What breaks the claims (docs/proofs/pnbm.md): item means are raw, and so are first
similarities where they are made from ratings; the bound of Algorithm 1 covers one number
of the gradient while one rating moves a whole row and more; sampling ratings does not
amplify; Algorithm 2's temperature divides its epsilon and nothing bounds the distance of a
finite chain from its limit.

Here are the paper's formulas; `forms` has what both algorithms do alike, `forms` each of
them as a plan, `kernels` the gradient over all pairs of items. `tests/papers/printed/wang_tang.py`
is a second implementation that shares no code with this one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.first_order.rounds import Floats

SPAN = 4.0
"""phi = r_max - r_min on the inner scale."""
MIDDLE = 3.0
"""Of the paper's scale from 1 to 5, whose width the inner scale has."""


def error_limit(iteration: int) -> float:
    """e_max of step t: .5 + (phi - 1)/(t + 1)."""
    return 0.5 + (SPAN - 1.0) / (iteration + 1.0)


def printed_sensitivity(iteration: int, floor: float) -> float:
    """dF = 2 e_max phi / C."""
    return 2.0 * error_limit(iteration) * SPAN / floor


def loss_bound(limit: int) -> float:
    """B, the largest loss of a person with at most `limit` (tau) ratings."""
    return SPAN**2 * limit


def langevin_step(
    value: Floats,
    gradient: Floats,
    prior: Floats,
    *,
    share: float,
    step: float,
    noise: Floats | float,
) -> Floats:
    """Line 5 of Algorithm 2, with share = epsilon/4B: at 1 plain stochastic gradient
    Langevin dynamics."""
    updated = gradient + prior
    updated *= -share * step / 2.0
    updated += value
    updated += noise
    return updated


def inclusion(counts: Floats, batch: float) -> tuple[Floats, float]:
    """(1 - |I_i|/L)^(l-1) |I_i|/L of eq. 12 for each item, l the batch; H_ij = 1 - the
    product of two of them."""
    total = max(float(counts.sum()), 1.0)
    share = counts / total
    return share * (1.0 - share) ** max(batch * total - 1.0, 0.0), total


def most_similar(similarity: Floats, neighbours: int) -> tuple[NDArray[np.int64], Floats]:
    """The `neighbours` other items of largest similarity to each item, ascending by item:
    section 5.2, *after* training."""
    masked = similarity.copy()
    np.fill_diagonal(masked, -np.inf)
    count = max(1, min(neighbours, len(masked) - 1))
    best = np.argsort(-masked, axis=1, kind="stable")[:, :count]
    index = np.sort(best, axis=1).astype(np.int64)
    return index, np.take_along_axis(similarity, index, axis=1)
