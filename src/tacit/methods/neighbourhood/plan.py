"""The sound form of learned neighbourhoods: what is paid for what, by rule from people x
budget, before any data.

Item means and people's own models first; where enough people answer for it, a covariance,
gradients and a private choice over the most rated items
(`tacit.methods.neighbourhood.rounds`). The rules were set on one split of ML-1M
(docs/results/pnbm.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from tacit.methods.base import Form, Public
from tacit.methods.first_order.choice import choice_round
from tacit.methods.first_order.rounds import FirstOrder
from tacit.methods.first_order.rule import global_mean_share, is_pure, strength
from tacit.methods.neighbourhood.neighbourhood import Learned, Neighborhood, NeighbourhoodSettings
from tacit.methods.neighbourhood.rounds import Pairs, later_half, top_items
from tacit.methods.neighbourhood.state import PairState
from tacit.methods.refine.neighbour import strongest
from tacit.model.person.neighbours import compress
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Round
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
