"""Algorithms 1 and 2 of Wang & Tang as plans: claimed, not certified."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from math import sqrt

import numpy as np

from tacit.bound import Rows
from tacit.methods.base import Form, Public
from tacit.methods.neighbourhood.neighbourhood import (
    LangevinSettings,
    Learned,
    Neighborhood,
    Settings,
    SGDSettings,
)
from tacit.methods.neighbourhood.printed import (
    MOST_RATINGS,
    SPAN,
    error_limit,
    inclusion,
    langevin_step,
    printed_sensitivity,
)
from tacit.methods.neighbourhood.printed.algorithm import Algorithm
from tacit.methods.neighbourhood.state import RowState
from tacit.methods.neighbourhood.twin import as_rows
from tacit.model.person.neighbours import compress
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import POSTERIOR, STEPWISE, Claim, EpochKind
from tacit.rounds.round import Block, Round
from tacit.rounds.state import State

NO_FLOOR = 1e-9
"""C of Algorithm 2, which has none: stands for a positive divisor."""
LOW_EPSILON = 5.0
"""Below it section 5.1 and figure 2 take the first of the two values that follow."""
RATE_LOW, RATE_HIGH = 0.4, 0.1
"""eta of Algorithm 1."""
FLOOR_LOW, FLOOR_HIGH = 15.0, 10.0
"""C of Algorithm 1."""
DESCENT_MOST, LANGEVIN_STEPS = 20, 20
"""K: of Algorithm 1 at most, fewer where less may be spent (section 5.1); of Algorithm 2."""
LANGEVIN_RATE = 8e-6
"""eta_1 of Algorithm 2."""
ALGORITHM_1 = "the noise covers one number of the gradient; one rating moves whole rows of it"
"""Why Algorithm 1 is not certified."""
ALGORITHM_2 = (
    "the temperature divides epsilon, and no theorem bounds how far the chain "
    "is from its limit"
)
"""Why Algorithm 2 is not certified."""


class PrintedForm(Form):
    """What the two printed forms have in common."""

    method: Neighborhood
    settings: Settings

    @abstractmethod
    def algorithm(self, public: Public) -> Algorithm:
        """The constants of the algorithm."""

    @abstractmethod
    def step(self, algorithm: Algorithm, turn: int) -> Round:
        """Step `turn` of the algorithm."""

    def floor(self, epsilon: float) -> float:
        """C, the least total similarity that predictions divide by."""
        return NO_FLOOR

    def story(self, epsilon: float) -> tuple[str, ...]:
        """What the paper says of its epsilon."""
        return ()

    def plan(self, public: Public) -> Plan:
        """The raw start, then the steps."""
        algorithm = self.algorithm(public)
        turns = range(1, algorithm.rounds + 1)
        steps = (self.step(algorithm, turn) for turn in turns)
        story = self.story(algorithm.epsilon)
        return Plan(public.unit, (algorithm.start(), *steps), story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return RowState()

    def finish(self, public: Public, state: RowState) -> Shared:
        """The neighbours over item means alone: the paper's predictor knows no levels."""
        items = public.items
        noise = float(state.noise[0, 0])
        arrays = {
            "baseline": state.baseline[:, 0],
            "variance": np.zeros(items),
            "loadings": np.zeros((items, 1)),
            "doubt": np.zeros(items),
            **compress(state.neighbour.astype(np.int64), state.similarity),
        }
        floor = self.floor(_epsilon(public))
        return self.method.published(
            public, Learned(arrays, noise, noise, floor)
        )

    def _algorithm(
        self,
        public: Public,
        kind: EpochKind,
        rounds: int,
        *,
        rescale: float = 1.0,
        most: int | None = None,
    ) -> Algorithm:
        """With what both algorithms take from settings and public facts."""
        settings = self.settings
        return Algorithm(
            items=public.items,
            neighbours=max(1, min(settings.neighbours, public.items - 1)),
            pearson=settings.start == "pearson",
            rescale=rescale,
            batch=settings.batch,
            most=most,
            kind=kind,
            epsilon=_epsilon(public),
            rounds=settings.rounds or rounds,
            seed=self.method.seed,
            threads=self.method.threads,
        )


