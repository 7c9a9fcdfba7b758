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
from tacit.methods.base import Public
from tacit.methods.factorization.printed.biases import (
    AVERAGES_SHARE,
    Biases,
    averages_draws,
    noisy_averages,
    raw_biases,
)
from tacit.methods.factorization.printed.descent import with_implicit
from tacit.methods.factorization.printed.form import (
    STOP,
    Printed,
    PrintedForm,
    epsilon_of,
    knorm_rows,
    random_sides,
    sizes_of,
    table,
)
from tacit.methods.factorization.svd import XianMethod
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SLACK = 2.0
"""C of Algorithm 2."""
OBJECTIVE_SPAN = 2.0
"""Of the linear term in Algorithm 2, before it is divided by epsilon and the ratings."""
OWN_MOST = 0.4
ITEM_MOST = 0.5
"""p_max and q_max: the norms that Algorithm 3 assumes."""
ERROR_SPAN = 4.0
RESIDUAL_SPAN = 2.0
"""How far one rating moves an error: of plain ratings, and of residuals clamped to +-1."""


class Added(NamedTuple):
    """What a solve gets beside its ratings."""

    scale: Floats
    """Of the noise of each row."""
    ridge: float = 0.0
    """More of it, to make room for the noise."""


Scales = Callable[[bool, Ints], Added]
"""From the side (whether it is the people's) and its counts to what is added."""


class NoisySolves(PrintedForm):
    """A paper of Xian et al. whose solves have no step for learned implicit factors."""

    method: XianMethod

    def constants(self, public: Public) -> Printed:
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
    by the number of ratings)."""

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

        def added(own: bool, counts: Ints) -> Added:
            ratio = SLACK / (cells * printed.ridge)
            left = epsilon - log(1 + 2 * ratio + ratio**2)
            # What the Jacobian of the perturbation costs; a larger ridge, if it costs too much.
            extra = 0.0
            if left <= 0:
                left = epsilon / 2
                extra = SLACK / (cells * (exp(epsilon / 4) - 1)) - printed.ridge
            scale = np.full(len(counts), OBJECTIVE_SPAN / left / cells)
            return Added(scale, max(extra, 0.0))

        biases = raw_biases(block, public.items, printed)
        return alternate(block, biases, printed, draws, added, inside=True)


class NoisyOutput(NoisySolves):
    """DPSAOut: a random vector added to every solution."""

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


class PreprocessedOutput(PrintedForm):
    """PALS: private averages, then output perturbation on clamped residuals."""

    reason = "The sensitivity of a solve assumes factors of norm .4 and .5 that nothing enforces."

    def draws(self, public: Public) -> int:
        """For the averages, and those of every solve of every epoch."""
        first = averages_draws(public.items, sizes_of(public).people)
        return first + solve_draws(public, self.constants(public))

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Averages, then solves."""
        printed = self.constants(public)
        epsilon = epsilon_of(public)
        biases = noisy_averages(block, public.items, epsilon, draws)
        left = epsilon * (1 - AVERAGES_SHARE)
        scales = output_scales(printed, left, RESIDUAL_SPAN)
        rest = draws[averages_draws(public.items, sizes_of(public).people) :]
        return alternate(block, biases, printed, rest, scales, inside=False)


def solve_draws(public: Public, printed: Printed) -> int:
    """K-norm noise for every row of both sides, in every epoch."""
    rows = sizes_of(public).people + public.items
    return printed.epochs * rows * 2 * printed.factors


def output_scales(printed: Printed, epsilon: float, span: float) -> Scales:
    """The noise of Algorithm 3: what one rating is assumed to move a solution by."""

    def added(own: bool, counts: Ints) -> Added:
        most = ITEM_MOST if own else OWN_MOST
        per = 2 * most * span / (np.maximum(counts, 1) * printed.ridge)
        return Added(per * 2 * printed.epochs / epsilon)

    return added


def alternate(
    block: Block,
    biases: Biases,
    printed: Printed,
    draws: Floats,
    added: Scales,
    *,
    inside: bool,
) -> Floats:
    """k rounds of solving people, then items, each with its noise (`inside`: in the
    right-hand side; else after)."""
    from tacit.kernels.order import by_item

    people = len(block.ptr) - 1
    items = len(biases.item)
    own, factors = (
        s.astype(np.float64) for s in random_sides(people, items, printed)
    )
    order = by_item(block.ptr, block.item, items)
    user = np.repeat(np.arange(people), np.diff(block.ptr))
    of_people = 2 * printed.factors * people
    of_items = 2 * printed.factors * items
    before = np.inf
    for epoch in range(printed.epochs):
        given = draws[epoch * (of_people + of_items) :]
        # What the implicit term already explains is taken from the people's side.
        lifted = biases.lift[user] * factors.sum(axis=1)[block.item]
        side = Side(block.ptr, block.item, biases.rest - lifted)
        noise = added(True, np.diff(side.ptr))
        _solve(side, factors, printed, noise, given, own, inside=inside)
        shown = own + biases.lift[:, None]
        side = Side(order.ptr, order.person, biases.rest[order.cell])
        noise = added(False, np.diff(side.ptr))
        _solve(
            side,
            shown,
            printed,
            noise,
            given[of_people:],
            factors,
            inside=inside,
        )
        told = np.einsum("nd,nd->n", shown[user], factors[block.item])
        error = float(np.sqrt(np.mean((biases.rest - told) ** 2)))
        if not np.isfinite(error) or abs(before - error) < STOP:
            break
        before = error
    return table(biases.mean, biases.item, np.nan_to_num(factors))


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
    printed: Printed,
    added: Added,
    draws: Floats,
    out: Floats,
    *,
    inside: bool,
) -> None:
    """Every row of one side against the other, with its noise."""
    from tacit.kernels.als import half_step

    counts = np.diff(side.ptr)
    width = printed.factors
    noise = knorm_rows(draws, len(counts), width) * added.scale[:, None]
    each = printed.ridge * np.maximum(counts, 1) + added.ridge / 2
    ridge = np.repeat(each[:, None], width, 1)
    half_step(
        side.ptr, side.index, side.value, other, ridge, 0, len(counts), out
    )
    out += (
        through(side.ptr, side.index, other, ridge, noise) if inside else noise
    )


def through(
    ptr: Ints,
    index: NDArray[np.uint32],
    other: Floats,
    ridge: Floats,
    noise: Floats,
) -> Floats:
    """(X'X + ridge)^-1 noise for every row: what a linear term in the objective adds to the
    solution."""
    from tacit.kernels.als import solve_rows

    out = np.empty_like(noise)
    solve_rows(ptr, index, other, ridge, noise, out)
    return out
