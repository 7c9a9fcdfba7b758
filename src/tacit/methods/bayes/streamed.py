"""`bayes` on a calendar: first-order statistics, and the covariance of factors of public features.

Without covariance, sweeps and implicit feedback: all of them query people again with what was
learned from everybody, and a person's rows are computed once. Their share goes to the items' sums.

Moments are summed over all columns of a person's factors, not over the axes that ratings show best:
which those are is known only from what is released, and may change from week to week. A person's
matrix is clipped as a whole by a norm that no rotation changes, so turning the released sum to any
axes afterwards is free and leaves its noise as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from tacit.methods.base import Public
from tacit.methods.bayes.bayes import Bayes
from tacit.methods.bayes.plan import BudgetSplit, split
from tacit.methods.bayes.rounds import SecondOrder, moment_round
from tacit.methods.first_order.choice import (
    Grouped,
    choice_round,
    first_groups,
    first_model,
    published,
)
from tacit.methods.first_order.rounds import Floats, StreamedFirst, StreamedOrder, strength
from tacit.methods.streamed import COUNT_SHARE, COUNTED, ONCE, count_round, steadily
from tacit.model.person.gaussian import GaussianModel
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Released, Round
from tacit.rounds.state import NOT_YET, State

MOST_COLUMNS = 60
"""Limit on columns of factors in moments: their numbers grow with the square."""


@dataclass(frozen=True)
class StreamedSecond(SecondOrder):
    """Second-order rounds on a calendar: moments as running sums."""

    def running_moments(self, share: float, columns: int, directions: int) -> Round:
        """The sum of people's E[tt'] - I over all `columns`, each person's under the model
        that was public in her week, before any moments."""

        def view(state: AnyState) -> tuple[GaussianModel, Floats]:
            return first_model(self.first, state).model, np.eye(columns)

        def absorb(state: AnyState, released: Mapping[str, Released]) -> AnyState:
            noisy = released["moments"]
            state = replace(state, tastes=NOT_YET)
            axes = self.axes(state, directions)
            turned = turned_moments(noisy.value[0], axes.vectors)
            return self.retasted(state, axes, turned, noisy.sd)

        return moment_round(share, columns, view, absorb)

    def grouped(self, state: AnyState) -> Grouped:
        """The personal model in the groups of the choice.

        On a calendar no scales are chosen before moments, so item factors may be widened after
        them."""
        model = self.last_model(state)
        groups = self.groups(model.loadings.shape[1])
        return Grouped(model, groups, together=self.separates_features)


def turned_moments(packed: Floats, axes: Floats) -> Floats:
    """A packed symmetric matrix (entries beside the diagonal times sqrt 2) seen along some
    axes, packed again."""
    columns, directions = axes.shape
    rows = np.triu_indices(columns)
    matrix = np.zeros((columns, columns))
    matrix[rows] = packed / np.where(rows[0] == rows[1], 1.0, sqrt(2.0))
    matrix = matrix + np.triu(matrix, 1).T
    rotated = axes.T @ matrix @ axes
    along = np.triu_indices(directions)
    result: Floats = rotated[along] * np.where(along[0] == along[1], 1.0, sqrt(2.0))
    return result


class StreamedBayes(Bayes):
    """First-order statistics and moments, as running sums."""

    def plan(self, public: Public) -> Plan:
        """Count, global mean, popularity, item biases; moments where they pay; scales."""
        first_order = StreamedOrder.of(public)
        second = StreamedSecond(first_order)
        mu = strength(public.budget)
        columns = len(first_groups(first_order))
        shares = _shares(public, mu, columns)
        sums = shares.effects[0]
        rounds = [
            steadily(first_order.people(shares.level)),
            steadily(first_order.weights(shares.weights)),
            first_order.running_item_biases(sums, 1 / (mu * sqrt(sums))),
        ]
        user_factors = shares.second
        if user_factors.moments:
            moments = second.running_moments(
                user_factors.moments, columns, user_factors.moment_axes
            )
            rounds.append(steadily(moments))
        choice = choice_round(first_order, shares.choice, second.groups(columns), second.grouped)
        plan = Plan(public.unit, (*rounds, steadily(choice)))
        return Plan(
            public.unit,
            plan.after(count_round(public.people), COUNT_SHARE).rounds,
            (COUNTED, *shares.story(), ONCE),
        )

    def first_state(self, public: Public) -> State:
        """Empty: nothing is released yet."""
        return StreamedFirst()

    def finish(self, public: Public, state: AnyState) -> Shared:
        """The personal Gaussian model of what was released."""
        first_order = StreamedOrder.of(public)
        model = StreamedSecond(first_order).last_model(state)
        return published(self, first_order, state, model)


def _shares(public: Public, mu: float, columns: int) -> BudgetSplit:
    """Those of `bayes`, with all that is left out in one release of sums."""
    shares = split(public.unit, public.people, mu, public.items, columns, pure=False)
    moments = shares.second.moments if columns <= MOST_COLUMNS else 0.0
    freed = shares.second.total_share - moments
    second = replace(
        shares.second,
        widths=0.0,
        moments=moments,
        covariance=0.0,
        rows=0,
        sweeps=(),
        axes=0,
        implied=0.0,
        leanings=0,
    )
    return replace(shares, effects=(sum(shares.effects) + freed,), second=second)
