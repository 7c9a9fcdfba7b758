"""Printed least squares: noise in the objective or on the output (Xian et al. 2017, PALS,
Hua et al. S1)."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.factorization.printed.descent import (
    PREPROCESS,
    STOP,
    Biases,
    Printed,
    _sizes,
    knorm_rows,
    preprocess,
    printed_plan,
    raw_biases,
    start,
    table,
)
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
Scales = Callable[[int, NDArray[np.int64]], tuple[Floats, float]]
"""From the side (0 people, 1 items) and its counts to the scale of each row's noise, and
extra ridge."""
SLACK = 2.0
"""C of Algorithm 2."""
OWN_MOST, ITEM_MOST = 0.4, 0.5
"""p_max and q_max."""


def objective_plan(public: Public, printed: Printed) -> Plan:
    """DPSAObj: a random linear term in every solve, as printed (only the noise is divided
    by the number of ratings)."""
    assert public.budget is not None
    epsilon = public.budget.epsilon
    cells, people = _sizes(public)

    def noise_of(side: int, counts: NDArray[np.int64]) -> tuple[Floats, float]:
        ratio = SLACK / (cells * printed.ridge)
        left = epsilon - log(1 + 2 * ratio + ratio**2)
        extra = 0.0
        if left <= 0:
            left, extra = (
                epsilon / 2,
                SLACK / (cells * (exp(epsilon / 4) - 1)) - printed.ridge,
            )
        return np.full(len(counts), 2.0 / left / cells), max(extra, 0.0)

    def train(block: Block, tape: Floats) -> Floats:
        return _alternate(
            block,
            raw_biases(block, public.items, printed),
            printed,
            public.items,
            tape,
            noise_of,
            inside=True,
        )

    reason = (
        "The loss is a sum but only the noise is divided by the number of ratings, the "
        "derivative of the loss and the "
        "factors are not bounded by 1, the budget is spent in every one of the solves, "
        "and the biases are exact."
    )
    return printed_plan(public, printed, train, _tape(public, printed, people), reason)


def output_plan(public: Public, printed: Printed) -> Plan:
    """DPSAOut: a random vector added to every solution."""
    assert public.budget is not None
    epsilon = public.budget.epsilon
    _, people = _sizes(public)

    def train(block: Block, tape: Floats) -> Floats:
        biases = raw_biases(block, public.items, printed)
        scales = _output_scales(printed, epsilon, 4.0)
        return _alternate(
            block, biases, printed, public.items, tape, scales, inside=False
        )

    reason = (
        "The sensitivity of a solve assumes factors of norm .4 and .5 that nothing "
        "enforces (the noise alone exceeds "
        "them), and the biases are exact."
    )
    return printed_plan(public, printed, train, _tape(public, printed, people), reason)


def preprocessed_output_plan(public: Public, printed: Printed) -> Plan:
    """PALS: private averages, then output perturbation on clamped residuals."""
    assert public.budget is not None
    epsilon = public.budget.epsilon
    _, people = _sizes(public)
    head = 1 + public.items + people
    first = (
        4.0 / (epsilon * PREPROCESS[0]),
        4.0 / (epsilon * PREPROCESS[1]),
        4.0 / (epsilon * PREPROCESS[2]),
    )

    def train(block: Block, tape: Floats) -> Floats:
        biases = preprocess(block, public.items, first, tape)
        scales = _output_scales(printed, epsilon * (1 - sum(PREPROCESS)), 2.0)
        return _alternate(
            block, biases, printed, public.items, tape[head:], scales, inside=False
        )

    reason = "The sensitivity of a solve assumes factors of norm .4 and .5 that nothing enforces."
    return printed_plan(
        public, printed, train, head + _tape(public, printed, people), reason
    )


def _tape(public: Public, printed: Printed, people: int) -> int:
    return printed.epochs * (people + public.items) * 2 * printed.factors


def _output_scales(printed: Printed, epsilon: float, width: float) -> Scales:
    def noise_of(side: int, counts: NDArray[np.int64]) -> tuple[Floats, float]:
        most = ITEM_MOST if side == 0 else OWN_MOST
        per = 2 * most * width / (np.maximum(counts, 1) * printed.ridge)
        return per * 2 * printed.epochs / epsilon, 0.0

    return noise_of


def _alternate(
    block: Block,
    biases: Biases,
    printed: Printed,
    items: int,
    tape: Floats,
    noise_of: Scales,
    *,
    inside: bool,
) -> Floats:
    """k rounds of solving people, then items, each with its noise (`inside`: in the
    right-hand side; else after)."""
    from tacit.kernels.als import half_step
    from tacit.kernels.order import by_item

    people, d = len(block.ptr) - 1, printed.factors
    own, factors = (side.astype(np.float64) for side in start(people, items, printed))
    ptr, person, cell = by_item(block.ptr, block.item, items)
    user = np.repeat(np.arange(people), np.diff(block.ptr))
    at, before = 0, np.inf
    for _ in range(printed.epochs):
        for side, starts in ((0, block.ptr), (1, ptr)):
            counts = np.diff(starts)
            scale, extra = noise_of(side, counts)
            noise = knorm_rows(tape[at:], len(counts), d) * scale[:, None]
            at += 2 * d * len(counts)
            ridge = np.repeat(
                (printed.ridge * np.maximum(counts, 1) + extra / 2)[:, None], d, 1
            )
            shown = factors + 0.0 if side == 0 else own + biases.lift[:, None]
            rest = biases.rest
            if side == 0:  # what the implicit term already explains
                rest = rest - biases.lift[user] * factors.sum(axis=1)[block.item]
            index, value = (block.item, rest) if side == 0 else (person, rest[cell])
            out = own if side == 0 else factors
            half_step(starts, index, value, shown, ridge, 0, len(counts), out)
            out += _through(starts, index, shown, ridge, noise) if inside else noise
        predicted = np.einsum(
            "nd,nd->n", (own + biases.lift[:, None])[user], factors[block.item]
        )
        error = float(np.sqrt(np.mean((biases.rest - predicted) ** 2)))
        if not np.isfinite(error) or abs(before - error) < STOP:
            break
        before = error
    return table(biases.mean, biases.item, np.nan_to_num(factors))


def _through(
    ptr: NDArray[np.int64],
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


def hua_plan(public: Public, printed: Printed, *, laplace: bool) -> Plan:
    """S1: factorize, keep the people fixed, then solve the items with a random linear term
    of scale 2 Delta/epsilon.

    K-norm noise by Theorem 1; `laplace`: per coordinate, scale 2 Delta sqrt(d)/epsilon, by Lemma 1.
    """
    assert public.budget is not None
    epsilon = public.budget.epsilon
    items = public.items
    d = printed.factors

    def train(block: Block, tape: Floats) -> Floats:
        from tacit.kernels.als import half_step
        from tacit.kernels.order import by_item

        people = len(block.ptr) - 1
        rng = np.random.default_rng(printed.seed)
        factors = rng.standard_normal((items, d))
        factors /= np.sqrt((factors**2).sum(axis=1))[:, None]
        own = np.zeros((people, d))
        ptr, person, cell = by_item(block.ptr, block.item, items)
        value = (
            block.value + 2.0
        )  # plain products of factors model the rating itself, from 0 up
        ridges = [np.full((rows, d), printed.own_ridge) for rows in (people, items)]
        for _ in range(printed.epochs):
            half_step(block.ptr, block.item, value, factors, ridges[0], 0, people, own)
            half_step(ptr, person, value[cell], own, ridges[1], 0, items, factors)
        half_step(block.ptr, block.item, value, factors, ridges[0], 0, people, own)
        noise = (
            np.sqrt(d) * tape[: items * d].reshape(items, d)
            if laplace
            else knorm_rows(tape, items, d)
        )
        half_step(ptr, person, value[cell], own, ridges[1], 0, items, factors)
        factors -= _through(
            ptr, person, own, ridges[1], noise * (2 * 4.0 / epsilon) / 2
        )
        return table(-2.0, np.zeros(items), factors)

    reason = (
        "The proof holds the people's vectors fixed and at most of norm 1; they come from "
        "the same ratings and grow "
        "past 1; with them the left-hand sides move too, so no finite epsilon follows."
    )
    return printed_plan(
        public, printed, train, items * d * (1 if laplace else 2), reason
    )
