"""Algorithms 1 and 2 of Wang & Tang as plans: claimed, not certified.

All pairs of items are learned; the N most similar of each item are kept afterwards. Where
the text leaves a choice, it is a setting; `reading=code` takes the steps of the program
that the authors published instead of those that are printed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from math import inf, sqrt
from typing import Any

import numpy as np

from tacit.bound import Rows
from tacit.methods.base import Form, Public
from tacit.methods.first_order.state import Floats
from tacit.methods.neighbourhood.neighbourhood import (
    ChainSettings,
    Learned,
    Neighborhood,
    NeighbourhoodSettings,
    SGDSettings,
)
from tacit.methods.neighbourhood.printed import (
    SPAN,
    error_limit,
    inclusion,
    langevin_step,
    loss_bound,
    most_similar,
    printed_sensitivity,
)
from tacit.methods.neighbourhood.printed.algorithm import Algorithm
from tacit.methods.neighbourhood.state import AllPairsState
from tacit.methods.neighbourhood.twin import as_rows
from tacit.model.person.neighbours import compress
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import POSTERIOR, STEPWISE, Claim, EpochKind
from tacit.rounds.round import Block, Round
from tacit.rounds.state import State

NO_FLOOR = 1e-9
"""C of Algorithm 2, which has none: stands for a positive divisor."""
NOISE = 0.9
"""Variance of a rating that the statement of a prediction's error assumes: the paper has none."""
RATE = 0.4
"""eta of Algorithm 1: like C and K in the ranges of section 5.1, and those of the authors'
published program."""
FLOOR = 10.0
"""C."""
STEPS = 10
"""K."""
LANGEVIN_RATE, LANGEVIN_STEPS = 8e-6, 300
"""eta_1 of Algorithm 2: the largest of section 5.1. Its K is not printed; the authors'
program runs 300."""
HELD = 40
"""In the authors' program steps of Algorithm 2 begin to fall after so many."""
ALGORITHM_1 = "the noise covers one number of the gradient; one rating moves whole rows of it"
"""Why Algorithm 1 is not certified."""
ALGORITHM_2 = (
    "the temperature divides epsilon, and no theorem bounds how far the chain is from its limit"
)
"""Why Algorithm 2 is not certified."""


class PrintedForm(Form):
    """What the two printed forms have in common."""

    method: Neighborhood
    settings: NeighbourhoodSettings

    @abstractmethod
    def algorithm(self, public: Public) -> Algorithm:
        """The constants of the algorithm."""

    @abstractmethod
    def step(self, algorithm: Algorithm, iteration: int) -> Round:
        """Step `iteration` of the algorithm."""

    @property
    def floor(self) -> float:
        """C, the least total similarity that predictions divide by."""
        return NO_FLOOR

    @property
    def published(self) -> bool:
        """Whether steps are those of the authors' program."""
        return self.settings.reading == "code"

    def story(self, epsilon: float) -> tuple[str, ...]:
        """What the paper says of its epsilon."""
        return ()

    def plan(self, public: Public) -> Plan:
        """The start, then the steps."""
        algorithm = self.algorithm(public)
        iterations = range(1, algorithm.rounds + 1)
        steps = (self.step(algorithm, iteration) for iteration in iterations)
        story = self.story(algorithm.epsilon)
        return Plan(public.unit, (algorithm.start(), *steps), story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return AllPairsState()

    def finish(self, public: Public, state: AllPairsState) -> Shared:
        """The most similar neighbours over item means alone: the paper's predictor knows no
        levels."""
        items = public.items
        learned = state.similarity
        if self.published:
            learned = (learned + learned.T) / 2
        arrays = {
            "baseline": state.baseline[:, 0],
            "variance": np.zeros(items),
            "loadings": np.zeros((items, 1)),
            "doubt": np.zeros(items),
            **compress(*most_similar(learned, self.settings.neighbours)),
        }
        return self.method.published(public, Learned(arrays, NOISE, NOISE, self.floor))

    def used(self, public: Public) -> dict[str, Any]:
        """Settings as they are used; those that the paper has no use for are left out."""
        algorithm = self.algorithm(public)
        settings = self.settings.model_dump(exclude={"items", "sampled"})
        return settings | {
            "neighbours": max(1, min(settings["neighbours"], public.items - 1)),
            "start": algorithm.start_from,
            "rounds": algorithm.rounds,
        }

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
            start_from=settings.start or "random",
            rescale=rescale,
            batch=1.0 if self.published else settings.batch,
            least=settings.least,
            most=most,
            published=self.published,
            kind=kind,
            epsilon=_epsilon(public),
            rounds=rounds if settings.rounds is None else settings.rounds,
            seed=self.method.seed,
            threads=self.method.threads,
        )


