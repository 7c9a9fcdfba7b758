"""Hua, Xia & Zhong 2015: S1 (a trusted recommender) by its exact likelihood ratio.

With one factor S1 publishes v_j = (b_j - eta_j/2)/A_j for every item, A_j the sum of u^2 over
its raters with the ridge, b_j that of u r, eta_j Laplace of scale 2 Delta/epsilon. So the
density of all v is known wherever u is. The start of the factorization is not known to the
attacker: it leaves the sign open, over which the density is averaged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.auditing.games import play
from tacit.data.ratings import Ratings
from tacit.kernels.user_step import first_profile
from tacit.papers.attacks.claim import Force, PaperClaim, SeenByAttack
from tacit.papers.attacks.fits import Floats, neighbour_of, printed, table
from tacit.papers.factors.form import TRAINED
from tacit.papers.factors.kernels import summed_step
from tacit.papers.hua2015.printed.steps import RATE, RIDGE, SPAN, items_step, weights_of

PAPER = "Hua, Xia & Zhong 2015"
RUNS = {False: 200_000, True: 60_000}
"""Noises of each neighbour, by whether it is quick."""
STARTS = 4
"""Seeds that must agree on every |u|: else the attacker could not know it."""
AGREE = 1e-3
ROUND_RUNS = {False: 400, True: 120}
"""Trainings of each neighbour, by whether it is quick."""
GRID = 241
"""Points of the integral over eta."""
WIDE = 30.0
"""Of its reach, in scales."""
SEED = 0


class Sides(NamedTuple):
    """What S1 noises: one number an item."""

    left: Floats
    right: Floats


def one_factor(projected: bool, fixed: bool) -> Callable[[PaperClaim, Force], SeenByAttack]:
    """An attack on S1. `projected`: |u| is cut at 1, as the proof has it; `fixed`: u is that
    of the first neighbour on both sides, which is what the proof is about."""

    def attack(claim: PaperClaim, force: Force) -> SeenByAttack:
        base, cell = linked()
        neighbour = neighbour_of(base, cell, 1.0)
        base_profiles = people(claim, base)
        neighbour_profiles = base_profiles if fixed else people(claim, neighbour)
        if projected:
            base_profiles, neighbour_profiles = cut(base_profiles), cut(neighbour_profiles)
        base_sides, neighbour_sides = (
            sides(base, base_profiles),
            sides(neighbour, neighbour_profiles),
        )
        scale = 2 * SPAN / claim.epsilon
        rng = np.random.default_rng()
        played = []
        for side in (base_sides, neighbour_sides):
            sign = rng.choice([-1.0, 1.0], (RUNS[force.quick], 1))
            noise = rng.laplace(0, scale, (len(sign), len(side.left)))
            published = sign * (side.right - noise / 2) / side.left
            played.append(ratio(published, base_sides, neighbour_sides, scale))
        won = play(played[0], played[1], delta=0.0, mistake=force.mistake)
        largest = max(np.abs(base_profiles).max(), np.abs(neighbour_profiles).max())
        return SeenByAttack(
            won.epsilon,
            f"one factor, unknown start; |u| up to {largest:.2f}",
            "one of 30 people likes three items; one of her ratings goes from 5 to 1",
        )

    return attack


def linked() -> tuple[Ratings, int]:
    """Thirty people who dislike three items, but for one who likes them all: a change of one
    of her ratings moves her own vector, and with it all three items. The ratings, and the
    cell of hers that changes. Found by a search over small tables whose factorization does
    not depend on its start."""
    values = np.full((30, 3), 1.0)
    values[0] = 5.0
    return table(values), 0


def people(claim: PaperClaim, ratings: Ratings) -> Floats:
    """|u| of everybody after the factorization, without noise; the same from every start."""
    profiles = [
        np.abs(
            printed(
                claim,
                ratings,
                noise_off=True,
                factors=1,
                step="solve",
                epochs=600,
                bounded=False,
                seed=seed,
            ).people[TRAINED][:, 1]
        )
        for seed in range(STARTS)
    ]
    spread = np.ptp(np.array(profiles), axis=0).max()
    assert spread < AGREE, f"starts do not agree: {spread:g}"
    return profiles[0]


def cut(profiles: Floats) -> Floats:
    """At most 1."""
    return np.minimum(profiles, 1.0)


def sides(ratings: Ratings, profiles: Floats) -> Sides:
    """A_j and b_j of every item, with the ridge of the printed objective."""
    u = profiles[ratings.user]
    rating = ratings.value.astype(np.float64)
    left = np.bincount(ratings.item, u * u, ratings.n_items)
    right = np.bincount(ratings.item, u * rating, ratings.n_items)
    ridge = RIDGE * len(ratings)
    return Sides(np.asarray(left + ridge, np.float64), np.asarray(right, np.float64))


def ratio(published: Floats, base: Sides, neighbour: Sides, scale: float) -> Floats:
    """log of the densities' ratio, each averaged over the sign of the start."""

    def density(side: Sides) -> Floats:
        logs = [
            (
                -2 * np.abs(side.right - sign * side.left * published) / scale + np.log(side.left)
            ).sum(axis=1)
            for sign in (1.0, -1.0)
        ]
        return np.asarray(np.logaddexp(logs[0], logs[1]))

    return density(base) - density(neighbour)


