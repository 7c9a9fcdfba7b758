"""Printed gradient descent with noise on every error: DPSS and DPSS++ (Xian et al. 2017,
Algorithm 1), and the same after noisy averages (Berlioz et al. 2015: PSGD; DPSGD-MF in Wang
& Tang)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.factorization.printed.biases import (
    AVERAGES_SHARE,
    Biases,
    averages_draws,
    noisy_averages,
    raw_biases,
)
from tacit.methods.factorization.printed.form import (
    STOP,
    Printed,
    PrintedForm,
    epsilon_of,
    random_sides,
    sizes_of,
    table,
)
from tacit.methods.factorization.svd import XianMethod
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
ERROR_LIMIT = 2.0
"""Noisy errors are clamped to +-this."""
ERROR_SPAN = 4.0
"""How far one rating moves an error."""
RESIDUAL_SPAN = 2.0
"""The same of a residual that was clamped to +-1."""


class NoisyErrors(PrintedForm):
    """DPSS: noise of scale 4k/epsilon on every error of every epoch, from raw biases."""

    method: XianMethod
    reason = (
        "Mean and biases are computed from raw ratings and needed to predict, so "
        "publishing them bounds nothing; "
        "given public biases the noise on errors would be right for the value of one rating."
    )

    def constants(self, public: Public) -> Printed:
        """Those of Xian et al., with what is implicit."""
        return with_implicit(super().constants(public), self.method)

    def draws(self, public: Public) -> int:
        """One for each rating of each epoch."""
        return self.constants(public).epochs * sizes_of(public).cells

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Algorithm 1."""
        printed = self.constants(public)
        scale = printed.epochs * ERROR_SPAN / epsilon_of(public)
        biases = raw_biases(block, public.items, printed)
        return descend(block, biases, printed, public.items, scale, draws)


class PreprocessedDescent(PrintedForm):
    """PSGD: private averages, then gradient steps on clamped residuals with noise on every
    error."""

    reason = (
        "The noise is sized for the value of one rating with all counts public, and the "
        "clamp to +-2 comes after the "
        "noise; the sums behind the averages use floating point in the paper. Nothing "
        "protects who rated what."
    )

    def draws(self, public: Public) -> int:
        """For the averages, and one for each rating of each epoch."""
        first = averages_draws(public.items, sizes_of(public).people)
        return first + self.constants(public).epochs * sizes_of(public).cells

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Averages, then descent."""
        printed = self.constants(public)
        items = public.items
        epsilon = epsilon_of(public)
        biases = noisy_averages(block, items, epsilon, draws)
        scale = (
            printed.epochs * RESIDUAL_SPAN / (epsilon * (1 - AVERAGES_SHARE))
        )
        rest = draws[averages_draws(items, sizes_of(public).people) :]
        return descend(block, biases, printed, items, scale, rest)


class WangTangDescent(PreprocessedDescent):
    """The same with Wang & Tang's settings for this baseline, where they name one value or
    the middle of a range."""

    def constants(self, public: Public) -> Printed:
        """15 factors, 30 epochs, a slower rate and a smaller ridge."""
        return Printed(
            self.settings.factors or 15,
            self.settings.epochs or 30,
            self.method.seed,
            rate=6e-4,
            ridge=0.02,
        )


def with_implicit(printed: Printed, method: XianMethod) -> Printed:
    """The constants, and how SVD++ uses that somebody rated."""
    return replace(
        printed,
        lift=method.implicit_side == "scalar",
        learned=method.implicit_side == "learned",
    )


def descend(
    block: Block,
    biases: Biases,
    printed: Printed,
    items: int,
    scale: float,
    draws: Floats,
) -> Floats:
    """Algorithm 1: noise of `scale` on every error of every epoch, clamped, then the two steps."""
    from tacit.methods.factorization.kernels_sgd import noisy_epoch
    from tacit.methods.factorization.kernels_svdpp import noisy_plus_epoch

    own, factors = random_sides(len(block.ptr) - 1, items, printed)
    implicit = np.zeros_like(factors)
    base = biases.rest.astype(np.float32)
    lift = biases.lift.astype(np.float32)
    cells = len(base)
    before = np.inf
    for epoch in range(printed.epochs):
        added = scale * draws[epoch * cells : (epoch + 1) * cells]
        given = (block.ptr, block.item, base)
        how = (printed.rate, printed.ridge, ERROR_LIMIT)
        if printed.learned:
            total = noisy_plus_epoch(
                *given, own, factors, implicit, *how, added
            )
        else:
            total = noisy_epoch(*given, lift, own, factors, *how, added)
        error = float(np.sqrt(total / max(cells, 1)))
        if abs(before - error) < STOP:
            break
        before = error
    learned = np.hstack([factors, implicit]) if printed.learned else factors
    return table(biases.mean, biases.item, learned)
