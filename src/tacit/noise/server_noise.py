"""A whole noise, which one server of a federation adds by itself.

Guarantee: what is drawn is independent of everything else and at least as spread as the
event that was paid for: a `Spread` is rounded up, never down. Whoever knows all but one
server's draw still faces that one (docs/proofs/federated.md, Servers).
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.ledger.account.event import Event, Gaussian, Laplace, Skellam
from tacit.noise.bits import Bits
from tacit.noise.gaussian import discrete_gaussian
from tacit.noise.laplace import discrete_laplace
from tacit.noise.portion import skellam

FINE = 1 << 20
"""Parts of a step in which a standard deviation or a scale is told: whole numbers are the
same in everybody's JSON."""
SERVERS = 2
"""Of a federation, which each add a whole noise where servers add any."""
LawName = Literal["", "gaussian", "laplace", "skellam"]


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
