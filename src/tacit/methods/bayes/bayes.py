"""Bayes: the flagship for ratings. The items' side by empirical Bayes, a personal Gaussian
model on each person's side.

After the first-order rounds it learns second-order structure: the variance of user factors (scales
of each kind of feature, then moments), which items are liked together (covariance), and item
factors from errors (sweeps). Which of these a plan has, and their shares, follow by rule from
people x budget, the unit, and whether the items have features: `tacit.methods.bayes.plan`. Why each
release is bounded: docs/proofs/bayes.md.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import sqrt
from typing import ClassVar

from tacit.methods.base import Form, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.bayes.implicit import implicit_rounds, with_implicit
from tacit.methods.bayes.plan import Second, split
from tacit.methods.bayes.rounds import BayesState, CovarianceRound, SecondOrder, Sweeps
from tacit.methods.first_order.choice import (
    FirstForms,
    Forms,
    choice_round,
    first_groups,
    published,
)
from tacit.methods.first_order.rounds import FirstOrder, strength
from tacit.methods.first_order.started import first_rounds
from tacit.methods.first_order.started import story as started
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Round
from tacit.rounds.state import NOT_YET, State


class BayesSettings(BaseSettings):
    """`bayes` has none: rules choose everything."""


class SoundBayes(Form):
    """The sound form: everything from released sums."""

    def plan(self, public: Public) -> Plan:
        """First-order rounds; the second-order ones that pay; how widely people differ."""
        first_order = FirstOrder.of(public)
        mu = strength(public.budget)
        known_columns = len(first_groups(first_order))
        shares = split(
            public.unit,
            public.people,
            mu,
            public.items,
            known_columns,
            first_order.pure,
            public.start is not None,
        )
        first_order = replace(first_order, rare=bool(shares.second.sweeps))
        second = SecondOrder(first_order)
        rounds = [
            *first_rounds(first_order, shares.level, shares.weights, user_factors=True),
            *(
                first_order.effects(f"effects {i}", share, 1 / (mu * sqrt(share)))
                for i, share in enumerate(shares.effects, 1)
            ),
            *_second_rounds(second, shares.second, mu),
            choice_round(first_order, shares.choice, second.groups(known_columns), second.grouped),
        ]
        return Plan(public.unit, tuple(rounds), shares.story() + started(public))

    def first_state(self, public: Public) -> State:
        """Empty: nothing is released yet."""
        return BayesState()

    def finish(self, public: Public, state: BayesState) -> Shared:
        """The personal Gaussian model of what was released."""
        first_order = FirstOrder.of(public)
        second = SecondOrder(first_order)
        model = second.last_model(state)
        shared = published(self.method, first_order, state, model)
        if state.implied is NOT_YET:
            return shared
        return with_implicit(shared, second, state)


class Bayes(FirstForms):
    """Item effects, learned tastes and personal levels: the default for ratings."""

    name = "bayes"
    source = "Tacit: empirical-Bayes item side, personal Gaussian model"
    engines = ("threads", "spark", "federated")
    better_list = (
        "`bayes` is for predicting ratings. As a list, what it suggests is for now worse than the "
        "most popular items (MovieLens 1M with genres, epsilon 1: recall@20 0.14 against 0.17). "
        "For lists use --method ease --positive 4 (0.23 there), with the least rating that you "
        "call a like in place of 4"
    )
    Settings: ClassVar[type[BaseSettings]] = BayesSettings
    forms: ClassVar[Forms] = {"sound": SoundBayes, "none": "tacit.methods.bayes.twin:BayesTwin"}


def _second_rounds(second: SecondOrder, shares: Second, mu: float) -> list[Round]:
    """The rounds that learn user and item factors, as far as the split pays for them."""
    rounds = list[Round]()
    if shares.widths:
        rounds.append(second.widths(shares.widths))
    if shares.moments:
        rounds.append(second.moments(shares.moments, shares.moment_axes))
    if shares.covariance:
        rounds += _covariance(second, shares, mu)
    sweeps = Sweeps(second, shares.axes, shares.carriers)
    for i, share in enumerate(shares.sweeps, 1):
        rounds.append(sweeps.sweep(f"sweep {i}", share, 1 / (mu * sqrt(share))))
    if shares.implied:
        rounds += implicit_rounds(second, shares.implied, shares.leanings)
    return rounds


def _covariance(second: SecondOrder, shares: Second, mu: float) -> list[Round]:
    """The covariance round; or, where released popularity predicts that noise would drown it, one
    more release of item sums."""
    covariance_factors = CovarianceRound(second, shares.rows)
    spread = 1 / (mu * sqrt(shares.covariance))
    alternative = second.first.effects("effects instead", shares.covariance, spread)
    drowns = partial(covariance_factors.drown, share_sd=spread)
    return [
        covariance_factors.covariance(shares.covariance),
        replace(alternative, instead="covariance", chosen=drowns),
    ]
