"""Noisy gradients of item factors from whole people drawn by a secret coin: the baselines
of Wang & Tang.

DPSGD-MF takes steps; DPPS-MF (Liu, Wang & Smola 2015) takes Langevin steps and publishes
the mean of the chain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.factorization.base import FactorMethod
from tacit.methods.factorization.printed.descent import (
    Printed,
    preprocessed_descent,
    printed_plan,
    raw_biases,
    start,
    table,
)
from tacit.rounds.people import Coin
from tacit.rounds.plan import Plan
from tacit.rounds.printed import POSTERIOR
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
CHANCE = 0.8
"""Of taking part in a round. Fewer people a round would pay only with many more rounds."""
MOST_RATINGS = 200
"""tau: a person is trimmed to so many ratings."""
LOSS = 16.0 * MOST_RATINGS
"""B of the paper: (r_max - r_min)^2 tau."""
TEMPERATURE, STEP_DECAY = 1e-3, 0.3
FIRST_STEP = 3e-4
"""eps/(4B) x eta_1/2 x (number of ratings): with it eta_1 lies in the range that Wang &
Tang searched, at any eps."""


class GradientMF(FactorMethod):
    """Each round everyone who takes part adds her gradient; empirical Bayes sizes the step,
    so noise makes it small."""

    name = "mf-sgd"
    source = "DPSGD-MF in Wang & Tang; Berlioz et al. 2015"
    calibrations = ("sound", "paper", "none")
    paper_unit = "value"
    twin = "svd"

    def sound_plan(self, public: Public) -> Plan:
        steps = (self.learning(public, second=0.0, gradient=True),) * (
            self.chosen.epochs or 3
        )
        story = (
            "Whole people take part in a gradient round by a secret coin; who did is "
            "never released."
        )
        return self.factor_plan(public, steps, "gradient", story, Coin(CHANCE))

    def printed(self, public: Public) -> Printed:
        """Wang & Tang's settings for this baseline, where they name one value or the middle
        of a range."""
        return Printed(
            self.chosen.factors or 15,
            self.chosen.epochs or 30,
            self.seed,
            rate=6e-4,
            ridge=0.02,
        )

    def paper_plan(self, public: Public) -> Plan:
        return preprocessed_descent(public, self.printed(public))


class LangevinMF(FactorMethod):
    """`sound` (DP-SGLD): clipped gradients of whole people; the noise of the release is the
    noise of the chain.

    All iterates are released and paid for. The published factors are the mean of the chain
    after its first step, shrunk by its known noise; nothing is assumed about convergence.
    """

    name = "mf-langevin"
    source = "DPPS-MF in Wang & Tang; Liu, Wang & Smola 2015"
    calibrations = ("sound", "paper", "none")
    paper_unit = "user"
    twin = "svd"

    def sound_plan(self, public: Public) -> Plan:
        steps = (self.learning(public, second=0.0, gradient=True, chain=True),) * (
            self.chosen.epochs or 5
        )
        story = (
            "The noise of each release is the noise of a Langevin step; the mean of "
            "the chain is published."
        )
        return self.factor_plan(public, steps, "step", story, Coin(CHANCE))

    def printed(self, public: Public) -> Printed:
        return Printed(
            self.chosen.factors or 10, self.chosen.epochs or 50, self.seed, ridge=0.05
        )

    def paper_plan(self, public: Public) -> Plan:
        assert public.budget is not None
        epsilon = public.budget.epsilon
        items = public.items
        printed = self.printed(public)
        people = public.schema.users or 1

        def train(block: Block, tape: Floats) -> Floats:
            return _langevin(block, items, printed, epsilon, tape)

        reason = (
            "The temperature makes the stationary law sharper than the claim by a factor "
            "of 1/(4 rho), the loss is not "
            "clamped, the distance of a finite run from that law (delta) is not proved, "
            "and the biases are exact."
        )
        tape = (
            printed.epochs * (2 * people + items) * printed.factors
        )  # a declared number may be too small: see below
        return printed_plan(
            public, printed, train, tape, reason, noise="gaussian", kind=POSTERIOR
        )


def _langevin(
    block: Block, items: int, printed: Printed, epsilon: float, tape: Floats
) -> Floats:
    """theta <- theta + (eps/4B)(eta/2)(L x sum of gradients - ridge theta) + N(0, rho eta),
    eta = eta_1 t^-.3."""
    from tacit.methods.factorization.kernels_sgd import full_gradient

    biases = raw_biases(block, items, printed)
    own, factors = start(len(block.ptr) - 1, items, printed)
    own_step, step = np.empty_like(own), np.empty_like(factors)
    base, cells = biases.rest.astype(np.float32), max(len(block.value), 1)
    scale = epsilon / (4 * LOSS)
    first = FIRST_STEP * 2 / (scale * cells)
    draws = iter(np.array_split(tape, printed.epochs))
    for t in range(1, printed.epochs + 1):
        rate = first * t**-STEP_DECAY
        full_gradient(
            block.ptr, block.item, base, own, factors, MOST_RATINGS, own_step, step
        )
        noise = next(draws) * np.sqrt(TEMPERATURE * rate)
        for side, move in ((factors, step), (own, own_step)):
            side += scale * rate / 2 * (cells * move - printed.ridge * cells * side)
            drawn = np.resize(
                noise, side.size
            )  # people's own noise may repeat where fewer were declared than came
            side += drawn.reshape(side.shape)
            noise = noise[side.size :] if len(noise) > side.size else noise
    return table(biases.mean, biases.item, factors)
