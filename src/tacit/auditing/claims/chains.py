"""Langevin chains at the size of real data: what one sample of them tells of many people.

Canaries each rate a few items that hardly anybody else rates, 5 and 1 in turn, and are there
by a fair coin. What was learned beside the raw means tells whether these items go together
as she rates them: one fit for all coins. At `user` a paper's raw means tell more, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.claims.claim import Force, PaperClaim, SeenByAttack
from tacit.auditing.claims.fits import Floats, Made, printed, table
from tacit.auditing.gauntlet.game import guess
from tacit.data.ratings import Ratings

PEOPLE, ITEMS = 900, 600
"""Near MovieLens 100K: as many people, a third of its items, as many ratings each."""
EACH = 100
CANARIES = 64
OWN = 8
"""Items that a canary rates and hardly anybody else does."""
SHARE = 0.005


def over_a_chain(published: str, **short: int) -> Callable[[PaperClaim, Force], SeenByAttack]:
    """An attack on all coins of one chain. `published` is published: similarities of all pairs,
    or factors; `short` is a shorter chain, for a quick look."""

    def attack(claim: PaperClaim, force: Force) -> SeenByAttack:
        rng = np.random.default_rng(11)
        # The crowd is the same in every audit; coins are not, or their chance is none.
        coins = np.random.default_rng().random(CANARIES) < 0.5
        settings: dict[str, Any] = dict(short) if force.quick else {}
        fit = printed(claim, crowd(rng, coins), **settings)
        scores = together(fit, published)
        won = guess(scores, coins, delta=1e-6, mistake=force.mistake)
        return SeenByAttack(
            won.epsilon,
            f"{won.words}; {PEOPLE} people, {ITEMS} items, one sample",
            f"{CANARIES} people who each rate {OWN} rare items alike, there or not",
        )

    return attack


def crowd(rng: np.random.Generator, coins: NDArray[np.bool_]) -> Ratings:
    """People of some tastes, and those canaries whose coin came up."""
    common = ITEMS - CANARIES * OWN
    taste = rng.normal(0, 0.6, (PEOPLE, 4)) @ rng.normal(0, 0.6, (4, ITEMS))
    values = np.clip(np.rint(3.5 + taste + rng.normal(0, 0.8, taste.shape)), 1, 5)
    rated = np.zeros(values.shape, bool)
    for person in range(PEOPLE):
        rated[person, rng.permutation(common)[: min(EACH, common)]] = True
        rated[person, common:] = rng.random(ITEMS - common) < SHARE
    values[~rated] = np.nan
    rows = [values]
    for j in np.flatnonzero(coins):
        mine = np.full(ITEMS, np.nan)
        mine[rng.permutation(common)[:40]] = 3.0
        # Half of her own items liked and half not: the levels of items say nothing then.
        start_item = common + j * OWN
        mine[start_item : start_item + OWN] = np.where(np.arange(OWN) % 2, 5.0, 1.0)
        rows.append(mine[None])
    return table(np.vstack(rows))


def together(fit: Made, published: str) -> Floats:
    """For each canary, whether what was learned says that her items go together as she
    rates them."""
    common = ITEMS - CANARIES * OWN
    sign = np.where(np.arange(OWN) % 2, 1.0, -1.0)
    expected = np.outer(sign, sign)
    np.fill_diagonal(expected, 0.0)
    scores = np.empty(CANARIES)
    for j in range(CANARIES):
        rows = slice(common + j * OWN, common + (j + 1) * OWN)
        if published == "pairs":
            similarities = np.asarray(fit.state.similarity)[rows, rows]
        else:
            factors = np.asarray(fit.state.items)[rows, 2:]
            similarities = factors @ factors.T
        scores[j] = float((similarities * expected).sum())
    return scores
