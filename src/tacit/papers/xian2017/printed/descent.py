"""Printed gradient descent with noise on every error: DPSS and DPSS++ (Xian et al. 2017,
Algorithm 1), and the same after noisy averages (Berlioz et al. 2015: PSGD; DPSGD-MF in Wang
& Tang)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.factorization.svd import XianMethod
from tacit.papers.factors.form import (
    TRAINED,
    PaperConstants,
    PrintedFactors,
    epsilon_of,
    first_sides,
    sizes_of,
    table,
)
from tacit.papers.xian2017.printed.biases import (
    Biases,
    averages_draws,
    noisy_averages,
    raw_biases,
)
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
ERROR_SPAN = 4.0
"""How far one rating moves an error."""
DESCENT = (
    "factors",
    "epochs",
    "rate",
    "ridge",
    "error_limit",
    "update",
    "stop",
    "start",
    "first",
    "people",
)
RAW = ("item_shrink", "own_shrink", "lift", "implicit_shrink", "lifted")
AVERAGES = (
    "global_share",
    "item_share",
    "own_share",
    "averages_shrink",
    "averages_most",
    "residual",
)
"""What a statement names of them."""


class NoisyErrors(PrintedFactors):
    """DPSS: noise of scale 4k/epsilon on every error of each of k epochs, from raw biases.

    An error moves by at most the width of the scale if its rating changes, and is looked at
    k times.
    """

    method: XianMethod
    keeps_people = True
    constants_used = (*DESCENT, *RAW)
    reason = (
        "Mean and biases are computed from raw ratings and needed to predict, so "
        "publishing them bounds nothing; "
        "given public biases the noise on errors would be right for the value of one rating."
    )

    def constants(self, public: Public) -> PaperConstants:
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


class PreprocessedDescent(PrintedFactors):
    """PSGD: private averages, then gradient steps on clamped residuals with noise on every
    error, as in DPSS but for the span of a clamped residual."""

    keeps_people = True
    constants_used = (*DESCENT, *AVERAGES)
    reason = (
        "The noise is sized for the value of one rating with all counts public, and the "
        "clamp to +-2 comes after the "
        "noise; the sums behind the averages use floating point in the paper. Nothing "
        "protects who rated what."
    )

    def draws(self, public: Public) -> int:
        """For the averages, and one for each rating of each epoch."""
        average_draws = averages_draws(public.items, sizes_of(public).people)
        return average_draws + self.constants(public).epochs * sizes_of(public).cells

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Averages, then descent."""
        printed = self.constants(public)
        items = public.items
        epsilon = epsilon_of(public)
        biases = noisy_averages(block, items, epsilon, draws, printed)
        remaining_epsilon = epsilon * (1 - printed.averages_share)
        scale = printed.epochs * 2 * printed.residual / remaining_epsilon
        remaining_draws = draws[averages_draws(items, sizes_of(public).people) :]
        return descend(block, biases, printed, items, scale, remaining_draws)


class WangTangDescent(PreprocessedDescent):
    """The same with Wang & Tang's settings for this baseline, where they name one value or
    the middle of a range."""

    def constants(self, public: Public) -> PaperConstants:
        """15 factors, 30 epochs, a slower rate and a smaller ridge."""
        usual = PaperConstants(15, 30, self.method.seed, rate=6e-4, ridge=0.02)
        return usual.overridden(self.settings)


def with_implicit(printed: PaperConstants, method: XianMethod) -> PaperConstants:
    """The constants, and how SVD++ uses that somebody rated."""
    return replace(
        printed, lift=method.implicit_side == "scalar", learned=method.implicit_side == "learned"
    )


def descend(
    block: Block, biases: Biases, printed: PaperConstants, items: int, scale: float, draws: Floats
) -> Floats:
    """Algorithm 1: noise of `scale` on every error of every epoch, clamped, then the two steps.

    People's biases and factors are left with them. May end early when the training error,
    which the paper reads without noise, settles.
    """
    sides = first_sides(len(block.ptr) - 1, items, printed)
    if printed.learned:
        return _descend_learned(block, biases, printed, sides, scale, draws)
    from tacit.papers.factors.kernels import noisy_epoch

    user_factors, factors = sides
    previous_error = np.inf
    for added in _by_epoch(draws, len(biases.rest), printed):
        total = noisy_epoch(
            ptr=block.ptr,
            item=block.item,
            base=biases.rest,
            lift=biases.lift,
            user_factors=user_factors,
            factors=factors,
            rate=printed.rate,
            ridge=printed.ridge,
            limit=printed.error_limit,
            lifted=printed.lifted,
            in_turn=printed.update == "in turn",
            noise=scale * added,
        )
        error = float(np.sqrt(total / max(len(biases.rest), 1)))
        if abs(previous_error - error) < printed.stop:
            break
        previous_error = error
    leave(block, biases, user_factors)
    return table(biases.mean, biases.item, factors)


def leave(block: Block, biases: Biases, user_factors: Floats) -> None:
    """People's biases and vectors stay on their side."""
    if TRAINED in block.personal:
        block.personal[TRAINED][:] = np.hstack([biases.own[:, None], user_factors])


def _by_epoch(draws: Floats, cells: int, printed: PaperConstants) -> Iterator[Floats]:
    return (draws[epoch * cells : (epoch + 1) * cells] for epoch in range(printed.epochs))


def _descend_learned(
    block: Block,
    biases: Biases,
    printed: PaperConstants,
    sides: tuple[Floats, Floats],
    scale: float,
    draws: Floats,
) -> Floats:
    """The same with implicit factors of Koren 2008, which the paper does not print; in single
    precision, as the twin learns them."""
    from tacit.kernels.svdpp import noisy_plus_epoch

    user_factors, factors = (side.astype(np.float32) for side in sides)
    implicit = np.zeros_like(factors)
    previous_error = np.inf
    for added in _by_epoch(draws, len(biases.rest), printed):
        total = noisy_plus_epoch(
            ptr=block.ptr,
            item=block.item,
            base=biases.rest.astype(np.float32),
            user_factors=user_factors,
            factors=factors,
            implicit=implicit,
            rate=printed.rate,
            ridge=printed.ridge,
            limit=printed.error_limit,
            noise=scale * added,
        )
        error = float(np.sqrt(total / max(len(biases.rest), 1)))
        if abs(previous_error - error) < printed.stop:
            break
        previous_error = error
    return table(biases.mean, biases.item, np.hstack([factors, implicit]))
