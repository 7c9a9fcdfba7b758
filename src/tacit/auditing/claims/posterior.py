"""The law that the chains of Wang & Tang are said to reach, at their temperature, in a model of
one number: exact, without a chain.

A person with tau ratings r has the loss tau (r - s)^2 for a level s on the scale. A step has
the drift (a/2) eta times the slope of the loss, a = epsilon/8B, B = 16 tau, and noise of
variance rho eta: its stationary density is exp(-(a/rho) loss), where rho = 1 was meant. With
nobody else the two laws of a person who gives 1 throughout, or 5, are cut normals.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt

import numpy as np
from scipy.special import log_ndtr

from tacit.auditing.claims.claim import Force, PaperClaim, SeenByAttack
from tacit.auditing.claims.fits import Floats

RATED = 200
"""tau."""
LOW, HIGH = 1.0, 5.0
MOST_LOSS = RATED * (HIGH - LOW) ** 2
"""B."""
DELTA = 1e-6
"""Given away to whoever says that the claim is not pure."""
THRESHOLDS = np.geomspace(1e-6, 2.0, 200)
"""Of a guess: s is nearer to 1 than this."""


def at_temperature(rho: float) -> Callable[[PaperClaim, Force], SeenByAttack]:
    """An attack by the law itself, at this temperature."""

    def attack(claim: PaperClaim, force: Force) -> SeenByAttack:
        sharp = claim.epsilon / (8 * MOST_LOSS) / rho * RATED
        ones = log_below(THRESHOLDS, 0.0, sharp)
        fives = log_below(THRESHOLDS, HIGH - LOW, sharp)
        losses = [
            log(exp(one) - DELTA) - five
            for one, five in zip(ones, fives, strict=True)
            if exp(one) > DELTA
        ]
        return SeenByAttack(
            max(max(losses), 0.0),
            f"exact, of the stationary law, which a chain need not reach: temperature {rho:g}",
            f"a person who rates {RATED} items 1, or 5",
        )

    return attack


def log_below(reach: Floats, centre: float, sharp: float) -> Floats:
    """log P[s - 1 < reach] for s - 1 on [0, 4] with density exp(-sharp (s - 1 - centre)^2)."""
    spread = 1 / sqrt(2 * sharp)

    def log_mass(low: Floats, high: Floats) -> Floats:
        # Of a normal between two places below its centre; mirrored where they are above.
        a, b = (low - centre) / spread, (high - centre) / spread
        if centre == 0:
            a, b = -b, -a
        top, bottom = log_ndtr(b), log_ndtr(a)
        return np.asarray(top + np.log1p(-np.exp(bottom - top)))

    nothing = np.zeros_like(reach)
    full_reach = np.full_like(reach, HIGH - LOW)
    return log_mass(nothing, reach) - log_mass(nothing, full_reach)
