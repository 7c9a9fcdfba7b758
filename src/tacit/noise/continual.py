"""The noise of a calendar: one release a week from an event that was paid once for all weeks.

Guarantee: of each part, each week is noised once in a run (`Weeks`); who calls stores what
was drawn before anything is made of it, and asks no more for a week that is stored. So over
all runs a week is released once (`tacit.fitting.refresh`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure
from tacit.ledger.account.event import Event, Gaussian
from tacit.noise import bits
from tacit.noise.release import draw_noise
from tacit.rounds.calendar import Calendar

Whole = NDArray[np.int64]
ROOM = 1 << 62
"""Sums and their noise stay below it."""
NOISE_ROOM = 1 << 52
"""For the noise alone: far more than its largest standard deviation."""


class Weeks:
    """The events of a calendar that stand in a book, for one week of it."""

    def __init__(self, events: Mapping[str, Event], calendar: Calendar, week: int) -> None:
        calendar.check_week(week)
        self.calendar = calendar
        self.week = week
        self._events = events
        self._open = set(events)

    def event(self, name: str) -> Gaussian:
        """What was paid for a part."""
        event = self._events.get(name)
        if not isinstance(event, Gaussian):
            raise Failure(f"the release {name} was not reserved in the ledger")
        return event

    def noised(self, name: str, sums: Sequence[Whole]) -> Whole:
        """y of this week from the exact sums of all weeks so far, this one last."""
        event = self.event(name)
        if name not in self._open:
            raise Failure(f"the release {name} was already drawn this week")
        if len(sums) != self.week:
            raise Failure(f"the release {name} lacks the sums of some weeks")
        if sums[-1].size * self.calendar.horizon != event.draws:
            raise Failure(
                f"the release {name} has {sums[-1].size} numbers a week, but other "
                "numbers were paid for"
            )
        self._open.remove(name)
        noise = draw_noise(event, sums[-1].shape).steps
        return mixed(sums, self.calendar) + noise

    def estimate(self, name: str, noisy: Sequence[Whole]) -> tuple[NDArray[np.float64], float]:
        """The running sums in steps of the part, from all that was released so far, and the
        standard deviation of the noise on them: post-processing."""
        rows = self.calendar.rows[: len(noisy)][::-1]
        estimate = np.zeros(noisy[-1].shape)
        for weight, sums in zip(rows, noisy, strict=True):
            estimate += weight * sums
        return estimate, self.event(name).sigma * float(np.linalg.norm(rows))

    @property
    def private(self) -> bool:
        """Whether the bits were secret."""
        return not bits.injected()


def mixed(sums: Sequence[Whole], calendar: Calendar) -> Whole:
    """What the noise of the last of these weeks is added to: exact, or refused."""
    weights = calendar.coefficients[: len(sums)][::-1]
    largest = sum(
        weight * int(np.abs(week).max(initial=0))
        for weight, week in zip(weights, sums, strict=True)
    )
    if largest + NOISE_ROOM >= ROOM:
        raise Failure("the sums of a calendar are too large for its grid")
    total = np.zeros(sums[-1].shape, np.int64)
    for weight, week in zip(weights, sums, strict=True):
        total += weight * week
    return total
