"""The discrete Gaussian law, exact at every scale (proof in `strips`).

Why the discrete and not the rounded Gaussian: its zCDP is that of the continuous one at any
sigma; from 16 steps on the accountant's closed form holds too; and it needs only
exponentials of rationals, so exactness can be proven.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.noise.bits import Bits
from tacit.noise.strips import draw, table


def discrete_gaussian(
    n: int, sigma: float, bits: Bits | None = None, *, threads: int = 1
) -> NDArray[np.int64]:
    """`n` independent integers, pmf(k) ~ exp(-k^2 / 2 sigma^2), for sigma from 2^-10 to 2^50 steps.

    Guarantee: added to a sum of integers of L2 sensitivity D (in steps): zCDP with rho =
    D^2 / 2 sigma^2.
    """
    return draw(table("gaussian", float(sigma)), n, bits, threads)
