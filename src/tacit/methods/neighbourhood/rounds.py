"""The sound rounds of learned neighbourhoods at unit `user`: a covariance, gradients, and a
private choice.

All of them are over the M items of largest *released* weight, M by rule from people x mu.
The similarity of a pair is one number, s_ab = s_ba, so a person adds an upper triangle.

Guarantee: `covariance`: a person's triangle y_a y_b/(|y|^2 + damp), its diagonal over sqrt
2, has an L2 norm below 1/sqrt 2 (|yy'|_F = |y|^2 and the layout is isometric up to sqrt 2).
`gradient`: the derivative of her own loss by each s_ab, whatever it is, is scaled to a norm
of at most `CLIP`. `judge`: her row of errors is scaled to `JUDGE_CLIP`. Each is a
`RowClip`: checked in integers, for one person added or removed. Later rounds depend on
earlier ones through released numbers only, which is adaptive composition:
docs/proofs/pnbm.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.bound import RowClip, Rows
from tacit.methods.base import Public
from tacit.methods.first_order.choice import first_model, widened
from tacit.methods.first_order.rounds import FirstOrder, person_rows
from tacit.methods.first_order.state import FirstState, Floats
from tacit.methods.neighbourhood.state import PairState
from tacit.methods.refine import similarity as similar
from tacit.model.person.gaussian import GaussianModel
from tacit.rounds.people import Coin, Everyone, Participation
from tacit.rounds.round import Block, Part, Released, Round

DAMP = 10.0
"""Added to the square of a person's residuals: those of few ratings count less."""
LIMIT = 3.0
"""Residuals and errors are clipped to this size, on the inner scale."""
CLIP = 0.5
"""Norm of one person's gradient."""
JUDGE_CLIP = 1.5
"""Norm of one person's row of errors."""
COVARIANCE_CLIP = sqrt(0.5) + 1e-4
"""No triangle reaches it (see the guarantee): a little room for rounding."""
FARTHEST = 3.0
"""No similarity leaves this multiple of the largest first one."""
ERROR_WEIGHT = 0.3
"""Of errors without neighbours beside what candidates add: they are larger and need less
precision."""
LEAST_CHANCE = 1e-4
"""Of an item to be rated, where noise hides its weight."""
START_DIVISOR = 2.0
"""Typical divisor of the first similarities: above the floor of 1 for most people."""
TRAINED = (0.5, 1.0, 2.0)
"""Multiples of the trained similarities that the choice may take."""
VARIANCE = 0.8
"""Of a residual, on the inner scale: a public rule, for the size of steps."""


