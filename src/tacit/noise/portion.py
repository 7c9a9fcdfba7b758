"""One device's portion of the noise of a sum that many devices make together.

Guarantee: `enough` portions of a Skellam or Laplace event, drawn independently, add up to
exactly the noise that the event is charged for; more portions only add independent noise
(`tacit.noise.shares`). A portion is rounded up, never down.
"""

from __future__ import annotations

from math import ceil, nextafter, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.ledger.account.event import Event, Gaussian, Laplace, Skellam
from tacit.noise.bits import Bits
from tacit.noise.gaussian import discrete_gaussian
from tacit.noise.laplace import discrete_laplace
from tacit.noise.shares import MAX_VARIANCE, polya_shares, skellam_shares

LEAST_PART = 2.0**-40
"""Of a Laplace draw, that a share is rounded up to."""
FINE = 1 << 20
"""Parts of a step in which a standard deviation or a scale is told: whole numbers are the
same in everybody's JSON."""
SERVERS = 2
"""Of a federation, which each add a whole noise where servers add any."""
LawName = Literal["", "gaussian", "laplace", "skellam"]


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


# A whole noise, which one server of a federation adds by itself.
#
# Guarantee: what is drawn is independent of everything else and at least as spread as the
# event that was paid for: a `Spread` is rounded up, never down. Whoever knows all but one
# server's draw still faces that one (docs/proofs/federated.md, Servers).


class Spread(NamedTuple):
    """A law and its one parameter as a whole number: of `gaussian` the standard deviation
    and of `laplace` the scale, in 2^-20 steps; of `skellam` the variance in squared steps.
    """

    law: LawName
    number: int

    @property
    def variance(self) -> float:
        """Of one number that is drawn, in squared steps."""
        if self.law == "gaussian":
            return (self.number / FINE) ** 2
        if self.law == "laplace":
            return 2 * (self.number / FINE) ** 2
        return float(self.number)

    @property
    def sd(self) -> float:
        """Of one number that is drawn, in steps."""
        return sqrt(self.variance)


NO_SPREAD = Spread("", 0)
"""Where a server adds nothing."""


def spread_of(event: Event) -> Spread:
    """What a server draws for an event by itself."""
    if isinstance(event, Gaussian):
        return Spread("gaussian", ceil(event.sigma * FINE))
    if isinstance(event, Laplace):
        return Spread("laplace", ceil(event.scale * FINE))
    if isinstance(event, Skellam):
        return Spread("skellam", ceil(event.variance))
    raise Failure(f"a server has no noise for {event.name}")


def draw_server_noise(spread: Spread, size: int, bits: Bits | None = None) -> NDArray[np.int64]:
    """`size` integers of the law, exactly."""
    if spread.law == "gaussian":
        return discrete_gaussian(size, spread.number / FINE, bits)
    if spread.law == "laplace":
        return discrete_laplace(size, spread.number / FINE, bits)
    if spread.law == "skellam":
        return skellam(size, float(spread.number), bits)
    return np.zeros(size, np.int64)
