"""McSherry & Mironov 2009: the sensitivity of the covariance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacit.papers.attacks.claim import Force, PaperClaim, SeenByAttack
from tacit.papers.attacks.fits import Floats

PAPER = "McSherry & Mironov 2009"
SHRINK, CLAMP = 20.0, 1.0
"""beta_p and B."""
ALPHA = 4.0
"""What the paper takes a rating to be away from a person's mean at most."""
LAPLACE = 2 * ALPHA * CLAMP + 3 * CLAMP**2
"""Theorem 5 in L1: 11."""
GAUSSIAN = (1 + 2 * np.sqrt(2)) * CLAMP**2
"""Theorem 5 in L2: 3.83."""


def centred(values: Floats) -> Floats:
    """A person's row: less her mean with `SHRINK` fictitious ratings at 0, clamped."""
    mean = values.sum() / (len(values) + SHRINK)
    return np.asarray(np.clip(values - mean, -CLAMP, CLAMP))


def shifted(power: float) -> tuple[float, float]:
    """How far one rating more moves a person's weighted outer product, in L1 and L2: 387
    ratings at -3.96 and 2,842 at 4 from item averages at 5 and at 1, and a new one at -4."""
    values = np.concatenate([np.full(387, -3.96), np.full(2842, 4.0)])
    before = centred(values)
    after = centred(np.append(values, -4.0))
    move = np.outer(after, after) / len(after) ** power
    old_items = slice(0, len(before))
    move[old_items, old_items] -= np.outer(before, before) / len(before) ** power
    return float(np.abs(move).sum()), float(np.sqrt((move**2).sum()))


def exceeds(
    power: float, norm: int, constant: float
) -> Callable[[PaperClaim, Force], SeenByAttack]:
    """An attack on a constant: noise that is scaled to it costs epsilon times the move over
    the constant, exactly (of Laplace noise; of Gaussian noise the same in mu)."""

    def attack(claim: PaperClaim, force: Force) -> SeenByAttack:
        sensitivity = shifted(power)[norm]
        return SeenByAttack(
            claim.epsilon * sensitivity / constant,
            f"moves {sensitivity:.2f} where {constant:.2f} is charged, exactly",
            "3,229 ratings of items with averages at both ends, and one more",
        )

    return attack


RATING = "one rating comes or goes"
CLAIMS = (
    PaperClaim(
        "covariance in L1",
        PAPER,
        "theorem 5: one rating moves the weighted covariance by at most 2 alpha B + 3 B^2 = 11",
        RATING,
        "covariance-knn",
        "rating",
        1.0,
        exceeds(1.0, 0, LAPLACE),
        "false",
    ),
    PaperClaim(
        "covariance in L2",
        PAPER,
        "theorem 5: by at most (1 + 2 sqrt 2) B^2 = 3.83 in L2",
        RATING,
        "covariance-svd",
        "rating",
        1.0,
        exceeds(0.5, 1, float(GAUSSIAN)),
        "true",
    ),
)
