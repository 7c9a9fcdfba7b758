"""Langevin steps for item factors: DPPS-MF (Liu, Wang & Smola 2015), a baseline of Wang & Tang."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.mf_base import FactorMethod, Settings, factor_plan, rule_width
from tacit.methods.mf_paper import Printed, paper_finish, printed_plan, raw_biases, start, table
from tacit.methods.mf_rounds import Learning
from tacit.methods.mf_sgd import CHANCE
from tacit.model.shared import Shared
from tacit.round import Block, Coin, Kind, Plan, State

Floats = NDArray[np.float64]
MOST_RATINGS = 200
"""tau: a person is trimmed to so many ratings."""
LOSS = 16.0 * MOST_RATINGS
"""B of the paper: (r_max - r_min)^2 tau."""
TEMPERATURE, STEP_DECAY = 1e-3, 0.3
FIRST_STEP = 3e-4
"""eps/(4B) x eta_1/2 x (number of ratings): with it eta_1 lies in the range that Wang & Tang searched, at any eps."""


class LangevinMF(FactorMethod):
    """`sound` (DP-SGLD): clipped gradients of whole people; the noise of the release is the noise of the chain.

    All iterates are released and paid for. The published factors are the mean of the chain after its first step,
    shrunk by its known noise; nothing is assumed about convergence.
    """

    name = "mf-langevin"
    source = "DPPS-MF in Wang & Tang; Liu, Wang & Smola 2015"
    calibrations = ("sound", "paper", "none")
    paper_unit = "user"
    twin = "svd"

    def sound_plan(self, public: Public) -> Plan:
        given = self.settings
        assert isinstance(given, Settings)
        width = rule_width(public, given.factors, self.most_factors)
        how = Learning(width, self.seed, second=0.0, gradient=True, chain=True)
        story = "The noise of each release is the noise of a Langevin step; the mean of the chain is published."
        return factor_plan(public, (how,) * (given.epochs or 5), "step", story, takes_part=Coin(CHANCE))

    def _printed(self) -> Printed:
        given = self.settings
        assert isinstance(given, Settings)
        return Printed(given.factors or 10, given.epochs or 50, self.seed, ridge=0.05)

    def paper_plan(self, public: Public) -> Plan:
        assert public.budget is not None
        epsilon, items, printed = public.budget.epsilon, public.items, self._printed()
        people = public.schema.users or 1

        def train(block: Block, tape: Floats) -> Floats:
            return _langevin(block, items, printed, epsilon, tape)

        reason = (
            "The temperature makes the stationary law sharper than the claim by a factor of 1/(4 rho), the loss is not "
            "clamped, the distance of a finite run from that law (delta) is not proved, and the biases are exact."
        )
        tape = printed.epochs * (2 * people + items) * printed.factors  # a declared number may be too small: see below
        return printed_plan(public, printed, train, tape, reason, noise="gaussian", kind=Kind.POSTERIOR)

    def paper_finish(self, public: Public, state: State) -> Shared:
        return paper_finish(self, public, self._printed(), state)


def _langevin(block: Block, items: int, printed: Printed, epsilon: float, tape: Floats) -> Floats:
    """theta <- theta + (eps/4B)(eta/2)(L x sum of gradients - ridge theta) + N(0, rho eta), eta = eta_1 t^-.3."""
    from tacit.kernels.sgd import full_gradient

    biases = raw_biases(block, items, printed)
    own, factors = start(len(block.ptr) - 1, items, printed)
    own_step, step = np.empty_like(own), np.empty_like(factors)
    base, cells = biases.rest.astype(np.float32), max(len(block.value), 1)
    scale = epsilon / (4 * LOSS)
    first = FIRST_STEP * 2 / (scale * cells)
    draws = iter(np.array_split(tape, printed.epochs))
    for t in range(1, printed.epochs + 1):
        rate = first * t**-STEP_DECAY
        full_gradient(block.ptr, block.item, base, own, factors, MOST_RATINGS, own_step, step)
        noise = next(draws) * np.sqrt(TEMPERATURE * rate)
        for side, move in ((factors, step), (own, own_step)):
            side += scale * rate / 2 * (cells * move - printed.ridge * cells * side)
            drawn = np.resize(noise, side.size)  # people's own noise may repeat where fewer were declared than came
            side += drawn.reshape(side.shape)
            noise = noise[side.size :] if len(noise) > side.size else noise
    return table(biases.mean, biases.item, factors)
