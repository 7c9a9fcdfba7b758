"""The discrete Laplace law, exact at every scale (proof in `strips`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.noise.bits import Bits
from tacit.noise.strips import draw, table


def discrete_laplace(
    n: int, scale: float, bits: Bits | None = None, *, threads: int = 1
) -> NDArray[np.int64]:
    """`n` independent integers, pmf(k) ~ exp(-|k| / scale), for a scale from 2^-10 to 2^50 steps.

    Guarantee: added to a sum of integers of L1 sensitivity D (in steps): pure epsilon = D / scale.
    """
    return draw(table("laplace", float(scale)), n, bits, threads)
