"""From an exact integer sum to a release: paid for first, then noised from the very event
that was paid."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.ledger.account.event import Event, Selection, TuningEvent
from tacit.noise import bits
from tacit.noise.law import Law, law_of
from tacit.rounds.round import Released


class Charge:
    """Events that a ledger has reserved, each of which may be drawn once.

    Guarantee: noise is drawn only from an event that stands in a durable reservation, and
    from each only once, so a release can neither be cheaper than its entry nor happen
    without one.
    """

    def __init__(self, events: Iterable[Event], *, entry: str = "") -> None:
        self._open = {event.name: event for event in events}
        self._replaced = {event.instead for event in self._open.values()} - {None}
        self.entry = entry
        """Hash of the ledger entry; empty for an owner-only evaluation, which publishes nothing."""

    def draw(self, name: str) -> Event | None:
        """The event of a release, once; None where noise is off."""
        event = self._open.pop(name, None)
        if event is None:
            raise Failure(
                f"the release {name} was not reserved in the ledger, or was already drawn"
            )
        if event.instead is not None and self._open.pop(event.instead, None) is None:
            raise Failure(
                f"the release {name} stands instead of {event.instead}, which was already drawn"
            )
        slot = event.instead or name
        # A plan may have 10,000 rounds: look through the rest only where it matters.
        if slot in self._replaced:
            rivals = [e.name for e in self._open.values() if e.instead == slot]
            for rival in rivals:
                del self._open[rival]
        return event


class NoNoise(Charge):
    """Releases exact sums, for non-private twins and tests that compare sums; everything it
    releases is marked NOT PRIVATE."""

    def __init__(self) -> None:
        super().__init__(())

    def draw(self, name: str) -> Event | None:
        """None: nothing is drawn and nothing is paid."""
        return None


def release(name: str, sums: NDArray[np.int64], steps: int, charge: Charge) -> Released:
    """Noise a finished integer array of the part `name` and leave the grid."""
    event = charge.draw(name)
    if event is None:
        return Released(sums / steps, 0.0, private=False)
    if isinstance(event, Selection):
        from tacit.noise.selection import permute_and_flip

        index = permute_and_flip(sums.ravel(), event.sensitivity, event.epsilon)
        return Released(np.array([[float(index)]]), 0.0, private=not bits.injected())
    law = law_of(event)
    _check_numbers(name, law, sums.size)
    noise, sd = draw_law(law, sums.shape)
    return Released((sums + noise) / steps, sd / steps, private=not bits.injected())


def draw_trials(name: str, charge: Charge) -> tuple[int, ...]:
    """Which candidate each trial of a paid selection takes: as many as its law draws, each
    uniform. How many there are is secret, as noise is."""
    from tacit.noise.selection import trials

    event = charge.draw(name)
    if not isinstance(event, TuningEvent):
        raise Failure(f"the release {name} is no selection among trials")
    secret = bits.fresh()
    number = trials(Fraction(*event.eta), Fraction(*event.gamma), secret)
    return tuple(secret.below(event.candidates) for _ in range(number))


class GramRelease:
    """Noise for a symmetric matrix, band by band: one event, each number of the upper
    triangle noised once."""

    def __init__(self, name: str, size: int, diagonal: bool, steps: int, charge: Charge) -> None:
        self._event = charge.draw(name)
        self._first = 0 if diagonal else 1
        self._steps = steps
        self._done: set[int] = set()
        numbers = size * (size + 1 - 2 * self._first) // 2
        if self._event is not None:
            _check_numbers(name, law_of(self._event), numbers)
        self.private = self._event is not None and not bits.injected()
        self.sd = 0.0
        if self._event is not None:
            self.sd = draw_noise(self._event, (1,)).sd / steps

    def band(self, first_row: int, sums: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Rows `first_row`.. of the matrix: finished integer sums in, noisy float32 rows out;
        zero below the diagonal."""
        from tacit.noise.kernels import finish_band

        band_rows = set(range(first_row, first_row + len(sums)))
        if band_rows & self._done:
            raise Failure("a row of a matrix was about to be noised twice")
        self._done |= band_rows
        rows, size = sums.shape
        starts = first_row + self._first + np.arange(rows)
        count = int(np.maximum(size - starts, 0).sum())
        noise = (
            np.zeros(0, np.int64)
            if self._event is None
            else draw_noise(self._event, (count,)).steps
        )
        finish_band(sums, noise, first_row + self._first, self._steps, out)


def _check_numbers(name: str, law: Law, numbers: int) -> None:
    if law.numbers != numbers:
        raise Failure(f"the release {name} has {numbers} numbers, but {law.numbers} were paid for")


class Noise(NamedTuple):
    """Integers in steps, and the standard deviation of each."""

    steps: NDArray[np.int64]
    sd: float


def draw_noise(event: Event, shape: tuple[int, ...]) -> Noise:
    """The noise of an event for an array of this shape."""
    return draw_law(law_of(event), shape)


def draw_law(law: Law, shape: tuple[int, ...]) -> Noise:
    """Noise of this law for an array of this shape. Rows of K-norm noise are those of the
    last axis."""
    from tacit.noise.gaussian import discrete_gaussian
    from tacit.noise.knorm import knorm
    from tacit.noise.laplace import discrete_laplace

    size = int(np.prod(shape))
    scale = law.spread
    if law.name == "none":  # printed without any
        return Noise(np.zeros(shape, np.int64), 0.0)
    if law.name == "gaussian":
        return Noise(discrete_gaussian(size, scale).reshape(shape), scale)
    if law.name == "laplace":
        return Noise(discrete_laplace(size, scale).reshape(shape), scale * sqrt(2))
    if law.name == "knorm":
        width = shape[-1]
        draws = knorm(size // width, width, scale).reshape(shape)
        return Noise(draws, scale * sqrt(width + 1))
    raise Failure(f"no noise is defined for the law {law.name!r}")
