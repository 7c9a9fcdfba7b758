"""A calendar of releases on one budget: the matrix mechanism of continual counting, in
integers.

Week t brings sums x_t of the people who are counted then. What is released in week t is

    y_t = sum over s <= t of c_(t-s) x_s + z_t,        z_t discrete Gaussian, all independent,

with whole numbers c_k. What is wanted are the running sums x_1 + .. + x_t; they are estimated
from y_1 .. y_t by floats, which is post-processing. The c_k are those of the square root of the
matrix of running sums, binom(2k, k) / 4^k (Fichtenberger, Henzinger & Upadhyay 2023), times
`GRID` and rounded: rounding costs a little accuracy and no privacy, because the sensitivity is
computed from the rounded numbers.

Guarantee: one person who is counted at most `most` times, at least `gap` weeks apart, each
time with a row of L2 norm at most D, moves (y_1 .. y_T) by at most D `norm`, whatever the
others do and however her rows depend on what was released before (docs/proofs/calendar.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isqrt, sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Failure, SettingError
from tacit.ledger.account.calibrate import gaussian_mu, gaussian_sigma
from tacit.ledger.account.event import Event, Gaussian
from tacit.ledger.account.gaussian import epsilon_at
from tacit.rounds.plan import Budget, Plan

GRID = 1 << 10
"""Steps of the coefficients: rounding moves the noise of an estimate by less than .1 %."""
LONGEST = 1000
"""Releases of one calendar: some years of days."""
FINE = 1 << 30
"""Steps of a square root that is rounded up."""


@dataclass(frozen=True)
class Calendar:
    """How many releases there will be, and how often one person is counted in them."""

    horizon: int
    most: int = 1
    """Times that one person is counted."""
    gap: int = 1
    """Weeks from one time to the next, at least."""

    def __post_init__(self) -> None:
        if not 2 <= self.horizon <= LONGEST:
            raise SettingError(
                f"a horizon of {self.horizon} releases is not between 2 and {LONGEST}",
                remedy="give --horizon the number of releases of the whole calendar",
            )
        if not 1 <= self.most <= self.horizon or self.gap < 1:
            raise SettingError(
                "nobody can be counted so often in so many releases",
                remedy="give --times a number between 1 and the horizon",
            )

    @cached_property
    def coefficients(self) -> tuple[int, ...]:
        """c_0 .. c_(T-1): whole, positive or zero, never rising."""
        numerators = [GRID]
        above, below = 1, 1  # binom(2k, k) / 4^k as a fraction
        for k in range(1, self.horizon):
            above, below = above * (2 * k - 1), below * 2 * k
            numerators.append((2 * GRID * above + below) // (2 * below))
        return tuple(numerators)

    @property
    def squared(self) -> int:
        """The largest squared norm of a sum of `most` columns that are `gap` apart, exactly.

        Columns have no negative number, inner products fall with the place and with the
        distance of two columns, so the first columns, as near as they may be, are the worst.
        """
        c = self.coefficients
        starts = range(0, self.horizon, self.gap)[: self.most]
        return sum(
            sum(c[week - start] for start in starts if start <= week) ** 2
            for week in range(self.horizon)
        )

    @property
    def norm(self) -> float:
        """The root of `squared`, never below it."""
        return (isqrt(self.squared * FINE**2) + 1) / FINE

    @cached_property
    def rows(self) -> NDArray[np.float64]:
        """b_0 .. b_(T-1): running sums are b_0 y_t + b_1 y_(t-1) + .. (the series
        1 / ((1 - q) c(q)))."""
        c = np.array(self.coefficients, np.float64)
        inverse = np.zeros(self.horizon)
        for k in range(self.horizon):
            inverse[k] = (1.0 - c[1 : k + 1] @ inverse[:k][::-1]) / c[0]
        return inverse

    def mixing(self, weeks: int) -> NDArray[np.float64]:
        """C of so many weeks, in floats: what estimates fit."""
        c = np.array(self.coefficients, np.float64)
        lag = np.subtract.outer(np.arange(weeks), np.arange(weeks))
        return np.where(lag >= 0, c[np.maximum(lag, 0)], 0.0)

    def growth(self, week: int) -> float:
        """How many times the noise of one release at the whole budget stands on the running
        sums of this week, 1 being the first."""
        return self.norm * float(np.linalg.norm(self.rows[:week]))

    @property
    def last_growth(self) -> float:
        """That of the last week, for which plans are made."""
        return self.growth(self.horizon)

    def check_week(self, week: int) -> None:
        """Refuse a week that the calendar does not have."""
        if not 1 <= week <= self.horizon:
            raise Failure(f"the calendar has no week {week}")

    def describe(self) -> str:
        """For the statement: what one person is in."""
        times = "once" if self.most == 1 else f"at most {self.most} times"
        return f"each person is counted {times} in all {self.horizon} releases" + (
            f", {self.gap} releases apart or more" if self.gap > 1 else ""
        )


def acts_like(budget: Budget, calendar: Calendar) -> Budget:
    """The budget whose single release has the noise of the calendar's last one: what rules
    that divide a budget go by."""
    mu = gaussian_mu(budget.epsilon, budget.delta) / calendar.last_growth
    return Budget(epsilon_at(mu, budget.delta), budget.delta)


def calendar_events(plan: Plan, budget: Budget, calendar: Calendar) -> dict[str, Event]:
    """One event for each part and the whole calendar, so that all together cost the budget.

    The plan is priced as if it ran once; then every event gets the sensitivity of the
    calendar, at the same mu.
    """
    events: dict[str, Event] = {}
    for name, event in plan.events(budget).items():
        if not isinstance(event, Gaussian) or event.sampled < 1 or event.instead:
            raise SettingError(
                f"the release {name} has no place in a calendar: only Gaussian sums over "
                "everybody have",
                remedy="ask for a positive --delta",
            )
        mu = event.sensitivity / sqrt(event.sigma**2 - 4)
        sensitivity = event.sensitivity * calendar.norm
        events[name] = event.model_copy(
            update={
                "sensitivity": sensitivity,
                "sigma": gaussian_sigma(sensitivity, mu),
                "draws": event.draws * calendar.horizon,
                "steps": event.steps * GRID,
            }
        )
    return events


def mu_of(events: Mapping[str, Event]) -> float:
    """What all of them together cost, for who compares."""
    return sqrt(
        sum(
            event.sensitivity**2 / (event.sigma**2 - 4)
            for event in events.values()
            if isinstance(event, Gaussian)
        )
    )
