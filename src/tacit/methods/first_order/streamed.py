"""First-order statistics on a calendar: level, weights and effects from running sums.

Every week's people subtract the effects that were public in their week, e_s, and weigh their
residuals as it was public then, k_s. The running sums of item i are then

    sum over weeks of k_s W_s (b - e_s)  =  W k (b - e),

where k and e are the means of k_s and e_s over the people of all weeks (e weighted by k_s), as
far as an item's share of the ratings stays the same from week to week. That is one release of
sums, as `Evidence` knows it; what a one-off fit does in sweeps, the weeks do one after the
other. `steady` says k_s and e_s, so that the sums are read by them (`tacit.rounds.running`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.first_order.rounds import KEPT, TINY, FirstOrder
from tacit.methods.first_order.state import FirstState
from tacit.methods.refine.item_bias import Evidence
from tacit.rounds.round import AnyState, Released, Round, Stationary
from tacit.rounds.running import Running


@dataclass(frozen=True)
class StreamedFirst(FirstState):
    """First-order statistics on a calendar."""

    elapsed: float = 0.0
    """Which part of the calendar is over, this week included."""
    before: float = 0.0
    """People who were counted in earlier weeks, as far as it was released."""


class StreamedOrder(FirstOrder):
    """The first-order rounds for running sums."""

    @staticmethod
    def of(public: Public) -> StreamedOrder:
        """The rounds that these public facts allow."""
        order = FirstOrder.of(public)
        return StreamedOrder(order.public, order.features, order.pure)

    def effort(self, state: FirstState, spread: float) -> tuple[NDArray[np.float64], float]:
        """By the weights that are to be expected at the end of the calendar: effort that is
        right then is worth most."""
        grown = max(self.public.people / state.people, 1.0)
        mean = grown * state.weights.mean
        weights = replace(state.weights, mean=mean)
        return super().effort(replace(state, weights=weights), spread)

    def running_item_biases(self, share: float, spread: float) -> Round:
        """One round of sums a week; see the module."""
        once = self.effects("effects", share, spread)

        def steady(state: AnyState) -> Mapping[str, Stationary]:
            multiplier, clip = self.effort(state, spread)
            return {
                "sums": Stationary(
                    KEPT * multiplier / clip, self.effect(state), state.weights.mean / state.people
                )
            }

        def absorb(state: AnyState, released: Mapping[str, Released]) -> AnyState:
            noisy = released["sums"]
            if not isinstance(noisy, Running):  # one week, and no calendar
                current = steady(state)["sums"]
                noisy = Running(noisy.value, noisy.sd, scale=current.scale, taken=current.taken)
            sd = noisy.sd if noisy.each is None else noisy.each[:, 0]
            evidence = Evidence.none(self.public.items).add(
                noisy.value[:, 0],
                np.maximum(sd, TINY),
                noisy.scale,
                state.weights,
                np.asarray(noisy.taken),
            )
            return self.settle(state, evidence)

        return replace(once, absorb=absorb, steady=steady)
