"""Hua, Xia & Zhong 2015, S2 and S3: a recommender who follows the scheme and keeps every sum.

The sum of an item in round t is its gradient, plus eta_j, the same in all rounds, plus
rho_j(t), fresh in each; both Laplace of scale 2 Delta sqrt(d)/epsilon, here with one factor.
The recommender knows all profiles v it has sent, so for either neighbour it computes every
gradient. The ratio of densities is exact but for eta, which is integrated numerically.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.auditing.claims.claim import Force, PaperClaim, SeenByAttack
from tacit.auditing.claims.fits import Floats, neighbour_of, table
from tacit.auditing.games import play
from tacit.data.ratings import Ratings
from tacit.methods.factorization.kernels_user_step import first_profile
from tacit.methods.factorization.printed.hua_steps import RATE, RIDGE, SPAN, items_step, weights_of
from tacit.methods.factorization.printed.kernels import summed_step

RUNS = {False: 400, True: 120}
"""Trainings of each neighbour, by whether it is quick."""
GRID = 241
"""Points of the integral over eta."""
WIDE = 30.0
"""Of its reach, in scales."""
SEED = 0


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
        count = RUNS[force.quick]
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
