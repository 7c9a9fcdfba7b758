"""One trial of a tuning: a private fit and a private score, both within one bound.

The budget of all trials together is turned into the bound of one (`Tuning`), and that one is
split between fit and score. Guarantee: `Trials.check` refuses a candidate whose events cost
more than the bound, before anything is charged, and every trial asks it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

from tacit.errors import Failure, SettingError
from tacit.ledger.account.calibrate import tuning_rho
from tacit.ledger.account.cost import Tuned, concentrated, cost
from tacit.ledger.account.event import Event, TuningEvent
from tacit.ledger.account.gaussian import epsilon_at
from tacit.rounds.plan import Budget
from tacit.units import Unit

if TYPE_CHECKING:
    from tacit.evaluation.grid import Contestant

NAME = "tune/trials"
LAWS = {"geometric": Fraction(1), "logarithmic": Fraction(0)}
"""eta of each law of the number of trials."""
SCORE_SHARE = 0.2
"""Of a trial's bound: its score. With a fifth the score tells .02 of RMSE apart among 6,000
people at a total of epsilon 1, and the fit loses a tenth of its mu (docs/tune.md)."""
LEAST_TRIALS = 1.0001
"""Below this, gamma as a fraction of short integers would be 1, and no law has that."""
MOST_TRIALS = 10_000
TIMES = 3
"""Expected trials for each candidate, unless said: one of them is then missed in a quarter of
all runs."""
_ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Trials:
    """The law of the number of trials, and what each may cost."""

    event: TuningEvent
    delta: float
    unit: Unit

    @property
    def fit(self) -> Budget:
        """What a trial's fit may cost."""
        return self._part(1 - SCORE_SHARE)

    @property
    def score(self) -> Budget:
        """What a trial's score may cost."""
        return self._part(SCORE_SHARE)

    def _part(self, share: float) -> Budget:
        if self.event.epsilon is not None:
            return Budget(share * self.event.epsilon / _ROUNDING, 0.0)
        assert self.event.rho is not None
        mu = sqrt(2 * share * self.event.rho)
        return Budget(epsilon_at(mu, self.delta), self.delta)

    def check(self, candidate: Contestant, fit: Iterable[Event], score: Iterable[Event]) -> None:
        """Refuse what this bound does not cover."""
        price = cost(fit, self.unit) + cost(score, self.unit)
        if self.event.epsilon is not None:
            impure = price.mu2 or price.sampled or price.by_orders
            if impure or price.unbounded:
                raise SettingError(f"{candidate.words} has no pure plan")
            if price.pure_epsilon > self.event.epsilon * _ROUNDING:
                raise Failure(f"{candidate.words} costs more than one trial may")
            return
        rho = concentrated(price)
        if rho is None:
            raise SettingError(
                f"{candidate.method} draws people by a coin or adds noise in shares: no one "
                "bound covers its trials",
                remedy="leave --users out, where it tosses no coin, or leave the method out",
            )
        assert self.event.rho is not None
        if rho > self.event.rho * _ROUNDING:
            raise Failure(f"{candidate.words} costs more than one trial may")


def trials_of(budget: Budget, unit: Unit, law: str, expected: float, candidates: int) -> Trials:
    """The largest bound of a trial for which all of them together cost the budget."""
    if law not in LAWS:
        raise SettingError(f"the law {law!r} is unknown", remedy=f"use {' or '.join(LAWS)}")
    if not LEAST_TRIALS <= expected <= MOST_TRIALS:
        raise SettingError(
            f"{expected:.9g} trials are expected; it must be at least {LEAST_TRIALS} and at "
            f"most {MOST_TRIALS:,}",
            remedy=f"leave --trials out for {TIMES} a candidate",
        )
    eta = LAWS[law]
    gamma = gamma_of(eta, expected)
    shared_fields: dict[str, Any] = {
        "name": NAME,
        "eta": eta.as_integer_ratio(),
        "gamma": gamma.as_integer_ratio(),
        "candidates": candidates,
    }
    if budget.delta == 0:
        trial_epsilon = budget.epsilon / float(2 + eta) / _ROUNDING
        return Trials(TuningEvent(**shared_fields, epsilon=trial_epsilon), 0.0, unit)
    rho = tuning_rho(budget.epsilon, budget.delta, float(eta), float(gamma))
    return Trials(TuningEvent(**shared_fields, rho=rho), budget.delta, unit)


def gamma_of(eta: Fraction, expected: float) -> Fraction:
    """About the gamma with so many trials in the mean; what it really gives is what is
    accounted for."""
    if eta == 1:
        return 1 / Fraction(expected).limit_denominator(10_000)
    low, high = 1e-12, 1 - 1e-9
    for _ in range(200):
        middle = sqrt(low * high)
        too_many = Tuned(1.0, float(eta), middle).expected > expected
        low, high = (middle, high) if too_many else (low, middle)
    return Fraction(high).limit_denominator(10_000_000)
