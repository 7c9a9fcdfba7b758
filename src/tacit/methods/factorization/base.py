"""What all factorizations have in common: settings, a rule for sharing the budget, and one
plan.

A private factorization *uses* a first-order model. Its plan is: the rounds of `bias` (level,
weights and effects of the items), rounds that learn factors (`factorization/rounds.py`),
then the choice of how widely people differ, in which factors that do not help people's
left-out ratings are taken out again. Where the budget would not pay for factors, the plan
is that of `bias`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Rows
from tacit.ledger.account.gaussian import epsilon_at
from tacit.methods.base import Form, Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.rounds import (
    Learning,
    learned_values,
    learning_round,
    lifted_values,
    profiles,
    widened,
)
from tacit.methods.factorization.state import FactorState
from tacit.methods.first_order.choice import (
    Grouped,
    baseline_rounds,
    choice_round,
    first_groups,
    first_model,
)
from tacit.methods.first_order.rounds import FirstOrder, is_pure, strength
from tacit.model.person.gaussian import GaussianModel
from tacit.rounds.options import Calibration
from tacit.rounds.people import EVERYONE, Participation
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Block, Round
from tacit.units import Unit

Floats = NDArray[np.float64]
Forms = Mapping[Calibration, type[Form] | str]
"""Who plans under each calibration: see `Method.forms`."""
FACTORS_FROM = 3000.0
"""People times mu: below this the noise of one person drowns all factors, so none are paid
for. This and the next two: docs/results/mf.md, picked on other splits than it shows."""
MOST_SHARE = 0.72
"""Of the budget for factors, at most: as `bayes` shares its budget."""
HALF_AT = 4000.0
"""People times mu at which they get half of that."""
MOST_SIGNAL = 1e9
"""Stands for the signal where there is no noise."""
SWEEPS = 3
"""Releases of the items' sums in the rounds of `bias`: its own default."""
MOST_FACTORS = 15
"""At the unit `user`: people's rows grow with the square of their number."""
RULE_FACTORS = 10
"""The most factors that the rule asks for."""
SIGNAL_EACH = 300.0
"""The rule asks for the root of the signal over this."""
LEAST_FACTORS = 2
"""The fewest factors that the rule asks for."""


class FactorSettings(BaseSettings):
    """What every factorization can be told."""

    factors: int | None = Field(None, ge=1, le=200)
    """Factors of each item; unset, a rule of each calibration chooses."""
    epochs: int | None = Field(None, ge=1, le=1000)
    """Passes or rounds; unset, a rule of each calibration chooses."""


class FactorMethod(Method):
    """A factorization. Its `forms` say what it does under each calibration."""

    Settings: ClassVar[type[BaseSettings]] = FactorSettings
    engines: ClassVar[tuple[str, ...]] = ("threads",)
    units: ClassVar[tuple[Unit, ...]] = ("user",)

    def form(self, calibration: Calibration) -> Form:
        """Devices give sums alone, so over them the twin is `sound` without its noise."""
        if calibration == "none" and self.engine == "federated":
            return super().form("sound")
        return super().form(calibration)


def signal(public: Public) -> float:
    """People times mu: how far what people agree on stands out of the noise of one person.
    Known before any data."""
    return min(public.people * strength(public.budget), MOST_SIGNAL)


@dataclass(frozen=True)
class FactorShares:
    """Of the budget: to the rounds of `bias`, and to each round of factors."""

    first: float
    factors: tuple[float, ...]


def shares(public: Public, rounds: int, start: float = FACTORS_FROM) -> FactorShares:
    """The split over `rounds` rounds of factors.

    A signal below `start` gets no factors, and neither does a pure budget: a whole person's
    row of statistics has no short L1 norm.
    """
    strong = signal(public)
    if strong < start or is_pure(public.budget):
        return FactorShares(1.0, ())
    learned = MOST_SHARE * strong**2 / (strong**2 + HALF_AT**2)
    return FactorShares(1 - learned, (learned / rounds,) * rounds)


