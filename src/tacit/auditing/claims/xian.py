"""Xian et al. 2017 (SVD and SVD++), and Berlioz et al. 2015 as they compare with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log
from typing import Any, NamedTuple

import numpy as np

from tacit.auditing.claims.claim import Claim, Force, Seen
from tacit.auditing.claims.fits import (
    Floats,
    Made,
    level_of_last,
    other,
    printed,
    table,
    tells_exactly,
)
from tacit.auditing.games import play
from tacit.data.ratings import Ratings
from tacit.methods.factorization.printed.constants import PaperConstants
from tacit.methods.factorization.printed.form import TRAINED
from tacit.methods.factorization.printed.least_squares import (
    ERROR_SPAN,
    OBJECTIVE_SPAN,
)

PAPER = "Xian et al. 2017"
VALUE = "one rating changes its value"
LEVEL = {"item_shrink": 1e12, "own_shrink": 1e12}
"""Biases of nothing: what is attacked is the noise alone, as if biases were public."""
USUAL = PaperConstants()
RUNS = {False: 300, True: 100}
"""Fits of each neighbour, by whether it is quick."""


class Solve(NamedTuple):
    """The last solve of one item, as whoever sees P and Q can redo it."""

    left: Floats
    """P'P + ridge."""
    right: Floats
    """P'y, y what is left of the item's ratings."""
    item: Floats
    """The item's published row of Q."""


def last_solve(made: Made, ratings: Ratings, item: int) -> Solve:
    """Of one item, if the ratings were these."""
    order = ratings.by_item
    cells = slice(order.ptr[item], order.ptr[item + 1])
    people = order.user[cells].astype(np.int64)
    value = (ratings.value[order.cell[cells]].astype(np.float64) - 3.0) * 1.0
    state = np.asarray(made.state.items, np.float64)
    kept = made.people[TRAINED]
    own = kept[people, 1:]
    rest = value - state[item, 0] - state[item, 1] - kept[people, 0]
    if made.model.shared.method == "mf-input-als":
        rest = np.clip(rest, -USUAL.residual, USUAL.residual)
    ridge = USUAL.ridge * len(people)
    left = own.T @ own + ridge * np.eye(own.shape[1])
    return Solve(left, own.T @ rest, state[item, 2 : 2 + own.shape[1]])


def by_objective(solve: Solve) -> Floats:
    """The linear term that would explain the item."""
    return solve.right - solve.left @ solve.item


def by_output(solve: Solve) -> Floats:
    """What would have been added to the solution."""
    return solve.item - np.linalg.solve(solve.left, solve.right)


def last_item(
    noise: Callable[[Solve], Floats],
    crowd: Callable[[], tuple[Ratings, int]],
    scale: Callable[[Claim, Ratings], float],
    **settings: Any,
) -> Callable[[Claim, Force], Seen]:
    """An attack on the published row of one item, given P: its noise has a known law, so the
    ratio of densities is exact."""

    def attack(claim: Claim, force: Force) -> Seen:
        here, cell = crowd()
        there = other(here, cell, 1.0)
        item = int(here.item[cell])
        spread = scale(claim, here)

        def ratios(ratings: Ratings) -> Iterator[float]:
            for _ in range(RUNS[force.quick]):
                made = printed(claim, ratings, **settings)
                ones = noise(last_solve(made, here, item))
                others = noise(last_solve(made, there, item))
                far = np.linalg.norm(others) - np.linalg.norm(ones)
                yield float(far / spread)

        first = np.fromiter(ratios(here), np.float64)
        second = np.fromiter(ratios(there), np.float64)
        won = play(first, second, delta=0.0, mistake=force.mistake)
        most = max(np.abs(first).max(), np.abs(second).max())
        return Seen(
            won.epsilon,
            f"largest loss of the last solve alone {most:.3g}, in {len(first)} fits each",
            f"{here.n_users} people rate an item, one of them 5 or 1",
        )

    return attack


def few() -> tuple[Ratings, int]:
    """Twelve people who all rate twelve items."""
    rng = np.random.default_rng(5)
    values = rng.integers(1, 6, (12, 12)).astype(float)
    values[0, 0] = 5.0
    return table(values), 0


def many() -> tuple[Ratings, int]:
    """An item that a thousand people rate, among a few others."""
    rng = np.random.default_rng(5)
    values = rng.integers(1, 6, (1000, 12)).astype(float)
    values[rng.random(values.shape) < 0.4] = np.nan
    values[:, 0] = rng.integers(1, 6, 1000)
    values[0, 0] = 5.0
    return table(values), 0


def objective_scale(claim: Claim, ratings: Ratings) -> float:
    """Of the linear term, divided by N as printed."""
    cells = len(ratings)
    ratio = USUAL.slack / (cells * USUAL.ridge)
    left = claim.epsilon - log(1 + 2 * ratio + ratio**2)
    if left <= 0:
        left = claim.epsilon / 2
    return OBJECTIVE_SPAN / left / cells


def output_scale(claim: Claim, ratings: Ratings) -> float:
    """Of what is added to the solution of the item that all rate."""
    per = 2 * USUAL.own_most * ERROR_SPAN / (ratings.n_users * USUAL.ridge)
    return per * 2 * USUAL.epochs / claim.epsilon


def input_scale(claim: Claim, ratings: Ratings) -> float:
    """The same of what is left after the averages, for ratings clamped to +-1."""
    span = 2 * USUAL.residual
    left = claim.epsilon * (1 - USUAL.averages_share)
    per = 2 * USUAL.own_most * span / (ratings.n_users * USUAL.ridge)
    return per * 2 * USUAL.epochs / left


def _biases(method: str, algorithm: str) -> Claim:
    return Claim(
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
    *(
        Claim(
            f"DPSAObj noise at {epsilon:g}",
            PAPER,
            "DPSAObj is epsilon-private by Chaudhuri et al., with noise b/N",
            f"{VALUE}; biases are nothing",
            "svd-objective",
            "value",
            epsilon,
            last_item(by_objective, few, objective_scale, **LEVEL),
            "false",
        )
        for epsilon in (0.1, 1.0)
    ),
    Claim(
        "DPSAOut noise",
        PAPER,
        "DPSAOut is epsilon-private over its k iterations",
        f"{VALUE}; biases are nothing",
        "svd-output",
        "value",
        1.0,
        last_item(by_output, many, output_scale, **LEVEL),
        "open",
    ),
    Claim(
        "PALS noise",
        "Berlioz et al. 2015",
        "PALS is epsilon-private, averages and all solves together",
        VALUE,
        "mf-input-als",
        "value",
        1.0,
        last_item(by_output, many, input_scale),
        "open",
    ),
    Claim(
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
