"""By how much the odds about one unit can grow, said so that it is exactly true.

At (epsilon, delta) delta is *not* the chance that odds grow by more than e^epsilon. With L the
log of how much likelier the release is with the unit than without, the promise says E[(1 -
e^(epsilon - L))+] <= delta. Where L > epsilon + t the bracket is at least 1 - e^-t, so

    P(L > epsilon + t) <= delta / (1 - e^-t)    for every t > 0,

whatever the mechanism, and by Bayes' rule odds grow by a factor of e^L. For t = 0 nothing
follows: Gaussian noise at (1, 1e-6) passes e^1 with a chance of 2e-5. So a chance is chosen
first, `rare`, and t follows from it: 1 - e^-t = delta / rare. At delta = 0 there is no such
chance and t = 0. The page says the same (`odds` in `web/js/model/statement.js`).

That odds fall has the same bound, with the two laws exchanged. It is a bound of its own: that
neither fails has a chance of 1 - rare (1 + e^-(epsilon + t)) at least, not of 1 - rare. So each
is said to hold but for `rare`, never both together.
"""

from __future__ import annotations

from math import exp, inf, log1p

RARE = 1e-4
"""The chance for which a bound of the odds need not hold, unless delta is too large for it. At
the usual delta of 1e-6 the factor is then 1.01 times e^epsilon."""
ABOVE_DELTA = 10.0
"""It is at least so many times delta: then the factor is at most 1.12 times e^epsilon."""
LARGEST = 700.0
"""Exponents above this have no floating-point number."""


def rare(delta: float) -> float:
    """The chance, at most, that odds grow by more than `odds_times`; 0 at delta = 0."""
    return max(RARE, ABOVE_DELTA * delta) if delta > 0 else 0.0


def odds_times(epsilon: float, delta: float) -> float:
    """The factor by which odds grow at most, but for the chance `rare`."""
    if delta <= 0:
        return exp(min(epsilon, LARGEST))
    if rare(delta) >= 1:
        return inf
    return exp(min(epsilon - log1p(-delta / rare(delta)), LARGEST))


def but_for(delta: float) -> str:
    """When the bound of the odds does not hold, in words."""
    return in_chances(rare(delta))


def in_chances(rarely: float) -> str:
    """When a bound does not hold that holds but for this chance."""
    if rarely <= 0:
        return "without exception"
    return f"but for one chance in {1 / rarely:,.0f}"
