"""Which items are liked together: the covariance round of `bayes`, and whether it would pay.

What is made of the release: `tacit.methods.refine.covariance_factors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Bound, CentredCells, Rows
from tacit.bound.gram import EntryGram, FactorGram
from tacit.methods.bayes.rounds import SecondOrder
from tacit.methods.bayes.state import BayesState
from tacit.methods.first_order.rounds import KEPT as SUMS_KEPT
from tacit.methods.first_order.rounds import TINY
from tacit.methods.first_order.state import Floats, UserFactors
from tacit.methods.refine.covariance_factors import (
    KEPT,
    TOGETHER,
    covariance_factors,
    shared_scatter,
)
from tacit.methods.refine.spectrum_items import Profile, profile
from tacit.model.person.gaussian import NOISE
from tacit.rounds.round import Block, Part, Released, Round

CLIP = 1.0
"""Of a rating less one's own mean."""
SHRINK = 20
"""Fictitious ratings in that mean."""
OFFSET = 0.5
"""A person's products are weighted by 1/(|y|^2 + offset). Small: the bound does not depend on
it, and people of few ratings would otherwise add less than is paid for (10 in its place:
docs/results/bayes.md)."""
RESIDUAL_LIMIT = 2.0
"""Half the inner scale: clips residuals before one's own mean is taken."""
GRID_STEPS = 2**12
"""At the unit `rating`: steps of the grid for a clip of 1."""
VARIANCE = 0.45
"""Of such a clipped rating: a public rule."""
SIGNAL, SIGNAL_SPREAD = 0.05, 0.5
"""Variance of a common factor that must stand out of the noise for the covariance to be
worth its share, and how far its logarithm may be off where there is little to lose."""
USER_SENSITIVITY, RATING_SENSITIVITY = 0.7, 1.7
"""About those of the two bounds, for that judgement alone."""
PROMISED = 2.0
"""How many times what sums would gain a factor must promise that may not be there: with as much,
people of three ratings each lost (docs/results/bayes.md)."""
SUMS_SENSITIVITY = 2.2
"""The same of item sums at the unit `rating`."""
SCORES = np.array([NormalDist().inv_cdf((i + 0.5) / 16) for i in range(16)])
"""Standard scores for which a factor is tried."""