VALUE = "one rating changes its value"
S1 = "theorem 1: S1 is epsilon-private for one record"

# Hua, Xia & Zhong 2015, S2 and S3: a recommender who follows the scheme and keeps every sum.
#
# The sum of an item in round t is its gradient, plus eta_j, the same in all rounds, plus
# rho_j(t), fresh in each; both Laplace of scale 2 Delta sqrt(d)/epsilon, here with one factor.
# The recommender knows all profiles v it has sent, so for either neighbour it computes every
# gradient. The ratio of densities is exact but for eta, which is integrated numerically.


@dataclass
class SchemeSide:
    """One side of the scheme: the profiles of people whose ratings are these."""

    ratings: Ratings
    own: Floats

    @staticmethod
    def of(ratings: Ratings) -> SchemeSide:
        """From the public seed."""
        return SchemeSide(ratings, np.zeros((ratings.n_users, 1)))

    def gradient(self, items: Floats, present: Floats) -> tuple[Floats, Floats]:
        """Everybody's gradients, summed, and how many raters; their profiles move on. Who is
        not here (0) has no part in it."""
        data = self.ratings
        total = np.zeros_like(items)
        raters = np.zeros((len(items), 1))
        keep = np.flatnonzero(present)
        cells = np.concatenate([np.arange(data.ptr[p], data.ptr[p + 1]) for p in keep])
        counts = np.diff(data.ptr)[keep]
        profiles = self.own[keep]
        summed_step(
            people=keep.astype(np.int64),
            ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            item=data.item[cells],
            rating=data.value[cells].astype(np.float64),
            items=items,
            user_factors=profiles,
            seed=SEED,
            rate=RATE,
            ridge=RIDGE,
            weights=weights_of("mean", RIDGE, 0.0).numbers,
            bounded=True,
            moves=True,
            total=total,
            raters=raters,
        )
        self.own[keep] = profiles
        return total, raters


def every_round(rounds: int, present: float) -> Callable[[PaperClaim, Force], SeenByAttack]:
    """An attack by the recommender, over so many rounds in which everybody is present with
    this chance."""

    def attack(claim: PaperClaim, force: Force) -> SeenByAttack:
        base, cell = watched()
        neighbour = neighbour_of(base, cell, 1.0)
        scale = 2 * SPAN / claim.epsilon
        rng = np.random.default_rng()
        count = ROUND_RUNS[force.quick]
        played = [
            np.array(
                [loss(true, (base, neighbour), rounds, present, scale, rng) for _ in range(count)]
            )
            for true in (base, neighbour)
        ]
        won = play(played[0], played[1], delta=0.0, mistake=force.mistake)
        return SeenByAttack(
            won.epsilon,
            f"one factor, {rounds} rounds, {count} trainings of each; largest loss "
            f"{max(np.abs(losses).max() for losses in played):.3g}",
            f"one of {base.n_users} people changes one of her ratings from 5 to 1",
        )

    return attack


