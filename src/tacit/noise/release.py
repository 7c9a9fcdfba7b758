"""From an exact integer sum to a release: paid for first, then noised from the very event that was paid."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, expm1, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.ledger.event import Event, Gaussian, KNorm, Laplace, Selection, Unbounded
from tacit.noise import bits
from tacit.round import Released


class Charge:
    """Events that a ledger has reserved, each of which may be drawn once.

    Guarantee: noise is drawn only from an event that stands in a durable reservation, and from each only once, so a
    release can neither be cheaper than its entry nor happen without one.
    """

    def __init__(self, events: Iterable[Event], *, entry: str = "") -> None:
        self._open = {event.name: event for event in events}
        self.entry = entry
        """Hash of the ledger entry; empty for an owner-only evaluation, which publishes nothing."""

    def draw(self, name: str) -> Event | None:
        event = self._open.pop(name, None)
        if event is None:
            raise Failure(f"the release {name} was not reserved in the ledger, or was already drawn")
        return event


class NoNoise(Charge):
    """For the non-private twin and for tests that compare sums: what is released says NOT PRIVATE."""

    def __init__(self) -> None:
        super().__init__(())

    def draw(self, name: str) -> Event | None:
        return None


def release(name: str, sums: NDArray[np.int64], steps: int, charge: Charge) -> Released:
    """Noise a finished integer array of the part `name` and leave the grid."""
    event = charge.draw(name)
    if event is None:
        return Released(sums / steps, 0.0, private=False)
    if isinstance(event, Selection):
        from tacit.noise.selection import permute_and_flip

        chosen = permute_and_flip(sums.ravel(), event.sensitivity, event.epsilon)
        return Released(np.array([[float(chosen)]]), 0.0, private=not bits.injected())
    if getattr(event, "draws", sums.size) != sums.size:
        raise Failure(f"the release {name} has {sums.size} numbers, but {getattr(event, 'draws', 0)} were paid for")
    noise, sd = draw_noise(event, sums.shape)
    return Released((sums + noise) / steps, sd / steps, private=not bits.injected())


def report(name: str, values: NDArray[np.float64], charge: Charge) -> tuple[NDArray[np.float64], float]:
    """One randomized bit for each value in [-1, 1], made unbiased; and the standard deviation of each."""
    event = charge.draw(name)
    clipped = np.clip(np.nan_to_num(values), -1, 1)
    if event is None:
        return clipped, 0.0
    from tacit.noise.device import respond, unbiased

    factor = unbiased(event)
    return respond(event, clipped) * factor, factor


def tape(name: str, charge: Charge, draws: int) -> NDArray[np.float64]:
    """Real-valued draws for a sequential epoch, as a paper prints them; booked as unbounded. In steps."""
    event = charge.draw(name)
    if event is None:
        return np.zeros(draws)
    if not isinstance(event, Unbounded):
        raise Failure(f"the event of {name} certifies a tape, which nothing can")
    return draw_noise(event, (draws,))[0].astype(np.float64)


def draw_noise(event: Event, shape: tuple[int, ...]) -> tuple[NDArray[np.int64], float]:
    """Noise in steps with its standard deviation per number."""
    from tacit.noise.gaussian import discrete_gaussian
    from tacit.noise.knorm import knorm
    from tacit.noise.laplace import discrete_laplace

    size = int(np.prod(shape))
    kind = event.noise if isinstance(event, Unbounded) else event.kind
    if kind == "none":
        return np.zeros(shape, np.int64), 0.0
    if isinstance(event, Gaussian):
        scale = event.sigma
    elif isinstance(event, Laplace | KNorm | Unbounded):
        scale = event.scale
    else:
        raise Failure(f"no noise is defined for the event {event.name}")
    if kind == "gaussian":
        return discrete_gaussian(size, scale).reshape(shape), scale
    if kind == "laplace":
        return discrete_laplace(size, scale).reshape(shape), scale * sqrt(2)
    width = shape[-1]
    return knorm(size // width, width, scale).reshape(shape), scale * sqrt(width + 1)