@dataclass(frozen=True)
class CovarianceRound:
    """The covariance of the `rows` items of largest released weight."""

    second: SecondOrder
    rows: int

    def covariance(self, share: float) -> Round:
        """Which of the items are liked together: sums of products, never the diagonal.

        Guarantee: `FactorGram` (unit `user`) or `EntryGram` (unit `rating`), whose
        sensitivities are proven in docs/proofs/covariance.md. Which items are rows follows
        from released weights.
        """
        first_order = self.second.first
        items = first_order.public.items
        bound: Bound = FactorGram()
        if not first_order.whole_person:
            centred = CentredCells(
                items, clip=RESIDUAL_LIMIT, shrink=SHRINK, limit=CLIP, steps=GRID_STEPS
            )
            bound = EntryGram(self.rows, centred, OFFSET)

        def contribute(block: Block, state: BayesState) -> Mapping[str, Rows]:
            row_of_item = np.full(items, self.rows, np.int64)
            row_of_item[self.head(state)] = np.arange(self.rows)
            index = row_of_item[block.item]
            residuals = block.value - state.level.mean - state.effects.mean[block.item]
            if first_order.whole_person:
                clipped = np.clip(residuals, -RESIDUAL_LIMIT, RESIDUAL_LIMIT)
                residuals = _lengths(block, clipped, index < self.rows)
            return {"likings": Rows(block.ptr, index, residuals[:, None])}

        def absorb(state: BayesState, released: Mapping[str, Released]) -> BayesState:
            noisy = released["likings"]
            matrix = np.asarray(noisy.value, np.float32)
            return self._absorb(state, matrix, max(noisy.sd, TINY))

        part = Part("likings", self.rows, bound, share=share, form="gram")
        return Round("covariance", (part,), contribute, absorb)

    def _absorb(self, state: BayesState, matrix: NDArray[np.float32], sd: float) -> BayesState:
        """Rotate known item factors by the covariance, and add those it reveals."""
        model = self.second.model(state)
        head = self.head(state)
        previous = model.loadings
        together = TOGETHER
        if not self.second.first.whole_person:
            together = shared_scatter(self.rows, state.people)
        solution = covariance_factors(matrix, sd, self.profile(state), previous[head, 1:], together)
        fresh = np.zeros((len(previous), solution.fresh.shape[1]))
        fresh[head] = solution.fresh
        posterior_variance = self.second.doubt(state) + solution.typical
        posterior_variance[head] += solution.unknown - solution.typical
        item_factors = np.concatenate(
            [previous[:, :1], previous[:, 1:] @ solution.turn, fresh], axis=1
        )
        return replace(
            state, tastes=UserFactors(np.ascontiguousarray(item_factors), posterior_variance)
        )

    def drown(self, state: BayesState, share_sd: float) -> bool:
        """Whether noise would drown the covariance, by released popularity: then its share pays for
        item sums.

        `share_sd` is the noise sd that its share means at a sensitivity of 1. Where a factor of the
        usual size would not stand out, a larger one still may: the round is worth its share if item
        sums would gain even less by it, as those of few items do."""
        profile = self.profile(state)
        whole_person = self.second.first.whole_person
        sensitivity = USER_SENSITIVITY if whole_person else RATING_SENSITIVITY
        sd = max(share_sd * sensitivity, TINY)
        white = 1 / np.sqrt(sd**2 + profile.sampling * profile.weight**2)
        signal = SIGNAL * KEPT * float((profile.weight**2 * white).sum())
        stands_out = signal / (2 * sqrt(self.rows))
        if stands_out >= 1:
            return False
        hoped = hoped_of_factor(stands_out, state.level.count)
        return hoped <= PROMISED * self._hoped_of_sums(state, share_sd)

    def _hoped_of_sums(self, state: BayesState, share_sd: float) -> float:
        """By how much one more release of item sums would lessen the variance of a rating."""
        first_order = self.second.first
        weight = state.weights.mean
        spread = max(share_sd, TINY)
        information: Floats | float = (SUMS_SENSITIVITY * spread) ** -2
        if first_order.whole_person:
            multiplier, clip = first_order.effort(state, spread)
            information = (SUMS_KEPT * multiplier / (clip * spread)) ** 2
        precision = state.evidence.precision
        people = first_order.sampling(state) / weight
        with np.errstate(divide="ignore"):  # nothing is known before the first sums
            noise = 1 / (precision * weight**2) + people
        less = 1 / ((precision + information) * weight**2) + people
        unknown = state.effects.variance
        remaining_variance = 1 / (1 / unknown + np.maximum(1 / less - 1 / noise, 0.0))
        return float(weight @ (unknown - remaining_variance) / weight.sum())

    def profile(self, state: BayesState) -> Profile:
        """What each row of the matrix holds of its item."""
        return profile(
            state.weights.mean[self.head(state)],
            state.people,
            self.second.first.public.unit,
            variance=VARIANCE,
            offset=OFFSET,
            cap=state.level.count,
        )

    def head(self, state: BayesState) -> NDArray[np.int64]:
        """The items that are rows, ascending; ties of weight go to the first."""
        order = np.argsort(-state.weights.mean, kind="stable")
        return np.sort(order[: self.rows])


def hoped_of_factor(stands_out: float, count: float) -> float:
    """By how much a common factor would lessen the variance of a rating of somebody with
    `count` ratings, if one of variance `SIGNAL` is so many times as large as the noise."""
    times = np.exp(SIGNAL_SPREAD * SCORES)
    variance = SIGNAL * times
    recovered = np.maximum(1 - (stands_out * times) ** -2.0, 0.0)
    reliability = count * variance / (count * variance + NOISE)
    return float((variance * recovered * reliability).mean())


def _lengths(block: Block, residuals: Floats, inside: NDArray[np.bool_]) -> Floats:
    """y/sqrt(|y|^2 + offset) over the items inside, y centred by one's own mean over all
    items; 0 outside."""
    from tacit.kernels.rows import shrunk_means

    user_means = np.empty(len(block.people))
    length = np.empty(len(block.people))
    counts = np.diff(block.ptr)
    shrunk_means(block.ptr, residuals, float(SHRINK), RESIDUAL_LIMIT, user_means)
    centred = np.clip(residuals - np.repeat(user_means, counts), -CLIP, CLIP)
    residuals = np.where(inside, centred, 0.0)
    # A mean of squares times their number is their sum, by the same exact loop.
    squares = residuals * residuals * np.repeat(np.maximum(counts, 1), counts)
    shrunk_means(block.ptr, squares, 0.0, np.inf, length)
    result: Floats = residuals / np.sqrt(np.repeat(length, counts) + OFFSET)
    return result
