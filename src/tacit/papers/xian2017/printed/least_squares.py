"""Printed least squares with noise in the objective or on the output: DPSAObj and DPSAOut
(Xian et al. 2017, Algorithms 2 and 3), and PALS (Berlioz et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.kernels.order import ItemOrder
from tacit.methods.base import Public
from tacit.methods.factorization.svd import XianMethod
from tacit.papers.factors.form import (
    PaperConstants,
    PrintedFactors,
    epsilon_of,
    first_sides,
    knorm_rows,
    lifts,
    sizes_of,
    table,
)
from tacit.papers.xian2017.printed.biases import (
    Biases,
    averages_draws,
    noisy_averages,
    raw_biases,
)
from tacit.papers.xian2017.printed.descent import AVERAGES, leave, with_implicit
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
OBJECTIVE_SPAN = 2.0
"""Of the linear term in Algorithm 2, before it is divided by epsilon and the ratings."""
ERROR_SPAN = 4.0
"""How far one rating moves an error."""
SOLVES = ("factors", "epochs", "ridge", "stop", "start", "first", "people")
RAW = ("solve", "item_shrink", "own_shrink", "lift", "implicit_shrink")
MOST = ("own_most", "item_most", "enforce", "item_noise")
"""What a statement names of them."""


class SolveExtras(NamedTuple):
    """What a solve gets beside its ratings."""

    scale: Floats
    """Of the noise of each row."""
    ridge: float = 0.0
    """More of it, to make room for the noise."""


Scales = Callable[[bool, Ints], SolveExtras]
"""From the side (whether it is the people's) and its counts to what is added."""


class NoisySolves(PrintedFactors):
    """A paper of Xian et al. whose solves have no step for learned implicit factors."""

    method: XianMethod
    keeps_people = True

    def constants(self, public: Public) -> PaperConstants:
        """Those of Xian et al., with what is implicit."""
        return with_implicit(super().constants(public), self.method)

    def plan(self, public: Public) -> Plan:
        """One round, unless implicit factors were asked for."""
        if self.method.implicit_side == "learned":
            raise SettingError(
                f"the printed solves of {self.method.name} have no step for learned implicit "
                "factors",
                remedy="leave --set implicit=learned out, or use svdpp-gradient",
            )
        return super().plan(public)

    def draws(self, public: Public) -> int:
        """Those of every solve of every epoch."""
        return solve_draws(public, self.constants(public))


class NoisyObjective(NoisySolves):
    """DPSAObj: a random linear term in every solve, as printed (only the noise is divided
    by the number of ratings).

    Where the Jacobian alone would cost more than epsilon, the ridge grows and half of
    epsilon is left for the noise.
    """

    constants_used = (*SOLVES, *RAW, "slack", "over")
    reason = (
        "The loss is a sum but only the noise is divided by the number of ratings, the "
        "derivative of the loss and the "
        "factors are not bounded by 1, the budget is spent in every one of the solves, "
        "and the biases are exact."
    )

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Algorithm 2."""
        printed = self.constants(public)
        epsilon = epsilon_of(public)
        cells = sizes_of(public).cells
        over = cells if printed.over == "ratings" else sizes_of(public).people

        def added(user_side: bool, counts: Ints) -> SolveExtras:
            ratio = printed.slack / (cells * printed.ridge)
            remaining_epsilon = epsilon - log(1 + 2 * ratio + ratio**2)
            # What the Jacobian of the perturbation costs; a larger ridge, if it costs too much.
            extra = 0.0
            if remaining_epsilon <= 0:
                remaining_epsilon = epsilon / 2
                room = cells * (exp(epsilon / 4) - 1)
                extra = printed.slack / room - printed.ridge
            scale = np.full(len(counts), OBJECTIVE_SPAN / remaining_epsilon / over)
            return SolveExtras(scale, extra)

        biases = raw_biases(block, public.items, printed)
        return alternate(block, biases, printed, draws, added, inside=True)


class NoisyOutput(NoisySolves):
    """DPSAOut: a random vector added to every solution, sized by how far one rating would
    move it if both sides had the norms that the paper assumes."""

    constants_used = (*SOLVES, *RAW, *MOST)
    reason = (
        "The sensitivity of a solve assumes factors of norm .4 and .5 that nothing "
        "enforces (the noise alone exceeds "
        "them), and the biases are exact."
    )

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Algorithm 3."""
        printed = self.constants(public)
        biases = raw_biases(block, public.items, printed)
        scales = output_scales(printed, epsilon_of(public), ERROR_SPAN)
        return alternate(block, biases, printed, draws, scales, inside=False)


class PreprocessedOutput(PrintedFactors):
    """PALS: private averages, then output perturbation on clamped residuals."""

    keeps_people = True
    constants_used = (*SOLVES, *MOST, *AVERAGES)
    reason = "The sensitivity of a solve assumes factors of norm .4 and .5 that nothing enforces."

    def draws(self, public: Public) -> int:
        """For the averages, and those of every solve of every epoch."""
        average_draws = averages_draws(public.items, sizes_of(public).people)
        return average_draws + solve_draws(public, self.constants(public))

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Averages, then solves."""
        printed = self.constants(public)
        epsilon = epsilon_of(public)
        biases = noisy_averages(block, public.items, epsilon, draws, printed)
        remaining_epsilon = epsilon * (1 - printed.averages_share)
        scales = output_scales(printed, remaining_epsilon, 2 * printed.residual)
        remaining_draws = draws[averages_draws(public.items, sizes_of(public).people) :]
        return alternate(block, biases, printed, remaining_draws, scales, inside=False)


def solve_draws(public: Public, printed: PaperConstants) -> int:
    """K-norm noise for every row of both sides, in every epoch."""
    rows = sizes_of(public).people + public.items
    return printed.epochs * rows * 2 * printed.factors


def output_scales(printed: PaperConstants, epsilon: float, span: float) -> Scales:
    """The noise of Algorithm 3: what one rating is assumed to move a solution by."""

    def added(user_side: bool, counts: Ints) -> SolveExtras:
        norm_limit = printed.item_most if user_side else printed.own_most
        ridge = printed.ridge
        if not user_side and printed.item_noise == "lambda_1":
            ridge = printed.item_shrink
        per = 2 * norm_limit * span / (np.maximum(counts, 1) * ridge)
        return SolveExtras(per * 2 * printed.epochs / epsilon)

    return added


def alternate(
    block: Block,
    biases: Biases,
    printed: PaperConstants,
    draws: Floats,
    added: Scales,
    *,
    inside: bool,
) -> Floats:
    """k rounds of solving people, then items, each with its noise (`inside`: in the
    right-hand side; else after).

    `added` gives the noise of each row by side and counts. People's biases and vectors are
    left with them. May end early when the training error, which the paper reads without
    noise, settles.
    """
    from tacit.kernels.order import by_item

    people = len(block.ptr) - 1
    items = len(biases.item)
    user_factors, factors = first_sides(people, items, printed)
    order = by_item(block.ptr, block.item, items)
    user = np.repeat(np.arange(people), np.diff(block.ptr))
    of_people = 2 * printed.factors * people
    of_items = 2 * printed.factors * items
    previous_error = np.inf
    for epoch in range(printed.epochs):
        epoch_draws = draws[epoch * (of_people + of_items) :]
        # What the implicit term already explains is taken from the people's side.
        lifted = biases.lift[user] * factors.sum(axis=1)[block.item]
        side = Side(block.ptr, block.item, biases.rest - lifted)
        noise = added(True, np.diff(side.ptr))
        _solve(side, factors, printed, noise, epoch_draws, user_factors, inside=inside)
        _cut(user_factors, printed.own_most, printed)
        side, regressors = _items_side(order, biases, user_factors, printed)
        noise = added(False, np.diff(side.ptr))
        item_draws = epoch_draws[of_people:]
        _solve(side, regressors, printed, noise, item_draws, factors, inside=inside)
        _cut(factors, printed.item_most, printed)
        predicted = np.einsum(
            "nd,nd->n", (user_factors + biases.lift[:, None])[user], factors[block.item]
        )
        error = float(np.sqrt(np.mean((biases.rest - predicted) ** 2)))
        if not np.isfinite(error) or abs(previous_error - error) < printed.stop:
            break
        previous_error = error
    leave(block, biases, user_factors)
    return table(biases.mean, biases.item, np.nan_to_num(factors))


def _items_side(
    order: ItemOrder, biases: Biases, user_factors: Floats, printed: PaperConstants
) -> tuple[Side, Floats]:
    """What items are solved from: the minimum of equation 11, whose regressors are p_u and
    the implicit term; or equation 19, which has p_u alone and takes off, in its place, the
    term of the item's own count times P'P."""
    value = biases.rest[order.cell]
    if printed.solve == "objective" or not printed.lift:
        side = Side(order.ptr, order.person, value)
        return side, user_factors + biases.lift[:, None]
    counts = np.diff(order.ptr)
    lift = np.repeat(lifts(counts, printed.implicit_shrink), counts)
    offsets = lift * user_factors.sum(axis=1)[order.person]
    return Side(order.ptr, order.person, value - offsets), user_factors


def _cut(rows: Floats, limit: float, printed: PaperConstants) -> None:
    """Vectors no longer than the paper assumes, where that is enforced."""
    if printed.enforce:
        length = np.sqrt((rows**2).sum(axis=1))
        rows *= np.minimum(1.0, limit / np.maximum(length, 1e-300))[:, None]


@dataclass(frozen=True)
class Side:
    """Ratings by the rows that are solved."""

    ptr: Ints
    index: NDArray[np.uint32]
    """Of the other side."""
    value: Floats


def _solve(
    side: Side,
    other: Floats,
    printed: PaperConstants,
    added: SolveExtras,
    draws: Floats,
    out: Floats,
    *,
    inside: bool,
) -> None:
    """Every row of one side against the other, with its noise: `out` is written in place."""
    from tacit.kernels.als import half_step

    counts = np.diff(side.ptr)
    width = printed.factors
    noise = knorm_rows(draws, len(counts), width) * added.scale[:, None]
    row_ridge = printed.ridge * np.maximum(counts, 1) + added.ridge / 2
    ridge = np.repeat(row_ridge[:, None], width, 1)
    half_step(
        ptr=side.ptr,
        index=side.index,
        value=side.value,
        factors=other,
        ridge=ridge,
        start=0,
        stop=len(counts),
        out=out,
    )
    if inside:  # equations 18 and 19: less b/N, before the inverse
        out -= through(side.ptr, side.index, other, ridge, noise)
    else:
        out += noise


def through(
    ptr: Ints, index: NDArray[np.uint32], other: Floats, ridge: Floats, noise: Floats
) -> Floats:
    """(X'X + ridge)^-1 noise for every row: what a linear term in the objective adds to the
    solution."""
    from tacit.kernels.als import solve_rows

    out = np.empty_like(noise)
    solve_rows(ptr, index, other, ridge, noise, out)
    return out
