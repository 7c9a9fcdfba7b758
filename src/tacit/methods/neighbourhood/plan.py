"""The sound form of learned neighbourhoods: what is paid for what, by rule from people x
budget, before any data.

Item means and people's own models first; where enough people answer for it, a covariance,
gradients and a private choice over the most rated items. The rules were set on one split of ML-1M
(docs/results/pnbm.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.bound import RowClip, Rows
from tacit.methods.base import Form, Public
from tacit.methods.first_order.choice import choice_round, first_model, widened
from tacit.methods.first_order.rounds import (
    FirstOrder,
    FirstState,
    Floats,
    global_mean_share,
    is_pure,
    person_rows,
    strength,
)
from tacit.methods.neighbourhood.neighbourhood import (
    Learned,
    Neighborhood,
    NeighbourhoodSettings,
    PairState,
)
from tacit.methods.refine import similarity as similar
from tacit.methods.refine.neighbour import strongest
from tacit.model.person.gaussian import GaussianModel
from tacit.model.person.neighbours import compress
from tacit.model.shared import Shared
from tacit.rounds.people import Coin, Everyone, Participation
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

MOST_ITEMS = 500
"""Pairs of more items than this cost a busy person's device too much."""
LEAST_ITEMS = 20
"""Fewer are not worth their share."""
ITEMS_BY_SIGNAL, ITEMS_BY_EPSILON = 0.05, 0.0003
"""Items with neighbours for each unit of people x mu, or of people x epsilon where the
budget is pure: an L1 bound over all pairs is far smaller."""
PAYS = 4000.0
"""People x mu below which no neighbours are paid for: the noise would leave less than the
item means lose."""
RICH = 15_000.0
"""People x mu from which gradients cost no accuracy beside the covariance, which is the
gradient at zero."""
FIRST, FIRST_RICH = 0.6, 0.4
"""Of the budget, for item means and people's own models, where there are neighbours; below
and above `RICH`."""
JUDGE, GRADIENTS = 0.06, 0.4
"""Of the rest: for the private choice; and of what then remains for all gradients together."""
WEIGHTS, SUMS = 0.3, 0.65
"""Of the share of item means: for the items' weights, and for all sweeps of their sums."""
CHOICE = 0.05
"""Of the same, for how widely people differ."""
SWEEPS, SWEEPS_ALONE = 2, 3
"""Releases of item sums, with neighbours and without."""
FLOOR = 1.0
"""The least total similarity that predictions divide by."""
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
class Shares:
    """Of the budget; they add up to 1."""

    level: float
    means: float
    judge: float = 0.0
    gradients: float = 0.0
    start: float = 0.0


class SoundForm(Form):
    """Private item means, and private neighbours where they pay."""

    method: Neighborhood
    settings: NeighbourhoodSettings

    def plan(self, public: Public) -> Plan:
        """Item means; then, over the most rated items if there are any, the start, the
        gradients and the choice."""
        pairs = self.pairs(public)
        steps = self.steps(public)
        shares = budget_shares(public, pairs, steps)
        rounds = means_rounds(public, pairs, shares)
        neighbour_text = "So few people at this budget: item means alone, no neighbours."
        if pairs.size:
            neighbour_text = (
                f"Neighbours are learned for {pairs.size} items, those of largest "
                "released weight: by rule from people x budget."
            )
            rounds += pair_rounds(pairs, shares, steps)
        percent = f"{100 * (shares.level + shares.means):.0f} %"
        means = f"Item means take {percent} of the budget."
        return Plan(public.unit, tuple(rounds), (means, neighbour_text))

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return PairState()

    def finish(self, public: Public, state: PairState) -> Shared:
        """The chosen neighbours of the items that have some, over item means."""
        pairs = self.pairs(public)
        model = pairs.model(state)
        items = public.items
        arrays = {
            "baseline": model.baseline,
            "variance": model.variance,
            "loadings": model.loadings,
            "doubt": np.zeros(items),
            **compress(np.full((items, 1), -1), np.zeros((items, 1))),
        }
        if not pairs.size:
            learned = Learned(arrays, model.noise, model.noise, FLOOR)
            return self.method.published(public, learned)
        top = top_items(state, pairs.size)
        near = strongest(state.chosen, self.settings.neighbours)
        index = np.full((items, near.item.shape[1]), -1, np.int64)
        value = np.zeros(index.shape)
        index[top] = np.where(near.item >= 0, top[near.item], -1)
        value[top] = near.value
        if self.method.walk.samples:
            spread = later_half(state.iterates).var(axis=0)
            arrays["doubt"][top] = spread.mean(axis=1)
        arrays |= compress(index, value)
        learned = Learned(arrays, model.noise, state.around, FLOOR)
        return self.method.published(public, learned)

    def steps(self, public: Public) -> int:
        """How many gradient rounds there are."""
        if self.settings.rounds is not None:
            return self.settings.rounds
        walk = self.method.walk
        return walk.many if signal(public) >= RICH else walk.few

    def pairs(self, public: Public) -> Pairs:
        """The rounds over pairs of items."""
        settings = self.settings
        walk = self.method.walk
        coins = public.coins and not is_pure(public.budget)
        size = (
            items_with_neighbours(public)
            if settings.items is None
            else min(settings.items, public.items)
        )
        return Pairs(
            public,
            FirstOrder.of(public),
            size,
            rate=walk.rate,
            xi=walk.falling,
            prior=walk.pull,
            sampled=settings.sampled if coins else 1.0,
            clean=not walk.samples,
        )


