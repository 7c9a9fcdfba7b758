"""Wang & Tang: private neighbourhood models (PNBM), and the factor models beside them."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from tacit.auditing.games import laplace_ratio, play
from tacit.auditing.gauntlet.game import guess
from tacit.data.ratings import Ratings
from tacit.papers.attacks.claim import Expected, Force, PaperClaim, SeenByAttack
from tacit.papers.attacks.fits import (
    Floats,
    Made,
    level_of_last,
    neighbour_of,
    printed,
    table,
    tells_exactly,
)
from tacit.papers.wang_tang.printed import printed_sensitivity
from tacit.papers.wang_tang.printed.forms import FLOOR, RATE

PAPER = "Wang & Tang"
RATED = 100
"""Ratings of the person whose rating changes."""
RESCALE = 2.0
"""beta: with the random start of the authors' program all similarities of this person then
add up to about C, where the paper has them and where a step is largest."""
RUNS = 4000
"""Of each neighbour."""
CHUNK = 200
PEOPLE, ITEMS = 900, 600
"""Near MovieLens 100K: as many people, a third of its items, as many ratings each."""
EACH = 100
CANARIES = 64
OWN = 8
"""Items that a canary rates and hardly anybody else does."""
SHARE = 0.005
POSTERIOR_RATED = 200
"""tau."""
LOW, HIGH = 1.0, 5.0
MOST_LOSS = POSTERIOR_RATED * (HIGH - LOW) ** 2
"""B."""
DELTA = 1e-6
"""Given away to whoever says that the claim is not pure."""
THRESHOLDS = np.geomspace(1e-6, 2.0, 200)
"""Of a guess: s is nearer to 1 than this."""


def one_step(claim: PaperClaim, force: Force) -> SeenByAttack:
    """S after one full step, of a person with ratings 5 and 1 in turn, one of which changes.

    The step is run without its noise on both neighbours; the printed noise is Laplace on
    every entry of the gradient, so the ratio of densities is known.
    """
    base = alternating()
    base_entries = _entries(claim, base)
    neighbour_entries = _entries(claim, neighbour_of(base, 0, 1.0))
    changed = base_entries != neighbour_entries
    base_changed, neighbour_changed = base_entries[changed], neighbour_entries[changed]
    noise = printed_sensitivity(1, FLOOR) / claim.epsilon
    scale = RATE * RESCALE * noise
    exact = float(np.abs(base_changed - neighbour_changed).sum() / scale)
    rng = np.random.default_rng()
    runs = RUNS // 4 if force.quick else RUNS
    played: list[Floats] = []
    for centre in (base_changed, neighbour_changed):
        losses = [
            laplace_ratio(
                centre + rng.laplace(0, scale, (CHUNK, len(centre))),
                base_changed,
                neighbour_changed,
                scale,
            )
            for _ in range(runs // CHUNK)
        ]
        played.append(np.concatenate(losses))
    won = play(played[0], played[1], delta=0.0, mistake=force.mistake)
    return SeenByAttack(
        won.epsilon,
        f"exactly {exact:.0f}: {changed.sum()} entries move, and one is charged",
        f"a person with {RATED} ratings, 5 and 1 in turn; one becomes 1",
    )


def alternating() -> Ratings:
    """The person whose rating changes, and a crowd in which means say little."""
    rng = np.random.default_rng(3)
    crowd = rng.integers(1, 6, (60, RATED)).astype(float)
    mine = np.where(np.arange(RATED) % 2 == 0, 5.0, 1.0)
    return table(np.vstack([mine, crowd]))


def _entries(claim: PaperClaim, ratings: Ratings) -> Floats:
    """All similarities after the step, from the public random start, without noise."""
    fit = printed(claim, ratings, noise_off=True, rounds=1, rescale=RESCALE)
    return np.asarray(fit.state.similarity, np.float64).ravel()


TEMPERATURES: tuple[tuple[float, Expected], ...] = ((0.006, "false"), (1.0, "true"))
"""One of the paper's, and the one at which the law is that of the claim."""
VALUE = "one rating changes its value"
PERSON = "one person comes or goes"

