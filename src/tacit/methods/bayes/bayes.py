"""Bayes: the flagship for ratings. The items' side by empirical Bayes, a personal Gaussian
model on each person's side.

After the first-order rounds of `bias` it learns second-order structure: how tastes vary
between people (moments), which items are liked together (covariance), and how each item
answers to tastes (sweeps). Which of these a plan has, and their shares, follow by rule from
people x budget, the unit, and whether the items have features: `bayes_plan`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.baselines.bias import Bias, strength
from tacit.methods.bayes.plan import split
from tacit.methods.bayes.rounds import SecondOrder
from tacit.methods.first_order.rounds import FirstOrder, public_design
from tacit.methods.first_order.started import first_rounds
from tacit.methods.first_order.started import story as started
from tacit.model.person.gaussian import GaussianModel
from tacit.rounds.plan import Plan
from tacit.rounds.round import Round
from tacit.rounds.state import State


class Settings(BaseSettings):
    pass


class Bayes(Bias):
    """Item effects, learned tastes and personal levels: the most accurate at every budget."""

    name = "bayes"
    source = "Tacit: empirical-Bayes item side, personal Gaussian model"
    engines = ("threads", "federated")
    Settings: ClassVar[type[BaseSettings]] = Settings

    def plan(self, public: Public) -> Plan:
        mu = strength(public.budget)
        features = public_design(public)
        pure = public.budget is not None and public.budget.delta == 0
        first = FirstOrder(public, features, pure)
        second = SecondOrder(first)
        columns = 2 + (features.width if features is not None else 0)
        shares = split(
            public.unit, public.schema.users, mu, public.items, columns, pure
        )
        rounds = first_rounds(first, shares.level, shares.weights, tastes=True)
        for i, share in enumerate(shares.effects, 1):
            rounds.append(first.effects(f"effects {i}", share, 1 / (mu * sqrt(share))))
        tastes = shares.second
        if tastes.moments:
            rounds.append(second.moments(tastes.moments, tastes.moment_axes))
        if tastes.covariance:
            rounds += self._covariance(second, tastes.covariance, tastes.rows, mu)
        for i, share in enumerate(tastes.sweeps, 1):
            rounds.append(
                second.sweep(f"sweep {i}", share, tastes.axes, 1 / (mu * sqrt(share)))
            )
        rounds.append(self.choice(first, shares.choice))
        return Plan(public.unit, tuple(rounds), shares.story() + started(public))

    def _covariance(
        self, second: SecondOrder, share: float, rows: int, mu: float
    ) -> list[Round]:
        """The covariance; or, where released weights say that it would drown, one more
        release of item sums."""
        spread = 1 / (mu * sqrt(share))
        other = second.first.effects("effects instead", share, spread)
        chosen = partial(second.no_likings, share_sd=spread, rows=rows)
        return [
            second.covariance(share, rows),
            replace(other, instead="covariance", chosen=chosen),
        ]

    def _loadings(
        self, first: FirstOrder, state: State | None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        if state is None or "loadings" not in state:
            made, _ = super()._loadings(first, state)
        else:
            made = state["loadings"]
        return made, np.minimum(
            np.arange(made.shape[1]), 1
        )  # the level, and all tastes together

    def _model(
        self, first: FirstOrder, state: State
    ) -> tuple[GaussianModel, NDArray[np.int64]]:
        model = SecondOrder(first).model(state)
        return model, self._loadings(first, state)[1]
