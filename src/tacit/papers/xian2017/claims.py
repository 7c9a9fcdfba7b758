"""Xian et al. 2017 (SVD and SVD++), and Berlioz et al. 2015 as they compare with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log
from typing import Any, NamedTuple

import numpy as np

from tacit.auditing.games import play
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
    tells_existence,
)
from tacit.papers.factors.form import TRAINED, PaperConstants
from tacit.papers.xian2017.printed.least_squares import ERROR_SPAN, OBJECTIVE_SPAN

PAPER = "Xian et al. 2017"
VALUE = "one rating changes its value"
LEVEL = {"item_shrink": 1e12, "own_shrink": 1e12}
"""Biases of nothing: what is attacked is the noise alone, as if biases were public."""
USUAL = PaperConstants()
HEAVY = 500
"""People and items of a heavy item."""
LIGHT = {1: 8, 20: 160}
"""By epochs, ratings of the person whose vector then is about as long as the root of the
ridge: where a solve moves most."""
RUNS = {False: 200, True: 60}
"""Fits of each neighbour, by whether it is quick."""


class Solve(NamedTuple):
    """The last solve of one item, as whoever sees P and Q can redo it."""

    left: Floats
    """P'P + ridge."""
    right: Floats
    """P'y, y what is left of the item's ratings."""
    item: Floats
    """The item's published row of Q."""


def last_solve(fit: Made, ratings: Ratings, item: int) -> Solve:
    """Of one item, if the ratings were these."""
    order = ratings.by_item
    cells = slice(order.ptr[item], order.ptr[item + 1])
    people = order.user[cells].astype(np.int64)
    value = (ratings.value[order.cell[cells]].astype(np.float64) - 3.0) * 1.0
    state = np.asarray(fit.state.items, np.float64)
    profiles = fit.people[TRAINED]
    user_factors = profiles[people, 1:]
    residuals = value - state[item, 0] - state[item, 1] - profiles[people, 0]
    if fit.model.shared.method == "mf-input-als":
        residuals = np.clip(residuals, -USUAL.residual, USUAL.residual)
    ridge = USUAL.ridge * len(people)
    left = user_factors.T @ user_factors + ridge * np.eye(user_factors.shape[1])
    return Solve(left, user_factors.T @ residuals, state[item, 2 : 2 + user_factors.shape[1]])


def by_objective(solve: Solve) -> Floats:
    """The linear term that would explain the item."""
    return solve.right - solve.left @ solve.item


def by_output(solve: Solve) -> Floats:
    """What would have been added to the solution."""
    return solve.item - np.linalg.solve(solve.left, solve.right)


def last_item(
    noise: Callable[[Solve], Floats],
    crowd: Callable[[], tuple[Ratings, int]],
    scale: Callable[[PaperClaim, Ratings], float],
    *,
    elsewhere: float | None = None,
    **settings: Any,
) -> Callable[[PaperClaim, Force], SeenByAttack]:
    """An attack on the published row of one item, given P: its noise has a known law, so the
    ratio of densities is exact.

    `elsewhere`: the share of epsilon by which all other parts of the release can lower the
    ratio, where that is proven. A ratio above epsilon by more than this, once seen, refutes a
    pure claim without any counting.
    """

    def attack(claim: PaperClaim, force: Force) -> SeenByAttack:
        base, cell = crowd()
        neighbour = neighbour_of(base, cell, 1.0)
        item = int(base.item[cell])
        spread = scale(claim, base)
        runs = RUNS[force.quick]
        if settings.get("epochs", 1) > 1:  # as many seconds
            runs //= 3

        def ratios(ratings: Ratings) -> Iterator[float]:
            for _ in range(runs):
                fit = printed(claim, ratings, **settings)
                base_noise = noise(last_solve(fit, base, item))
                neighbour_noise = noise(last_solve(fit, neighbour, item))
                difference = np.linalg.norm(neighbour_noise) - np.linalg.norm(base_noise)
                yield float(difference / spread)

        base_losses = np.fromiter(ratios(base), np.float64)
        neighbour_losses = np.fromiter(ratios(neighbour), np.float64)
        won = play(base_losses, neighbour_losses, delta=0.0, mistake=force.mistake)
        largest = max(np.abs(base_losses).max(), np.abs(neighbour_losses).max())
        surely = 0.0 if elsewhere is None else largest - elsewhere * claim.epsilon
        return SeenByAttack(
            max(won.epsilon, surely),
            f"{won.epsilon:.2g} by counting; largest exact loss of the last solve {largest:.3g}, "
            f"in {len(base_losses)} fits each",
            f"{base.n_users} people rate an item, one of them 5 or 1",
        )

    return attack


