"""The sound plan of learned neighbourhoods: what is paid for what, by rule from people x
budget, before any data.

Item means and people's own models first; where enough people answer for it, a covariance,
gradients and a private choice over the most rated items
(`tacit.methods.neighbourhood.rounds`). The rules were set on one split of ML-1M
(docs/results/pnbm.md).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.baselines.bias import Bias, level_share, strength
from tacit.methods.neighbourhood.rounds import Pairs, top_items
from tacit.methods.refine.neighbour import strongest
from tacit.model.person.neighbours import compress
from tacit.rounds.plan import Plan
from tacit.rounds.round import Round
from tacit.rounds.state import State

MOST_ITEMS = 500
"""Pairs of more items than this cost a busy person's device too much."""
LEAST_ITEMS = 20
UNDECLARED = 1000
"""Stands for the number of people in the rules where it is not declared."""
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


def signal(public: Public) -> float:
    """People x mu: how far a sum over everybody stands out of the noise."""
    return (public.schema.users or UNDECLARED) * strength(public.budget)


def items_with_neighbours(public: Public) -> int:
    """How many of the most rated items get neighbours."""
    budget = public.budget
    if (
        budget is not None and budget.delta == 0
    ):  # an L1 bound over all pairs is far smaller
        wanted = 0.0003 * (public.schema.users or UNDECLARED) * budget.epsilon
    else:
        wanted = 0.05 * signal(public) if signal(public) >= PAYS else 0.0
    size = int(min(wanted, MOST_ITEMS, public.items / 2))
    return size if size >= LEAST_ITEMS else 0


def sound_plan(public: Public, pairs: Pairs, steps: int) -> Plan:
    """Item means; then, over `pairs.size` items if there are any, the start, `steps`
    gradients and the choice."""
    mu, first = strength(public.budget), pairs.first
    shares = _shares(public, pairs, steps)
    sweeps = 2 if pairs.size else 3
    sums = 0.65 * shares["means"] / sweeps
    rounds: list[Round] = [
        first.people(shares["level"]),
        first.weights(0.3 * shares["means"]),
        *(
            first.effects(f"effects {i}", sums, 1 / (mu * sqrt(sums)))
            for i in range(1, sweeps + 1)
        ),
        Bias().choice(first, 0.05 * shares["means"]),
    ]
    words = "So few people at this budget: item means alone, no neighbours."
    if pairs.size:
        words = (
            f"Neighbours are learned for {pairs.size} items, those of largest "
            "released weight: by rule from people x "
        )
        words += "budget."
        rounds += [
            pairs.covariance(shares["start"]),
            *(
                pairs.gradient(turn, shares["gradients"] / steps)
                for turn in range(1, steps + 1)
            ),
            pairs.judge(shares["judge"], trained=steps > 0),
        ]
    means = f"Item means take {100 * (shares['level'] + shares['means']):.0f} % of the budget."
    return Plan(public.unit, tuple(rounds), (means, words))


def _shares(public: Public, pairs: Pairs, steps: int) -> dict[str, float]:
    """Of the budget; they add up to 1."""
    level = level_share(public.schema.users, strength(public.budget))
    if not pairs.size:
        return {"level": level, "means": 1.0 - level}
    means = (1.0 - level) * (FIRST_RICH if signal(public) >= RICH else FIRST)
    rest = 1.0 - level - means
    gradients = (1.0 - JUDGE) * rest * (GRADIENTS if steps else 0.0)
    shares = {
        "level": level,
        "means": means,
        "judge": JUDGE * rest,
        "gradients": gradients,
    }
    shares["start"] = 1.0 - sum(shares.values())
    shares["gradients"] *= (
        pairs.sampled**-2
    )  # a share of mu^2 buys so much more where few take part
    whole = sum(shares.values())
    return {name: share / whole for name, share in shares.items()}


def sound_arrays(
    public: Public, pairs: Pairs, state: State, neighbours: int, *, posterior: bool
) -> tuple[dict[str, NDArray[np.float64]], float, float]:
    """The published arrays, and the variance of a rating around item means and around the
    neighbours."""
    model, items = pairs.model(state), public.items
    arrays = {
        "baseline": model.baseline,
        "variance": model.variance,
        "loadings": model.loadings,
        "doubt": np.zeros(items),
        **compress(np.full((items, 1), -1), np.zeros((items, 1))),
    }
    if not pairs.size:
        return arrays, model.noise, model.noise
    top = top_items(state, pairs.size)
    near = strongest(state["chosen"], neighbours)
    index = np.full((items, near.item.shape[1]), -1, np.int64)
    value = np.zeros(index.shape)
    index[top] = np.where(near.item >= 0, top[near.item], -1)
    value[top] = near.value
    if posterior:
        iterates = state["iterates"]
        arrays["doubt"][top] = (
            iterates[(len(iterates) + 1) // 2 :].var(axis=0).mean(axis=1)
        )
    return {**arrays, **compress(index, value)}, model.noise, float(state["around"][0])