def rule_width(public: Public, factors: int | None, rule: int = RULE_FACTORS) -> int:
    """Factors by the size of the signal, unless given: more of them are told from the noise
    by more people and more budget. At most `rule` of them, or `MOST_FACTORS` if given."""
    if factors is not None:
        return min(factors, MOST_FACTORS)
    width = np.round(sqrt(signal(public) / SIGNAL_EACH))
    return int(np.clip(width, LEAST_FACTORS, rule))


def first_rounds(public: Public, share: float) -> tuple[Round, ...]:
    """The rounds of `bias` before its choice, at the budget whose mu^2 is `share` of this
    one's."""
    budget = public.budget
    if budget is not None and share < 1:
        epsilon = epsilon_at(strength(budget) * sqrt(share), budget.delta)
        budget = Budget(epsilon, budget.delta)
    baseline = baseline_rounds(FirstOrder.of(replace(public, budget=budget)), SWEEPS)
    return tuple(
        replace(r, parts=tuple(replace(p, share=share * p.share) for p in r.parts))
        for r in baseline.rounds
    )


def factor_plan(
    public: Public,
    steps: Sequence[Learning],
    name: str,
    story: str,
    takes_part: Participation = EVERYONE,
) -> Plan:
    """The rounds of `bias`, one round for each of `steps`, and the choice.

    A small signal leaves the steps out, and the whole budget goes to the plan of `bias`.
    `name` is what the rounds of factors are called, `story` the sentence about them in the
    statement; `takes_part` says who takes part in them.
    """
    split = shares(public, len(steps))
    # The rounds of `bias` leave a part of their share unspent: that of its choice.
    bias_rounds = first_rounds(public, split.first)
    spent = sum(part.share for round_ in bias_rounds for part in round_.parts)
    first_order = FirstOrder.of(public)
    share_text = (
        f"{100 * split.first:.0f} % of the budget go to the rounds of `bias`: level, "
        "weights, effects, choice."
    )
    if not split.factors:
        none = (
            "So few people or so little budget would not pay for factors: the plan is that of bias."
        )
        choice = choice_round(first_order, split.first - spent)
        return Plan(public.unit, (*bias_rounds, choice), (share_text, none))
    learned = [
        learning_round(
            public,
            learning,
            f"{name} {k}",
            share,
            first=k == 1,
            last=k == len(steps),
            takes_part=takes_part,
        )
        for k, (learning, share) in enumerate(zip(steps, split.factors, strict=True), 1)
    ]
    choice = _choice(first_order, split.first - spent, steps[-1])
    return Plan(public.unit, (*bias_rounds, *learned, choice), (share_text, story))


def _choice(first_order: FirstOrder, share: float, learning: Learning) -> Round:
    """The choice of `bias` with the factors as one more group of columns.

    People err on their left-out ratings with and without factors; what having rated says
    (SVD++) is taken as known, and subtracted from the ratings first.
    """
    groups = _with_factors(first_groups(first_order), learning.width)
    round_ = choice_round(first_order, share, groups, lambda state: _model(first_order, state))
    if not (learning.implicit or learning.scalar):
        return round_

    def contribute(block: Block, state: FactorState) -> Mapping[str, Rows]:
        if learning.implicit:
            item_profiles = profiles(state, first_order.features)
            implicit = widened(state.implicit, item_profiles.settled)
            offsets = learned_values(block, item_profiles.matrix, implicit)
        else:
            offsets = lifted_values(block, state.factors)
        return round_.contribute(replace(block, value=block.value - offsets), state)

    return replace(round_, contribute=contribute)


def _model(first_order: FirstOrder, state: FactorState) -> Grouped:
    """The personal model of `bias`, with the factors beside its loadings."""
    grouped = first_model(first_order, state)
    # What is unknown of an item's factors is noise on its ratings, as that of its effect is.
    matrix = np.hstack([grouped.model.loadings, state.factors])
    model = GaussianModel(
        grouped.model.baseline, grouped.model.variance + state.doubt, np.ascontiguousarray(matrix)
    )
    return Grouped(model, _with_factors(grouped.groups, state.factors.shape[1]))


def _with_factors(groups: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """All factors are one group: they are believed together or not at all."""
    return np.concatenate([groups, np.full(width, groups.max() + 1)])