class DescentForm(PrintedForm):
    """Algorithm 1: noisy gradient descent."""

    settings: SGDSettings

    @property
    def floor(self) -> float:
        """C, of figure 2."""
        return self.settings.floor or FLOOR

    @property
    def rate(self) -> float:
        """Eta."""
        return self.settings.rate or RATE

    def algorithm(self, public: Public) -> Algorithm:
        """K steps from similarities times beta."""
        return self._algorithm(public, STEPWISE, STEPS, rescale=self.settings.rescale)

    def used(self, public: Public) -> dict[str, Any]:
        """With eta and C."""
        return {**super().used(public), "rate": self.rate, "floor": self.floor}

    def step(self, algorithm: Algorithm, iteration: int) -> Round:
        """Step t: S <- S - eta (beta (G + Laplace(gamma K dF/epsilon)) + lambda S)."""
        sensitivity = printed_sensitivity(iteration, self.floor)
        scale = algorithm.batch * algorithm.rounds * sensitivity / algorithm.epsilon
        move = self._move
        if self.published:
            # Its Laplace numbers have that standard deviation instead of that scale.
            scale /= sqrt(2)
            move = self._published_move

        def contribute(block: Block, state: AllPairsState) -> Mapping[str, Rows]:
            noise = block.draws["similarity"].reshape(state.similarity.shape)
            updated = move(algorithm, block, state, iteration, noise)
            return {"similarity": as_rows(updated)}

        claim = Claim("laplace", scale, algorithm.claimed, 0.0, ALGORITHM_1)
        return algorithm.step(iteration, claim, contribute)

    def _move(
        self,
        algorithm: Algorithm,
        block: Block,
        state: AllPairsState,
        iteration: int,
        noise: Floats,
    ) -> Floats:
        """Lines 5 to 7."""
        settings = self.settings
        slope = algorithm.gradient(
            block,
            state,
            iteration,
            floor=self.floor,
            clamp=error_limit(iteration),
            reach=SPAN if settings.paranoid == "left-out" else inf,
        )
        updated = state.similarity - self.rate * (
            settings.rescale * (slope + noise) + settings.decay * state.similarity
        )
        np.fill_diagonal(updated, 0.0)
        return np.asarray(updated)

    def _published_move(
        self,
        algorithm: Algorithm,
        block: Block,
        state: AllPairsState,
        iteration: int,
        noise: Floats,
    ) -> Floats:
        """Of symmetric similarities, beta times the pull to zero as well."""
        value = (state.similarity + state.similarity.T) / 2
        slope = algorithm.published_gradient(
            block, replace(state, similarity=value), floor=self.floor
        )
        settings = self.settings
        pull = settings.decay * value
        return np.asarray(value - self.rate * settings.rescale * (slope + pull + noise))


class LangevinForm(PrintedForm):
    """Algorithm 2: stochastic gradient Langevin dynamics."""

    settings: ChainSettings

    @property
    def rate(self) -> float:
        """eta_1."""
        return self.settings.rate or LANGEVIN_RATE

    def algorithm(self, public: Public) -> Algorithm:
        """A fixed number of steps, over at most tau random ratings of a person."""
        return self._algorithm(public, POSTERIOR, LANGEVIN_STEPS, most=self.settings.most)

    def used(self, public: Public) -> dict[str, Any]:
        """With eta_1."""
        return {**super().used(public), "rate": self.rate}

    def story(self, epsilon: float) -> tuple[str, ...]:
        """The paper quotes a mean over a person's ratings."""
        limit = self.settings.most
        quoted = f"{epsilon / limit:g} x {limit}: a mean over a person's ratings."
        return (f"The paper quotes this epsilon as {quoted}",)

    def length(self, iteration: int) -> float:
        """eta_t = eta_1 t^-xi."""
        if self.published and iteration <= HELD:
            return self.rate
        since = iteration - 1 if self.published else iteration
        return float(self.rate * since**-self.settings.falling)

    def step(self, algorithm: Algorithm, iteration: int) -> Round:
        """Step t, with noise of variance temperature x eta_t."""
        step = self.length(iteration)
        share = algorithm.epsilon / (4 * loss_bound(self.settings.most))
        spread = sqrt(self.settings.temperature * step)
        move = self._published_move if self.published else self._move

        def contribute(block: Block, state: AllPairsState) -> Mapping[str, Rows]:
            noise = block.draws["similarity"].reshape(state.similarity.shape)
            updated = move(algorithm, block, state, iteration, share, noise)
            return {"similarity": as_rows(updated)}

        claim = Claim("gaussian", spread, algorithm.claimed, 0.0, ALGORITHM_2)
        return algorithm.step(iteration, claim, contribute)

    def _move(
        self,
        algorithm: Algorithm,
        block: Block,
        state: AllPairsState,
        iteration: int,
        share: float,
        noise: Floats,
    ) -> Floats:
        """Line 5, with H of equation 12."""
        settings = self.settings
        value = state.similarity
        slope = algorithm.gradient(block, state, iteration, floor=NO_FLOOR)
        part, total = inclusion(state.counts[:, 0], algorithm.batch)
        prior = np.outer(part, part)
        np.subtract(1.0, prior, out=prior)
        np.divide(value, prior, out=prior)
        times = total if settings.times == "ratings" else 1.0
        slope *= times / algorithm.batch
        prior *= times * settings.decay
        updated = langevin_step(
            value, slope, prior, share=share, step=self.length(iteration), noise=noise
        )
        np.fill_diagonal(updated, 0.0)
        return updated

    def _published_move(
        self,
        algorithm: Algorithm,
        block: Block,
        state: AllPairsState,
        iteration: int,
        share: float,
        noise: Floats,
    ) -> Floats:
        """Noise first, then symmetry, then a whole step along the drift, H = 1."""
        value = state.similarity + noise
        value = (value + value.T) / 2
        slope = algorithm.published_gradient(
            block, replace(state, similarity=value), floor=NO_FLOOR
        )
        drift = slope + self.settings.decay * value
        times = float(state.counts.sum())
        return np.asarray(value - self.length(iteration) * share * times * drift)


def _epsilon(public: Public) -> float:
    """What the paper's claim is about."""
    assert public.budget is not None
    return public.budget.epsilon