class DescentForm(PrintedForm):
    """Algorithm 1: noisy gradient descent."""

    settings: SGDSettings

    def algorithm(self, public: Public) -> Algorithm:
        """Fewer steps where less may be spent (section 5.1)."""
        steps = int(np.clip(np.ceil(2 * _epsilon(public)), 1, DESCENT_MOST))
        return self._algorithm(
            public, STEPWISE, steps, rescale=self.settings.rescale
        )

    def floor(self, epsilon: float) -> float:
        """C, of figure 2."""
        ruled = FLOOR_LOW if epsilon < LOW_EPSILON else FLOOR_HIGH
        return self.settings.floor or ruled

    def step(self, algorithm: Algorithm, turn: int) -> Round:
        """Step t: S <- S - eta (beta (G + Laplace(gamma K dF/epsilon)) + lambda S)."""
        epsilon = algorithm.epsilon
        ruled = RATE_LOW if epsilon < LOW_EPSILON else RATE_HIGH
        rate = self.settings.rate or ruled
        floor = self.floor(epsilon)

        def contribute(block: Block, state: RowState) -> Mapping[str, Rows]:
            limit = error_limit(turn)
            slope = algorithm.gradient(
                block, state, turn, floor=floor, clamp=limit, reach=SPAN
            )
            slope += block.draws["similarity"].reshape(slope.shape)
            moved = state.similarity - rate * (
                algorithm.rescale * slope
                + self.settings.decay * state.similarity
            )
            return {
                "similarity": as_rows(
                    np.where(state.neighbour >= 0, moved, 0.0)
                )
            }

        sensitivity = printed_sensitivity(turn, floor)
        scale = algorithm.batch * algorithm.rounds * sensitivity / epsilon
        claim = Claim("laplace", scale, algorithm.claimed, 0.0, ALGORITHM_1)
        return algorithm.step(turn, claim, contribute)


class LangevinForm(PrintedForm):
    """Algorithm 2: stochastic gradient Langevin dynamics."""

    settings: LangevinSettings

    def algorithm(self, public: Public) -> Algorithm:
        """A fixed number of steps, over at most `MOST_RATINGS` ratings of a person."""
        return self._algorithm(
            public, POSTERIOR, LANGEVIN_STEPS, most=MOST_RATINGS
        )

    def story(self, epsilon: float) -> tuple[str, ...]:
        """The paper quotes a mean over a person's ratings."""
        each = epsilon / MOST_RATINGS
        quoted = f"{each:g} x {MOST_RATINGS}: a mean over a person's ratings."
        return (f"The paper quotes this epsilon as {quoted}",)

    def step(self, algorithm: Algorithm, turn: int) -> Round:
        """Step t, with eta_t = eta_1 t^-xi and noise of variance temperature x eta_t."""
        settings = self.settings
        step = (settings.rate or LANGEVIN_RATE) * turn**-settings.falling

        def contribute(block: Block, state: RowState) -> Mapping[str, Rows]:
            value = state.similarity
            slope = algorithm.gradient(block, state, turn, floor=NO_FLOOR)
            part, _ = inclusion(state.doubt[:, 0], algorithm.batch)
            chance = (
                1.0 - part[:, None] * part[state.neighbour.astype(np.int64)]
            )
            moved = langevin_step(
                value,
                slope / algorithm.batch,
                settings.decay * value / chance,
                epsilon=algorithm.epsilon,
                step=step,
                noise=block.draws["similarity"].reshape(value.shape),
            )
            return {
                "similarity": as_rows(
                    np.where(state.neighbour >= 0, moved, 0.0)
                )
            }

        spread = sqrt(settings.temperature * step)
        claim = Claim("gaussian", spread, algorithm.claimed, 0.0, ALGORITHM_2)
        return algorithm.step(turn, claim, contribute)


def _epsilon(public: Public) -> float:
    """What the paper's claim is about."""
    assert public.budget is not None
    return public.budget.epsilon
