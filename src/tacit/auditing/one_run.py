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
from tacit.auditing.transcript import Transcript, read_transcript
from tacit.auditing.walk import Walk, walk
from tacit.data.ratings import Ratings
from tacit.errors import SettingError
from tacit.fitting.run import _Run
from tacit.methods.base import Method
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.units import Unit

Floats = NDArray[np.float64]
MOST_GUESSED = 0.55
"""Of all canaries, how many are guessed where noise is independent: of all shares this one
tells a small mu best (docs/proofs/audit.md, 2)."""
FEW_GUESSED = 0.05
"""The same where anything may depend on anything: only the surest guesses tell."""
FEW_SIGNED = 4
"""Well-known items of a canary where there is no matrix, but items have several numbers."""
LEAST_SIGNED = 4
"""Items of a signature at the least, where a matrix takes most of the budget."""
LEAST_FRESH = 1
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
class MeasuredEpsilons:
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
    method: Method, people: Ratings, shape: CanaryShape, unit: Unit, *, users: int | None = None
) -> OneRun:
    """Plant canaries among these people, toss their coins, and fit once."""
    declared = users or people.n_users + shape.people
    start_shape = shape if shape.fresh else shape.over(people.n_items)
    canaries = plant(people, unit, start_shape)
    plan = _Run(method, people, canaries.items, declared, None).settled.plan
    fitted = suited(shape, plan, people.n_items)
    if not fitted.fresh + fitted.signed:
        raise SettingError(
            f"canaries of {method.name} have no items: it sums no matrix over items that "
            "others rate too",
            remedy="give --fresh 1 or more",
        )
    if fitted != start_shape:
        canaries = plant(people, unit, fitted)
    # Fresh coins: they are the secret that is guessed.
    rng = np.random.default_rng(list(token_bytes(16)))
    coins = rng.random(canaries.people) < 0.5
    walked = walk(method, canaries.with_coins(coins), canaries.items, users=declared)
    return OneRun(canaries, coins, walked, read_transcript(walked, canaries))


def suited(shape: CanaryShape, plan: Plan, items: int) -> CanaryShape:
    """The shape that a plan's releases show best.

    A matrix is told by signatures as long as its rows allow, and then the fewer fresh items
    the more of the budget it takes: their noise would crowd its rows. Where items are told
    by several numbers each, a few well-known ones give a canary a taste.
    """
    grams = [part for _, part in plan.parts if part.form == "gram"]
    if not grams:
        wide = any(p.width > 1 and p.size > 1 for _, p in plan.parts)
        smaller_shape = replace(shape, signed=FEW_SIGNED)
        fits = wide and smaller_shape.prime * FEW_SIGNED <= items
        return smaller_shape if fits else shape
    rows = min(part.size for part in grams)
    share = min(sum(p.share for p in grams) / (plan.budget_share or 1.0), 1.0)
    fresh_share = min(2 * (1 - share), 1.0)
    fresh_floor = min(LEAST_FRESH, shape.fresh)
    fresh = max(fresh_floor, round(fresh_share * shape.fresh))
    centred = any(part.centred for part in grams)
    suited_shape = replace(shape, fresh=fresh).over(min(rows, items), centred=centred)
    if share > 0.5 and suited_shape.signed < LEAST_SIGNED:
        # Fewer canaries who can be seen are worth more than many who cannot.
        few_people = max(int(INSIDE * rows) // LEAST_SIGNED - 1, 2) ** 2
        smaller_shape = replace(suited_shape, people=min(few_people, shape.people))
        suited_shape = smaller_shape.over(rows, centred=centred)
    return suited_shape


def measure(
    transcript: Transcript, coins: NDArray[np.bool_], *, delta: float, mistake: float
) -> MeasuredEpsilons:
    """What the scores of a transcript prove."""
    guess_count = round(MOST_GUESSED * len(coins))
    guessed = guess(transcript.scores, coins, guess_count)
    # Half of the canaries move at least so far: a few that move less change little.
    median_move = float(np.median(transcript.moves))
    if transcript.pure:
        proven = PureCurve(least_epsilon(guessed, mistake)).epsilon(delta)
        reachable = PureCurve(median_move).epsilon(delta)
        return MeasuredEpsilons(proven, proven, guessed.right, guessed.made, reachable)
    surest_count = max(1, round(FEW_GUESSED * len(coins)))
    surest = guess(transcript.scores, coins, surest_count)
    return MeasuredEpsilons(
        GaussianCurve(least_mu(guessed, mistake)).epsilon(delta),
        GaussianCurve(least_mu_any(surest, mistake)).epsilon(delta),
        guessed.right,
        guessed.made,
        GaussianCurve(median_move).epsilon(delta),
    )