def signal(public: Public) -> float:
    """People x mu: how far a sum over everybody stands out of the noise."""
    return public.people * strength(public.budget)


def items_with_neighbours(public: Public) -> int:
    """How many of the most rated items get neighbours."""
    budget = public.budget
    if budget is not None and is_pure(budget):
        item_count = ITEMS_BY_EPSILON * public.people * budget.epsilon
    else:
        reach = signal(public)
        item_count = ITEMS_BY_SIGNAL * reach if reach >= PAYS else 0.0
    size = int(min(item_count, MOST_ITEMS, public.items / 2))
    return size if size >= LEAST_ITEMS else 0


def budget_shares(public: Public, pairs: Pairs, steps: int) -> Shares:
    """How the budget is divided."""
    level = global_mean_share(public.people, strength(public.budget))
    if not pairs.size:
        return Shares(level, 1.0 - level)
    means = (1.0 - level) * (FIRST_RICH if signal(public) >= RICH else FIRST)
    remaining = 1.0 - level - means
    judge = JUDGE * remaining
    gradients = (1.0 - JUDGE) * remaining * (GRADIENTS if steps else 0.0)
    start = 1.0 - sum((level, means, judge, gradients))
    # A share of mu^2 buys so much more where few take part.
    gradients *= pairs.sampled**-2
    total = sum((level, means, judge, gradients, start))
    return Shares(level / total, means / total, judge / total, gradients / total, start / total)


def means_rounds(public: Public, pairs: Pairs, shares: Shares) -> list[Round]:
    """Item means, and how widely people differ around them."""
    first_order = pairs.first
    sweeps = SWEEPS if pairs.size else SWEEPS_ALONE
    sweep_share = SUMS * shares.means / sweeps
    spread = 1 / (strength(public.budget) * sqrt(sweep_share))
    return [
        first_order.people(shares.level),
        first_order.weights(WEIGHTS * shares.means),
        *(first_order.effects(f"effects {i}", sweep_share, spread) for i in range(1, sweeps + 1)),
        choice_round(first_order, CHOICE * shares.means),
    ]


def pair_rounds(pairs: Pairs, shares: Shares, steps: int) -> list[Round]:
    """The start, `steps` gradients, and the private choice."""
    return [
        pairs.covariance(shares.start),
        *(pairs.gradient(iteration, shares.gradients / steps) for iteration in range(1, steps + 1)),
        pairs.judge(shares.judge, trained=steps > 0),
    ]


# The sound rounds of learned neighbourhoods at unit `user`: a covariance, gradients, and a
# private choice.
#
# All of them are over the M items of largest *released* weight, M by rule from people x mu.
# The similarity of a pair is one number, s_ab = s_ba, so a person adds an upper triangle.
#
# Guarantee: `covariance`: a person's triangle y_a y_b/(|y|^2 + damp), its diagonal over sqrt
# 2, has an L2 norm below 1/sqrt 2 (|yy'|_F = |y|^2 and the layout is isometric up to sqrt 2).
# `gradient`: the derivative of her own loss by each s_ab, whatever it is, is scaled to a norm
# of at most `CLIP`. `judge`: her row of errors is scaled to `JUDGE_CLIP`. Each is a
# `RowClip`: checked in integers, for one person added or removed. Later rounds depend on
# earlier ones through released numbers only, which is adaptive composition:
# docs/proofs/pnbm.md.


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
