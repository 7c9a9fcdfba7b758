"""How `bayes` divides its budget: a rule from people x mu, the unit and the features, the
same for all data.

A stage gets a share only where it can pay: its signal grows with people x mu (`reach`), its
noise does not. Constants were set on other splits of ML-1M than are reported; the rule is
the same for every data set. A stage that does not pay on some data shrinks itself to
nothing, and costs its share.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from tacit.ledger.account.event import Unit
from tacit.methods.first_order.rule import level_share

UNKNOWN_PEOPLE = 5_000
"""Assumed for the split alone where the number of people is not declared."""
MOST_AXES = 20
MOST_ROWS = 4_000


@dataclass(frozen=True)
class Second:
    """Shares of the stages that learn tastes, and their public sizes."""

    moments: float = 0.0
    moment_axes: int = 0
    covariance: float = 0.0
    rows: int = 0
    sweeps: tuple[float, ...] = ()
    axes: int = 0

    @property
    def taken(self) -> float:
        return self.moments + self.covariance + sum(self.sweeps)


@dataclass(frozen=True)
class Split:
    """Shares of the budget; they add up to 1."""

    reach: float
    level: float
    weights: float
    effects: tuple[float, ...]
    choice: float
    second: Second

    def story(self) -> tuple[str, ...]:
        """Sentences for `tacit plan`."""

        def percent(share: float) -> str:
            return f"{100 * share:.0f} %"

        reach = (
            "If the whole budget bought one sum, all people together would stand out "
            f"{self.reach:.0f} times over its "
            "noise: by this number the stages are chosen."
        )
        first = (
            f"The level of all ratings takes {percent(self.level)} of the budget, item "
            f"weights {percent(self.weights)}"
            f", {len(self.effects)} releases of item sums {percent(sum(self.effects))}."
        )
        told = [
            reach if self.reach < inf else "Nothing is noised, so every stage is used.",
            first,
        ]
        second = self.second
        if second.moments:
            told.append(
                f"How tastes for public features vary takes {percent(second.moments)}."
            )
        if second.covariance:
            told.append(
                f"Which of {second.rows} items are liked together takes "
                f"{percent(second.covariance)}. Where released "
                "weights say that this would drown in noise, item sums take its place at "
                "the same share: one of the "
                "two is made, never both."
            )
        if second.sweeps:
            told.append(
                f"{len(second.sweeps)} sweeps learn how items answer to {second.axes} "
                "axes of taste: "
                f"{percent(sum(second.sweeps))}."
            )
        if not second.covariance and not second.sweeps:
            told.append(
                "So few people or so little budget would not pay for learned tastes."
            )
        told.append(
            f"The choice of how widely people differ takes {percent(self.choice)}."
        )
        return tuple(told)


def split(
    unit: Unit, users: int | None, mu: float, items: int, columns: int, pure: bool
) -> Split:
    """The rule. `columns` counts the loadings that are known before anything is released."""
    reach = (users or UNKNOWN_PEOPLE) * mu
    level = level_share(users, mu)
    rest = 1 - level
    choice = 0.04 * rest
    second = Second()
    if not pure:
        second = (
            _user(reach, rest, items, columns)
            if unit == "user"
            else _rating(reach, rest, items)
        )
    left = rest - choice - second.taken
    weights = max(0.22 * left, min(0.5 * left, 0.12))
    effects = 3 if reach < 4000 else 2
    return Split(
        reach, level, weights, ((left - weights) / effects,) * effects, choice, second
    )


def _user(reach: float, rest: float, items: int, columns: int) -> Second:
    featured = columns > 2
    moments, axes = (
        (0.03 * rest, min(columns, MOST_AXES)) if featured and reach > 400 else (0.0, 0)
    )
    if reach < 2000:
        return Second(moments, axes)
    whole = 0.72 * rest * (1.0 if reach == inf else reach**2 / (reach**2 + 4000.0**2))
    covariance = (
        0.0 if featured and reach < 8000 else (0.25 if featured else 0.4) * whole
    )
    rows = _rows(0.1 * reach * sqrt(covariance), items) if covariance else 0
    times = 2 if reach < 4000 else 3
    swept = ((whole - covariance) / times,) * times
    return Second(
        moments,
        axes,
        covariance,
        rows,
        swept,
        int(np.clip(min(reach, 1e5) / 750, 3, 10)),
    )


def _rating(reach: float, rest: float, items: int) -> Second:
    if reach < 200:
        return Second()
    share = 0.7 * rest * (1.0 if reach == inf else reach / (reach + 400.0))
    return Second(covariance=share, rows=_rows(0.3 * reach, items))


def _rows(wanted: float, items: int) -> int:
    """How many items the covariance has; four in five at most, but few items may all be in it."""
    return int(
        np.clip(
            wanted, min(50, items), max(min(0.8 * items, MOST_ROWS), min(items, 300))
        )
    )
