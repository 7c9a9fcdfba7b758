"""First-order statistics on a calendar: level, weights and effects from running sums.

Every week's people subtract the effects that were public in their week, e_s, and weigh their
residuals as it was public then, k_s. The running sums of item i are then

    sum over weeks of k_s W_s (b - e_s)  =  W k (b - e),

where k and e are the means of k_s and e_s over the people of all weeks (e weighted by k_s), as
far as an item's share of the ratings stays the same from week to week. That is one release of
sums, as `Evidence` knows it; what a one-off fit does in sweeps, the weeks do one after the
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.first_order.rounds import KEPT, TINY, FirstOrder
from tacit.methods.first_order.state import FirstState, Floats
from tacit.methods.refine.effects import Evidence
from tacit.rounds.round import AnyState, Released, Round
from tacit.rounds.state import NOT_YET


@dataclass(frozen=True)
class StreamedFirst(FirstState):
    """First-order statistics on a calendar."""

    elapsed: float = 0.0
    """Which part of the calendar is over, this week included."""
    before: float = 0.0
    """People who were counted in earlier weeks, as far as it was released."""
    weighed: Floats = NOT_YET
    """Sum over people so far of what their residuals were multiplied by, item by item."""
    taken: Floats = NOT_YET
    """The same sum times the effects that they had subtracted."""

    @property
    def fresh(self) -> float:
        """About how many people came this week; never nothing, so that means exist."""
        return max(self.people - self.before, TINY)


class StreamedOrder(FirstOrder):
    """The first-order rounds for running sums."""

    @staticmethod
    def of(public: Public) -> StreamedOrder:
        """The rounds that these public facts allow."""
        made = FirstOrder.of(public)
        return StreamedOrder(made.public, made.features, made.pure)

    def effort(
        self, state: FirstState, spread: float
    ) -> tuple[NDArray[np.float64], float]:
        """By the weights that are to be expected at the end of the calendar: effort that is
        right then is worth most."""
        grown = max(self.public.people / state.people, 1.0)
        mean = grown * state.weights.mean
        weights = replace(state.weights, mean=mean)
        return super().effort(replace(state, weights=weights), spread)

    def running_effects(self, share: float, spread: float) -> Round:
        """One round of sums a week; see the module."""
        once = self.effects("effects", share, spread)

        def absorb(
            state: AnyState, released: Mapping[str, Released]
        ) -> AnyState:
            noisy = released["sums"]
            multiplier, clip = self.effort(state, spread)
            each = state.fresh * KEPT * multiplier / clip
            weighed, taken = each, each * self.effect(state)
            if state.weighed is not NOT_YET:
                weighed, taken = state.weighed + weighed, state.taken + taken
            evidence = Evidence.none(self.public.items).add(
                noisy.value[:, 0],
                max(noisy.sd, TINY),
                weighed / (state.before + state.fresh),
                state.weights,
                taken / weighed,
            )
            state = replace(state, weighed=weighed, taken=taken)
            return self.settle(state, evidence)

        return replace(once, absorb=absorb)