def small_crowd() -> tuple[Ratings, int]:
    """Twelve people who all rate twelve items."""
    rng = np.random.default_rng(5)
    values = rng.integers(1, 6, (12, 12)).astype(float)
    values[0, 0] = 5.0
    return table(values), 0


def heavy(light: int) -> Callable[[], tuple[Ratings, int]]:
    """Many who rate all items, whose vectors have little noise; and one who rates `light`
    of them, whose vector is long with noise: nothing cuts it, and the sensitivity of a solve
    assumes that something does. One of her ratings changes."""

    def crowd() -> tuple[Ratings, int]:
        rng = np.random.default_rng(5)
        values = rng.integers(1, 6, (HEAVY, HEAVY)).astype(float)
        values[0, light:] = np.nan
        values[0, 0] = 5.0
        return table(values), 0

    return crowd


def objective_scale(claim: PaperClaim, ratings: Ratings) -> float:
    """Of the linear term, divided by N as printed."""
    cells = len(ratings)
    ratio = USUAL.slack / (cells * USUAL.ridge)
    remaining = claim.epsilon - log(1 + 2 * ratio + ratio**2)
    if remaining <= 0:
        remaining = claim.epsilon / 2
    return OBJECTIVE_SPAN / remaining / cells


def output_scale(span: float, share: float, epochs: int) -> Callable[[PaperClaim, Ratings], float]:
    """Of what is added to the solution of an item that all rate, for errors of this span and
    this share of epsilon."""

    def scale(claim: PaperClaim, ratings: Ratings) -> float:
        per = 2 * USUAL.own_most * span / (ratings.n_users * USUAL.ridge)
        return per * 2 * epochs / (claim.epsilon * share)

    return scale


def _solves(epochs: int, expected: Expected) -> Iterator[PaperClaim]:
    """DPSAOut and PALS over so many iterations. Of one iteration the people's half and the
    averages hold what they claim, because the first items are shorter than is assumed."""
    solve_share = 1 - USUAL.averages_share
    label = "one iteration" if epochs == 1 else f"{epochs} iterations"
    yield PaperClaim(
        f"DPSAOut, {label}",
        PAPER,
        "DPSAOut is epsilon-private over its k iterations",
        f"{VALUE}; biases are nothing",
        "svd-output",
        "value",
        1.0,
        last_item(
            by_output,
            heavy(LIGHT[epochs]),
            output_scale(ERROR_SPAN, 1.0, epochs),
            elsewhere=0.5 if epochs == 1 else None,
            epochs=epochs,
            factors=1,
            **LEVEL,
        ),
        expected,
    )
    yield PaperClaim(
        f"PALS, {label}",
        "Berlioz et al. 2015",
        "PALS is epsilon-private, averages and all solves together",
        VALUE,
        "mf-input-als",
        "value",
        1.0,
        last_item(
            by_output,
            heavy(LIGHT[epochs]),
            output_scale(2 * USUAL.residual, solve_share, epochs),
            elsewhere=1 - solve_share / 2 if epochs == 1 else None,
            epochs=epochs,
            factors=1,
        ),
        expected,
    )


def _biases(method: str, algorithm: str) -> PaperClaim:
    return PaperClaim(
        f"{algorithm} biases",
        PAPER,
        f"{algorithm} is epsilon-private for a score; its predictor has exact biases",
        VALUE,
        method,
        "value",
        1.0,
        tells_exactly(level_of_last),
        "false",
    )


CLAIMS = (
    _biases("svd-gradient", "DPSS"),
    _biases("svd-objective", "DPSAObj"),
    _biases("svd-output", "DPSAOut"),
    _biases("svdpp-gradient", "DPSS++"),
    _biases("svdpp-objective", "DPSAObj++"),
    _biases("svdpp-output", "DPSAOut++"),
    PaperClaim(
        "DPSS existence",
        PAPER,
        "DPSS is epsilon-private for a rating, if that is read as one that comes or goes",
        "one rating comes or goes",
        "svd-gradient",
        "value",
        1.0,
        tells_existence,
        "false",
    ),
    *(
        PaperClaim(
            f"DPSAObj noise at {epsilon:g}",
            PAPER,
            "DPSAObj is epsilon-private by Chaudhuri et al., with noise b/N",
            f"{VALUE}; biases are nothing",
            "svd-objective",
            "value",
            epsilon,
            last_item(by_objective, small_crowd, objective_scale, **LEVEL),
            "false",
        )
        for epsilon in (0.1, 1.0)
    ),
    *_solves(1, "open"),
    *_solves(20, "open"),
    PaperClaim(
        "PSGD averages",
        "Berlioz et al. 2015",
        "PSGD is epsilon-private; its averages have noise",
        VALUE,
        "mf-input-sgd",
        "value",
        1.0,
        tells_exactly(level_of_last),
        "true",
    ),
)