def watched() -> tuple[Ratings, int]:
    """Somebody with twelve items, all liked, among a few others."""
    rng = np.random.default_rng(2)
    values = rng.integers(1, 6, (4, 12)).astype(float)
    values[0] = 5.0
    values[1:][rng.random((3, 12)) < 0.5] = np.nan
    return table(values), 0


def loss(
    true: Ratings,
    worlds: tuple[Ratings, Ratings],
    rounds: int,
    present: float,
    scale: float,
    rng: np.random.Generator,
) -> float:
    """log of the likelihood ratio of one whole training on `true`."""
    items = np.empty((true.n_items, 1))
    for row in range(len(items)):
        first_profile(SEED + 1, row, items[row])
    real = SchemeSide.of(true)
    either = [SchemeSide.of(world) for world in worlds]
    eta = rng.laplace(0, scale, items.shape)
    residues: list[list[Floats]] = [[], []]
    for _ in range(rounds):
        attending = (rng.random(true.n_users) < present).astype(float)
        attending[0] = 1.0  # of the rounds in which she is there
        total, raters = real.gradient(items, attending)
        noisy = total + eta + rng.laplace(0, scale, items.shape)
        for k, side in enumerate(either):
            residues[k].append((noisy - side.gradient(items, attending)[0])[:, 0])
        items = items_step(items, noisy, raters, weights_of("mean", RIDGE, 0.0), RATE, RIDGE)
    logs = [_without_eta(np.array(side), scale) for side in residues]
    return logs[0] - logs[1]


def _without_eta(residues: Floats, scale: float) -> float:
    """log of the density of what is left of every sum, eta integrated out, over all items."""
    middle = np.median(residues, axis=0)
    reach = np.linspace(-WIDE, WIDE, GRID) * scale / np.sqrt(len(residues))
    total = 0.0
    for item in range(residues.shape[1]):
        eta = middle[item] + reach
        logs = -np.abs(residues[:, item][:, None] - eta).sum(axis=0) / scale
        logs -= np.abs(eta) / scale
        top = float(logs.max())
        total += top + float(np.log(np.exp(logs - top).sum() * np.ptp(reach)))
    return total


CLAIMS = (
    *(
        PaperClaim(
            f"S1 at {epsilon:g}",
            PAPER,
            S1,
            VALUE,
            "mf-objective",
            "value",
            epsilon,
            one_factor(projected=False, fixed=False),
            "false",
        )
        for epsilon in (0.1, 0.5, 1.0)
    ),
    *(
        PaperClaim(
            f"S1 within length 1 at {epsilon:g}",
            PAPER,
            "the same with people's vectors cut to length 1, as the proof has them",
            VALUE,
            "mf-objective",
            "value",
            epsilon,
            one_factor(projected=True, fixed=False),
            "false" if epsilon < 0.5 else "open",
        )
        for epsilon in (0.1, 0.5, 1.0)
    ),
    PaperClaim(
        "S1 for fixed people",
        PAPER,
        "the same where people's vectors come from elsewhere",
        f"{VALUE}; people's vectors do not",
        "mf-objective",
        "value",
        1.0,
        one_factor(projected=True, fixed=True),
        "true",
    ),
    PaperClaim(
        "S2, all rounds",
        PAPER,
        "S2: the recommender, who sees the sums of all rounds, learns epsilon",
        VALUE,
        "mf-federated",
        "value",
        1.0,
        every_round(rounds=100, present=1.0),
        "open",
    ),
    PaperClaim(
        "S3, all rounds",
        PAPER,
        "S3: the same where people come and go, over more rounds",
        VALUE,
        "mf-federated",
        "value",
        1.0,
        every_round(rounds=200, present=0.3),
        "open",
    ),
    PaperClaim(
        "S2, one round",
        PAPER,
        "the same of one round, whose noise is fresh",
        f"{VALUE}; the mixing numbers are not told",
        "mf-federated",
        "value",
        1.0,
        every_round(rounds=1, present=1.0),
        "true",
    ),
)
