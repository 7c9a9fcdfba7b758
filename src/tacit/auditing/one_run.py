"""The audit of a whole fit in one run: canary people, each in or out by a fair coin, are
guessed from what the fit releases.

White box: from every released number (`tacit.auditing.transcript`). Black box: from the
published arrays alone, by a rule that is learned on one half of the canaries and used on the
other. What a number of right guesses proves: `tacit.auditing.guesses`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from secrets import token_bytes

import numpy as np
from numpy.typing import NDArray

from tacit.auditing.canaries import INSIDE, Canaries, CanaryShape, plant
from tacit.auditing.guesses import (
    GaussianCurve,
    PureCurve,
    guess,
    least_epsilon,
    least_mu,
    least_mu_any,
)
from tacit.auditing.transcript import Transcript, read
from tacit.auditing.walk import Walk, walk
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.methods.base import Method
from tacit.model.shared import Shared
from tacit.units import Unit

Floats = NDArray[np.float64]
MOST_GUESSED = 0.55
"""Of all canaries, how many are guessed where noise is independent: of all shares this one
tells a small mu best (docs/proofs/audit.md, 2)."""
FEW_GUESSED = 0.05
"""The same where anything may depend on anything: only the surest guesses tell."""
LEAST_SIGNED = 4
"""Items of a signature at the least, where a matrix takes most of the budget."""
LEAST_FRESH = 2
"""Fresh items of a canary where a matrix takes nearly all."""


@dataclass(frozen=True)
class OneRun:
    """A fit with canaries in it, and their coins."""

    canaries: Canaries
    coins: NDArray[np.bool_]
    walked: Walk
    transcript: Transcript

    @property
    def shared(self) -> Shared:
        """The published model."""
        run = self.walked.run
        return run.method.finish(run.settled.public, self.walked.last)


@dataclass(frozen=True)
class Measured:
    """Epsilons that the fit surely costs at its delta."""

    independent: float
    """If the noise of different numbers is independent, as the statement says."""
    any: float
    """Whatever depends on what."""
    right: int
    made: int
    reachable: float
    """What the canaries could show at best: the epsilon of their own moves under the noise
    that was charged."""


def run_once(
    method: Method,
    people: Ratings,
    shape: CanaryShape,
    unit: Unit,
    *,
    users: int | None = None,
) -> OneRun:
    """Plant canaries among these people, toss their coins, and fit once."""
    declared = users or people.n_users + shape.people
    canaries = plant(people, unit, shape)
    matrix = matrix_of(method, people, canaries.items, declared)
    if matrix is not None:
        canaries = plant(people, unit, suited(shape, matrix))
    # Fresh coins: they are the secret that is guessed.
    rng = np.random.default_rng(list(token_bytes(16)))
    coins = rng.random(canaries.people) < 0.5
    walked = walk(method, canaries.drawn(coins), canaries.items, users=declared)
    return OneRun(canaries, coins, walked, read(walked, canaries))


@dataclass(frozen=True)
class Matrix:
    """The smallest matrix of a plan."""

    rows: int
    share: float
    """Of the budget, what all matrices take."""


def matrix_of(
    method: Method, people: Ratings, items: Catalogue, users: int
) -> Matrix | None:
    """What a plan's matrices are like; None where it has none."""
    from tacit.fitting.run import _Run

    plan = _Run(method, people, items, users, None).settled.plan
    grams = [p for _, p in plan.parts if p.form == "gram"]
    if not grams:
        return None
    share = sum(p.share for p in grams) / (plan.whole or 1.0)
    return Matrix(min(p.size for p in grams), min(share, 1.0))


def suited(shape: CanaryShape, matrix: Matrix) -> CanaryShape:
    """Signatures as long as the matrix allows, and the fewer fresh items the more of the
    budget it takes: their noise would crowd its rows."""
    left = min(2 * (1 - matrix.share), 1.0)
    fresh = max(LEAST_FRESH, round(left * shape.fresh))
    made = replace(shape, fresh=fresh).over(matrix.rows)
    if matrix.share > 0.5 and made.signed < LEAST_SIGNED:
        # Fewer canaries who can be seen are worth more than many who cannot.
        few = max(int(INSIDE * matrix.rows) // LEAST_SIGNED - 1, 2)
        made = replace(made, people=min(few**2, shape.people))
        made = made.over(matrix.rows)
    return made


def measure(
    told: Transcript,
    coins: NDArray[np.bool_],
    *,
    delta: float,
    mistake: float,
) -> Measured:
    """What the scores of a transcript prove."""
    many = round(MOST_GUESSED * len(coins))
    found = guess(told.scores, coins, many)
    # Half of the canaries move at least so far: a few that move less change little.
    most = float(np.median(told.moves))
    if told.pure:
        proven = PureCurve(least_epsilon(found, mistake)).epsilon(delta)
        reachable = PureCurve(most).epsilon(delta)
        return Measured(proven, proven, found.right, found.made, reachable)
    few = max(1, round(FEW_GUESSED * len(coins)))
    surest = guess(told.scores, coins, few)
    return Measured(
        GaussianCurve(least_mu(found, mistake)).epsilon(delta),
        GaussianCurve(least_mu_any(surest, mistake)).epsilon(delta),
        found.right,
        found.made,
        GaussianCurve(most).epsilon(delta),
    )