# Langevin chains at the size of real data: how much one sample reveals about many people.
#
# Canaries each rate a few items that hardly anybody else rates, 5 and 1 in turn, and are there
# by a fair coin. What was learned beside the raw means tells whether these items go together
# as she rates them: one fit for all coins. At `user` a paper's raw means tell more, exactly.


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
            f"{won.summary}; {PEOPLE} people, {ITEMS} items, one sample",
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


# The distribution that Wang & Tang claim for their chains at their temperature, in a model of one
# number: exact, without a chain.
#
# A person with tau ratings r has the loss tau (r - s)^2 for a level s on the scale. A step has
# the drift (a/2) eta times the slope of the loss, a = epsilon/8B, B = 16 tau, and noise of
# variance rho eta: its stationary density is exp(-(a/rho) loss), where rho = 1 was meant. With
# nobody else the two laws of a person who gives 1 throughout, or 5, are cut normals.


def at_temperature(rho: float) -> Callable[[PaperClaim, Force], SeenByAttack]:
    """An attack by the law itself, at this temperature."""

    def attack(claim: PaperClaim, force: Force) -> SeenByAttack:
        sharp = claim.epsilon / (8 * MOST_LOSS) / rho * POSTERIOR_RATED
        ones = log_below(THRESHOLDS, 0.0, sharp)
        fives = log_below(THRESHOLDS, HIGH - LOW, sharp)
        losses = [
            log(exp(one) - DELTA) - five
            for one, five in zip(ones, fives, strict=True)
            if exp(one) > DELTA
        ]
        return SeenByAttack(
            max(max(losses), 0.0),
            f"exact, of the stationary law, which a chain need not reach: temperature {rho:g}",
            f"a person who rates {POSTERIOR_RATED} items 1, or 5",
        )

    return attack


def log_below(reach: Floats, centre: float, sharp: float) -> Floats:
    """log P[s - 1 < reach] for s - 1 on [0, 4] with density exp(-sharp (s - 1 - centre)^2)."""
    spread = 1 / sqrt(2 * sharp)

    def log_mass(low: Floats, high: Floats) -> Floats:
        # Of a normal between two places below its centre; mirrored where they are above.
        a, b = (low - centre) / spread, (high - centre) / spread
        if centre == 0:
            a, b = -b, -a
        top, bottom = log_ndtr(b), log_ndtr(a)
        return np.asarray(top + np.log1p(-np.exp(bottom - top)))

    nothing = np.zeros_like(reach)
    full_reach = np.full_like(reach, HIGH - LOW)
    return log_mass(nothing, reach) - log_mass(nothing, full_reach)


CLAIMS = (
    PaperClaim(
        "PNBM means",
        PAPER,
        "DPSGD-PNBM is epsilon-private for a rating; its predictor has item means",
        VALUE,
        "pnbm-sgd",
        "rating",
        1.0,
        tells_exactly(level_of_last),
        "false",
    ),
    PaperClaim(
        "PNBM posterior means",
        PAPER,
        "DPPS-PNBM is epsilon-private for a person; its predictor has item means",
        PERSON,
        "pnbm-langevin",
        "user",
        1.0,
        tells_exactly(level_of_last, rounds=2),
        "false",
    ),
    PaperClaim(
        "PNBM gradient",
        PAPER,
        "theorem 1: noise for dF = 2 e_max phi/C makes a step epsilon-private",
        VALUE,
        "pnbm-sgd",
        "rating",
        1.0,
        one_step,
        "false",
    ),
    *(
        PaperClaim(
            f"posterior law at temperature {rho:g}",
            PAPER,
            "DPPS is epsilon-private for a person once its chain has reached its law",
            "one person is replaced by another",
            "pnbm-langevin",
            "user",
            20.0,
            at_temperature(rho),
            expected,
        )
        for rho, expected in TEMPERATURES
    ),
    PaperClaim(
        "PNBM posterior sample",
        PAPER,
        "theorem 3: a sample of the similarities is epsilon-private for a person",
        PERSON,
        "pnbm-langevin",
        "user",
        1.0,
        over_a_chain("pairs", rounds=40),
        "open",
    ),
    PaperClaim(
        "MF posterior sample",
        f"{PAPER}, after Liu, Wang & Smola",
        "a sample of the item factors is epsilon-private for a person",
        PERSON,
        "mf-langevin",
        "user",
        1.0,
        over_a_chain("factors", epochs=40),
        "open",
    ),
)