@dataclass(frozen=True)
class Pairs:
    """The rounds over pairs of `size` items."""

    public: Public
    first: FirstOrder
    size: int
    rate: float
    """Size of the first step."""
    xi: float = 0.0
    """Steps fall as t^-xi."""
    prior: float = 0.0
    """Pull of every step back to the first similarities."""
    sampled: float = 1.0
    """Chance of each person to give a gradient."""
    clean: bool = True
    """Whether each gradient is cleaned of its noise (descent), or the noise is kept (Langevin)."""

    def _bound(self, limit: float) -> RowClip:
        return RowClip(limit, "l1" if self.first.pure else "l2")

    @property
    def triangle(self) -> int:
        """Pairs of items, each with itself included."""
        return self.size * (self.size + 1) // 2

    @property
    def takes_part(self) -> Participation:
        """Who gives a gradient."""
        return Everyone() if self.sampled >= 1 else Coin(self.sampled)

    def model(self, state: PairState) -> GaussianModel:
        """The personal model under the neighbours, that of `bias`."""
        return widened(first_model(self.first, state).model, state)

    def _residuals(self, block: Block, state: PairState) -> tuple[Floats, Floats]:
        """What each person's own model leaves of each rating, with and without that rating."""
        from tacit.kernels.item_pairs import residuals

        model = self.model(state)
        residual = np.empty(len(block.item))
        target = np.empty(len(block.item))
        dev = block.value - model.baseline[block.item]
        residuals(block.ptr, block.item, dev, model.loadings, model.precision, residual, target)
        return residual, target

    def gram_rows(self, state: PairState) -> NDArray[np.int64]:
        """Spot of each item among those that count, or -1: the `size` largest released weights."""
        spot = np.full(self.public.items, -1, np.int64)
        spot[top_items(state, self.size)] = np.arange(self.size)
        return spot

    def _chance(self, state: PairState) -> Floats:
        """Of each item that counts to be among a person's ratings, from released weights."""
        unit_weight = self.first.weight_of_one(state.level.count)
        weight = state.weights.mean[top_items(state, self.size)]
        return np.clip(weight / (state.people * unit_weight), LEAST_CHANCE, 1.0)

    def covariance(self, share: float) -> Round:
        """Sums of products of residuals: the first similarities."""

        def contribute(block: Block, state: PairState) -> Mapping[str, Rows]:
            from tacit.kernels.item_pairs import covariance_pairs

            rows = self._rows(block, state)
            covariance_pairs(
                block.ptr,
                block.item,
                self._residuals(block, state)[0],
                self.gram_rows(state),
                self.size,
                DAMP,
                LIMIT,
                rows.ptr,
                rows.index,
                rows.values[:, 0],
            )
            return {"covariance": rows}

        def absorb(state: PairState, released: Mapping[str, Released]) -> PairState:
            noisy = released["covariance"]
            matrix = similar.unpack(noisy.value[:, 0], self.size, sqrt(2.0))
            chance = self._chance(state)
            cosine = similar.cosine(matrix, noisy.sd, chance)
            start = similar.scaled(similar.powered(cosine, 1.0), chance, START_DIVISOR)
            return replace(
                state, cosine=cosine, start=start, similarity=start, iterates=start[None]
            )

        bound = self._bound(COVARIANCE_CLIP)
        part = Part("covariance", self.triangle, bound, share=share)
        return Round("covariance", (part,), contribute, absorb)

    def gradient(self, iteration: int, share: float) -> Round:
        """Round number `iteration` >= 1: a gradient at the present similarities, and a step."""

        def contribute(block: Block, state: PairState) -> Mapping[str, Rows]:
            from tacit.kernels.item_pairs import gradient_pairs

            rows = self._rows(block, state)
            gradient_pairs(
                block.ptr,
                block.item,
                *self._residuals(block, state),
                self.gram_rows(state),
                state.similarity,
                DAMP,
                LIMIT,
                rows.ptr,
                rows.index,
                rows.values[:, 0],
            )
            return {"gradient": rows}

        def absorb(state: PairState, released: Mapping[str, Released]) -> PairState:
            noisy = released["gradient"]
            similarity = state.similarity
            slope = similar.unpack(noisy.value[:, 0], self.size, 0.0) / self.sampled
            if self.clean:
                slope = similar.clean_step(slope, noisy.sd / self.sampled)
            step = self.rate * iteration**-self.xi
            updated = similarity - step * (
                slope / self._curvature(state) + self.prior * (similarity - state.start)
            )
            top = FARTHEST * float(np.abs(state.start).max(initial=0.0))
            updated = np.clip(updated, -top, top)
            np.fill_diagonal(updated, 0.0)
            iterates = np.concatenate([state.iterates, updated[None]])
            return replace(state, similarity=updated, iterates=iterates)

        part = Part("gradient", self.triangle, self._bound(CLIP), share=share)
        return Round(
            f"gradient {iteration}", (part,), contribute, absorb, takes_part=self.takes_part
        )

    def _curvature(self, state: PairState) -> Floats:
        """About the second derivative by each s_ab of the sum that is released: how many
        people rate both, weighted."""
        chance = self._chance(state)
        typical = VARIANCE * float(chance.sum())
        co_raters = state.people * chance[:, None] * chance
        co_raters = co_raters * VARIANCE * 2.0 / START_DIVISOR**2
        curve = co_raters / (typical + DAMP)
        return np.asarray(curve + np.median(curve))

    def judge(self, share: float, trained: bool) -> Round:
        """People's own errors under each candidate, and the best of them:
        `tacit.methods.refine.similarity.choose`."""
        count = len(similar.SCALES) * len(similar.POWERS) + (len(TRAINED) if trained else 0)

        def contribute(block: Block, state: PairState) -> Mapping[str, Rows]:
            from tacit.kernels.item_pairs import judge_people

            out = np.empty((len(block.people), 1 + count))
            judge_people(
                block.ptr,
                block.item,
                *self._residuals(block, state),
                self.gram_rows(state),
                self.candidates(state, trained),
                LIMIT,
                out,
            )
            return {"errors": person_rows(out * _balance(count))}

        def absorb(state: PairState, released: Mapping[str, Released]) -> PairState:
            noisy = released["errors"]
            balance = _balance(count)
            best, noise = similar.choose(
                noisy.value[0] / balance, noisy.sd / balance, state.people, state.choice.noise
            )
            similarity = (
                np.zeros((self.size, self.size))
                if best is None
                else self.candidates(state, trained)[best]
            )
            return replace(state, chosen=similarity, around=noise)

        part = Part("errors", 1, self._bound(JUDGE_CLIP), width=1 + count, share=share)
        return Round("judge", (part,), contribute, absorb)

    def candidates(self, state: PairState, trained: bool) -> Floats:
        """Start similarities at several powers and scales, and multiples of the trained ones."""
        chance = self._chance(state)
        tried = [
            similar.scaled(similar.powered(state.cosine, power), chance, scale)
            for power in similar.POWERS
            for scale in similar.SCALES
        ]
        if trained:
            tried += [multiple * self.trained(state) for multiple in TRAINED]
        return np.array(tried)

    def trained(self, state: PairState) -> Floats:
        """The last iterate of descent; of Langevin the mean of the later half of the iterates."""
        if self.clean:
            return np.asarray(state.iterates[-1])
        return np.asarray(later_half(state.iterates).mean(axis=0))

    def _rows(self, block: Block, state: PairState) -> Rows:
        from tacit.kernels.item_pairs import pair_starts

        starts = np.empty(len(block.ptr), np.int64)
        pair_starts(block.ptr, block.item, self.gram_rows(state), starts)
        return Rows(starts, np.empty(starts[-1], np.uint32), np.empty((starts[-1], 1)))


def later_half(iterates: Floats) -> Floats:
    """Of a chain, without its way from the start."""
    return iterates[(len(iterates) + 1) // 2 :]


def top_items(state: FirstState, size: int) -> NDArray[np.int64]:
    """The items of largest released weight; ties by item number."""
    return np.argsort(-state.weights.mean, kind="stable")[:size]


def _balance(count: int) -> Floats:
    """Weights of a person's errors: without neighbours, and what each candidate adds."""
    return np.array([ERROR_WEIGHT] + [1.0] * count)
