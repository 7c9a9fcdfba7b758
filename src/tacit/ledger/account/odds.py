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

from math import exp, inf, log, log1p
from typing import TYPE_CHECKING, Any

from tacit.ledger.account import account
from tacit.ledger.account.cost import Cost, cost
from tacit.ledger.account.rounded import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.ledger.account.event import Event
    from tacit.units import Unit

RARE = 1e-4
"""The chance for which a bound of the odds need not hold, unless delta is too large for it. At
the usual delta of 1e-6 the factor is then 1.01 times e^epsilon."""
ABOVE_DELTA = 10.0
"""It is at least so many times delta: then the factor is at most 1.12 times e^epsilon."""
LARGEST = 700.0
"""Exponents above this have no floating-point number."""
NOTHING_PROVEN = "No theorem limits what an attacker learns."
WHAT = {"rating": "one certain rating was", "value": "one value or another of a certain rating was"}
PRIORS = (0.5, 0.1, 0.01)
"""How likely an attacker thinks it beforehand that the unit is there."""


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


# What an attacker gains from a release about one unit, at most: in chances, in odds and in
# words.


def attacker(events: Iterable[Event], unit: Unit, delta: float | None = None) -> dict[str, Any]:
    """The most anyone can gain who must tell whether one unit was there, from the whole
    trade-off curve of the events. Advantage is hits less false alarms; odds grow at most
    `odds_times`, but for the chance `odds_rare`."""
    total = cost(events, unit)
    advantage = account.delta_of(total, 0.0)
    return {
        "words": in_words(unit, (1 + advantage) / 2) if not total.unbounded else NOTHING_PROVEN,
        "odds_times": None if total.unbounded else odds(total, delta),
        "odds_rare": None if total.unbounded or delta is None else rare(delta),
        "proven": not total.unbounded,
        "advantage": advantage,
        "best_guess": (1 + advantage) / 2,
        "by_prior": [
            {
                "prior": prior,
                "best_guess": right(prior, lambda epsilon: account.delta_of(total, epsilon)),
            }
            for prior in PRIORS
        ],
    }


def odds(total: Cost, delta: float | None) -> float | None:
    """By how much the odds that one unit is there can grow, but for the chance `rare`."""
    if delta is None:
        return None
    return odds_times(account.epsilon_of(total, delta), delta)


def in_words(unit: Unit, guess: float, *, likes: bool = False) -> str:
    """What the best attacker gains, for somebody who is not a specialist. `likes`: people tell
    what they like, and do not rate it."""
    subject = "one person's ratings were" if unit == "user" else WHAT[unit]
    if likes:
        subject = subject.replace("rating", "like")
    return (
        f"Somebody who knows everything else and must say whether {subject} used is right "
        f"{percent(guess)} times in a hundred at most; a coin is right 50 times."
    )


def right(prior: float, delta: Callable[[float], float]) -> float:
    """How often the best guess is right at most, where the unit is there with chance `prior`.

    Guarantee: guess "there" on the event A. With P and Q the laws with and without the unit
    and p <= 1/2 the chance is p P(A) + (1-p) (1 - Q(A)) = 1 - p + p (P(A) - (1-p)/p Q(A)),
    and delta(epsilon) is the largest P(A) - e^epsilon Q(A) over all A: here epsilon is the
    log of the odds. For p > 1/2 the two laws change places, and delta covers both ways. At
    p = 1/2 it is (1 + delta(0))/2, for Gaussian rounds Phi(mu/2).
    """
    less = min(prior, 1 - prior)
    return 1 - less + less * delta(log((1 - less) / less))
