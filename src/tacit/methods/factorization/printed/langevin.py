"""Langevin dynamics as Wang & Tang print it for factorizations (DPPS-MF; Liu, Wang & Smola
2015): one sample of a posterior that they hold to be private."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.factorization.printed.biases import raw_biases
from tacit.methods.factorization.printed.form import (
    Printed,
    PrintedForm,
    epsilon_of,
    random_sides,
    table,
)
from tacit.rounds.printed import POSTERIOR
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
MOST_RATINGS = 200
"""tau: a person is trimmed to so many ratings."""
LOSS = 16.0 * MOST_RATINGS
"""B of the paper: (r_max - r_min)^2 tau."""
TEMPERATURE = 1e-3
STEP_DECAY = 0.3
"""rho, and the power by which steps shorten."""
FIRST_STEP = 3e-4
"""eps/(4B) x eta_1/2 x (number of ratings): with it eta_1 lies in the range that Wang &
Tang searched, at any eps."""


class LangevinSample(PrintedForm):
    """The last state of a chain, as if it had reached its stationary law."""

    reason = (
        "The temperature makes the stationary law sharper than the claim by a factor "
        "of 1/(4 rho), the loss is not "
        "clamped, the distance of a finite run from that law (delta) is not proved, "
        "and the biases are exact."
    )
    noise = "gaussian"
    kind = POSTERIOR

    def constants(self, public: Public) -> Printed:
        """Wang & Tang's settings for this baseline."""
        return Printed(
            self.settings.factors or 10,
            self.settings.epochs or 50,
            self.method.seed,
            ridge=0.05,
        )

    def draws(self, public: Public) -> int:
        """For both sides in every epoch. The people are as declared, which may be too few:
        twice as many draws are asked for, and `train` repeats them if it must."""
        printed = self.constants(public)
        people = public.schema.users or 1
        return printed.epochs * (2 * people + public.items) * printed.factors

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """theta <- theta + (eps/4B)(eta/2)(L x sum of gradients - ridge theta) + N(0, rho
        eta), eta = eta_1 t^-.3."""
        from tacit.methods.factorization.kernels_sgd import full_gradient

        printed = self.constants(public)
        biases = raw_biases(block, public.items, printed)
        own, factors = random_sides(len(block.ptr) - 1, public.items, printed)
        own_step = np.empty_like(own)
        step = np.empty_like(factors)
        base = biases.rest.astype(np.float32)
        cells = max(len(block.value), 1)
        scale = epsilon_of(public) / (4 * LOSS)
        first = FIRST_STEP * 2 / (scale * cells)
        given = (block.ptr, block.item, base, own, factors, MOST_RATINGS)
        for t, drawn in enumerate(np.array_split(draws, printed.epochs), 1):
            rate = first * t**-STEP_DECAY
            full_gradient(*given, own_step, step)
            noise = drawn * np.sqrt(TEMPERATURE * rate)
            for side, move in ((factors, step), (own, own_step)):
                side += (
                    scale
                    * rate
                    / 2
                    * (cells * move - printed.ridge * cells * side)
                )
                # People's own noise may repeat, where fewer were declared than came.
                side += np.resize(noise, side.size).reshape(side.shape)
                noise = noise[side.size :] if len(noise) > side.size else noise
        return table(biases.mean, biases.item, factors)
