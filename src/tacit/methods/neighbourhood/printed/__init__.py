"""Algorithms 1 and 2 of Wang & Tang as printed: claimed, not certified.

What breaks the claims (docs/proofs/pnbm.md): item means and first similarities are raw; the
bound of Algorithm 1 covers one number of the gradient while one rating moves a whole row
and more; sampling ratings does not amplify; Algorithm 2's temperature divides its epsilon
and nothing bounds the distance of a finite chain from its limit.

Here are the paper's formulas; `algorithm` has what both algorithms do alike, `forms` each of
them as a plan.
"""

from __future__ import annotations

import numpy as np

from tacit.methods.first_order.state import Floats
from tacit.rounds.round import Block

SPAN = 4.0
"""phi = r_max - r_min on the inner scale."""
MOST_RATINGS = 200
"""tau: Algorithm 2 keeps at most this many ratings of a person."""
BOUND = SPAN**2 * MOST_RATINGS
"""B, the largest loss of a person."""


def error_limit(turn: int) -> float:
    """e_max of step t: .5 + (phi - 1)/(t + 1)."""
    return 0.5 + (SPAN - 1.0) / (turn + 1.0)


def printed_sensitivity(turn: int, floor: float) -> float:
    """dF = 2 e_max phi / C."""
    return 2.0 * error_limit(turn) * SPAN / floor


def langevin_step(
    value: Floats,
    gradient: Floats,
    prior: Floats,
    *,
    epsilon: float,
    step: float,
    noise: Floats | float,
) -> Floats:
    """Line 5 of Algorithm 2. At epsilon = 4B the factor is 1: plain stochastic gradient
    Langevin dynamics."""
    return np.asarray(
        value
        - epsilon / (4.0 * BOUND) * step / 2.0 * (gradient + prior)
        + noise
    )


def inclusion(counts: Floats, batch: float) -> tuple[Floats, float]:
    """(1 - |I_i|/L)^(l-1) |I_i|/L of eq. 12 for each item, l the batch; H_ij = 1 - the
    product of two of them."""
    total = max(float(counts.sum()), 1.0)
    share = counts / total
    return share * (1.0 - share) ** max(batch * total - 1.0, 0.0), total


def busy(block: Block, least: int, most: int | None, seed: int) -> Block:
    """The people with more than `least` ratings; at most `most` of them each, at random."""
    counts = np.diff(block.ptr)
    person = np.repeat(np.arange(len(counts)), counts)
    keep_cell = counts[person] > least
    if most is not None:
        order = np.lexsort(
            (np.random.default_rng(seed).random(len(person)), person)
        )
        rank = np.empty(len(person), np.int64)
        rank[order] = np.arange(len(person)) - np.repeat(block.ptr[:-1], counts)
        keep_cell &= rank < most
    kept = np.bincount(person[keep_cell], minlength=len(counts))
    ptr = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    return Block(
        block.people, ptr, block.item[keep_cell], block.value[keep_cell]
    )
