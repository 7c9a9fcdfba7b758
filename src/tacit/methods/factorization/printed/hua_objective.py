"""Hua, Xia & Zhong 2015, S1 as printed: a factorization whose items are solved once more with
a random linear term."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.factorization.objective import Settings
from tacit.methods.factorization.printed.form import (
    Printed,
    PrintedForm,
    epsilon_of,
    knorm_rows,
    table,
)
from tacit.methods.factorization.printed.least_squares import through
from tacit.methods.factorization.value import cells_of
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
RIDGE = 0.001
"""lambda = mu, of a mean over all ratings."""
OFFSET = 2.0
"""Plain products of factors model the rating itself, from 0 up; inside, mid-scale is 0."""
SPAN = 4.0
"""Delta: width of the scale."""


class PerturbedObjective(PrintedForm):
    """Factorize, keep the people fixed, then solve the items with a random linear term of
    scale 2 Delta/epsilon.

    K-norm noise by Theorem 1; `noise=laplace`: per coordinate, scale 2 Delta sqrt(d)/epsilon,
    by Lemma 1.
    """

    settings: Settings
    reason = (
        "The proof holds the people's vectors fixed and at most of norm 1; they come from "
        "the same ratings and grow "
        "past 1; with them the left-hand sides move too, so no finite epsilon follows."
    )

    def constants(self, public: Public) -> Printed:
        """lambda = mu = .001 of a mean over M ratings: a ridge of .001 M. At `value` M is
        public."""
        return Printed(
            self.settings.factors or 50,
            self.settings.epochs or 10,
            self.method.seed,
            ridge=0.0,
            own_ridge=RIDGE * cells_of(public),
        )

    @property
    def laplace(self) -> bool:
        """Whether the noise is that of Lemma 1."""
        return self.settings.noise == "laplace"

    def draws(self, public: Public) -> int:
        """For one solve of all items."""
        numbers = public.items * self.constants(public).factors
        return numbers * (1 if self.laplace else 2)

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Alternating least squares, and a last noisy solve of the items."""
        from tacit.kernels.als import half_step
        from tacit.kernels.order import by_item

        printed = self.constants(public)
        items = public.items
        width = printed.factors
        people = len(block.ptr) - 1
        rng = np.random.default_rng(printed.seed)
        factors = rng.standard_normal((items, width))
        factors /= np.sqrt((factors**2).sum(axis=1))[:, None]
        own = np.zeros((people, width))
        order = by_item(block.ptr, block.item, items)
        value = block.value + OFFSET
        by_items = value[order.cell]
        ridge = np.full((max(people, items), width), printed.own_ridge)

        def solve_people() -> None:
            given = (block.ptr, block.item, value, factors, ridge[:people])
            half_step(*given, 0, people, own)

        def solve_items() -> None:
            given = (order.ptr, order.person, by_items, own, ridge[:items])
            half_step(*given, 0, items, factors)

        for _ in range(printed.epochs):
            solve_people()
            solve_items()
        solve_people()
        if self.laplace:
            shaped = draws[: items * width].reshape(items, width)
            noise = np.sqrt(width) * shaped
        else:
            noise = knorm_rows(draws, items, width)
        solve_items()
        # The objective has no factor 1/2, so its linear term enters the solve halved.
        term = noise * (2 * SPAN / epsilon_of(public)) / 2
        factors -= through(order.ptr, order.person, own, ridge[:items], term)
        return table(-OFFSET, np.zeros(items), factors)
