"""One device's portion of the noise of a sum that many devices make together.

Guarantee: `enough` portions of a Skellam or Laplace event, drawn independently, add up to
exactly the noise that the event is charged for; more portions only add independent noise
(`tacit.noise.shares`). A portion is rounded up, never down.
"""

from __future__ import annotations

from math import ceil, nextafter

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.ledger.account.event import Event, Laplace, Skellam
from tacit.noise.bits import Bits
from tacit.noise.shares import MAX_VARIANCE, polya_shares, skellam_shares

LEAST_PART = 2.0**-40
"""Of a Laplace draw, that a share is rounded up to."""


def portion(event: Event, size: int, enough: int, bits: Bits | None = None) -> NDArray[np.int64]:
    """`size` integers, of which the sum over `enough` devices has the noise of the event."""
    return together(event, size, 1, enough, bits)


def together(
    event: Event, size: int, devices: int, enough: int, bits: Bits | None = None
) -> NDArray[np.int64]:
    """The sum of the portions of several devices, drawn at once: the laws are closed under sums."""
    if devices < 1:
        return np.zeros(size, np.int64)
    if isinstance(event, Skellam):
        variance = nextafter(event.variance / enough, float("inf")) * devices
        return skellam(size, variance, bits)
    if isinstance(event, Laplace):
        part = nextafter(1 / enough, 1.0) if enough > 1 else 1.0
        portions, fraction = divmod(devices * part, 1.0)
        total = np.zeros(size, np.int64)
        for _ in range(int(portions)):
            total += polya_shares(size, 1.0, event.scale, bits)
        if fraction:
            total += polya_shares(size, max(fraction, LEAST_PART), event.scale, bits)
        return total
    raise Failure(f"the noise of {event.name} cannot be shared among devices")


def skellam(size: int, variance: float, bits: Bits | None = None) -> NDArray[np.int64]:
    """Skellam noise of any variance: a draw of one law is a sum of draws of smaller ones."""
    times = max(1, ceil(variance / MAX_VARIANCE))
    draws = [skellam_shares(size, variance / times, bits) for _ in range(times)]
    return np.asarray(np.stack(draws).sum(axis=0), np.int64)
