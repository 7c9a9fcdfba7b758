"""Hua, Xia & Zhong 2015, S1 as printed: a factorization whose items are found once more, the
people held fixed, with a random linear term in their objective (equation 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.factorization.objective import ObjectiveSettings
from tacit.methods.factorization.state import TableState
from tacit.methods.factorization.value import cells_of
from tacit.model.person.base import PersonalModel
from tacit.model.shared import Shared
from tacit.papers.factors.form import (
    TRAINED,
    PaperConstants,
    PrintedFactors,
    epsilon_of,
    knorm_rows,
)
from tacit.papers.hua2015.printed.steps import (
    FACTORS,
    OFFSET,
    RATE,
    RIDGE,
    ROUNDS,
    SPAN,
    Step,
    StepWeights,
    items_step,
    published,
    trained_people,
    weights_of,
)
from tacit.papers.xian2017.printed.least_squares import through
from tacit.rounds.round import Block

Floats = NDArray[np.float64]
SOLVES = 10
"""Of both sides, where everything is solved: equation 1 has settled by then."""


@dataclass(frozen=True)
class Constants(PaperConstants):
    """Of the paper (section 5), and how its gain is read."""

    step: Step = "mean"
    bounded: bool = True
    """|u| <= 1: the proof of Theorem 1 has it so."""
    model: str = "plain"
    law: str = "knorm"

    @property
    def columns(self) -> int:
        """Profiles, behind two columns that are nothing here."""
        return 2 + self.factors


class PerturbedObjective(PrintedFactors):
    """Factorize, keep the people fixed, then minimise equation 6 over the items, with a
    random linear term of scale 2 Delta/epsilon.

    K-norm noise by Theorem 1; `law=laplace`: per coordinate, scale 2 Delta sqrt(d)/epsilon,
    by Lemma 1.
    """

    settings: ObjectiveSettings
    keeps_people = True
    constants_used = (
        "factors",
        "epochs",
        "rate",
        "ridge",
        "step",
        "bounded",
        "model",
        "law",
        "people",
    )
    reason = (
        "The proof holds the people's vectors fixed and at most of norm 1; they come from "
        "the same ratings; with them the left-hand sides move too, so no finite epsilon "
        "follows."
    )

    def constants(self, public: Public) -> Constants:
        """Those of section 5."""
        solves = self.settings.step == "solve"
        usual = Constants(
            FACTORS, SOLVES if solves else ROUNDS, self.method.seed, rate=RATE, ridge=RIDGE
        )
        constants = usual.overridden(self.settings)
        assert isinstance(constants, Constants)
        return constants

    def weights(self, public: Public) -> StepWeights:
        """At `value` the number of all ratings, which some readings weigh with, is public."""
        printed = self.constants(public)
        step = "objective" if printed.step == "solve" else printed.step
        if printed.model != "plain":
            step = "sum"
        return weights_of(step, printed.ridge, float(cells_of(public)))

    def draws(self, public: Public) -> int:
        """For the linear terms of all items."""
        printed = self.constants(public)
        numbers = public.items * printed.factors
        return numbers * (1 if printed.law == "laplace" else 2)

    def train(self, public: Public, block: Block, draws: Floats) -> Floats:
        """Equation 1 for both sides; then equation 6 for the items."""
        printed = self.constants(public)
        job = Job(block, public.items, printed, self.weights(public))
        scale = 2 * SPAN / epsilon_of(public)
        linear = scale * unit_terms(draws, public.items, printed)
        if printed.model != "plain":
            job.weighted(linear)
        elif printed.step == "solve":
            job.solve(linear)
        else:
            job.descend(linear)
        if TRAINED in block.personal:
            block.personal[TRAINED][:, 1:] = job.own
        return np.hstack([np.zeros((public.items, 2)), job.items])

    def finish(self, public: Public, state: TableState) -> Shared:
        """Item profiles, and lambda for everybody's own ridge regression."""
        ridge = self.constants(public).ridge
        weights = self.weights(public)
        return published(self.method, public, state.items[:, 2:], weights, ridge)

    def trained(
        self, public: Public, state: TableState, personal: Mapping[str, Floats]
    ) -> PersonalModel | None:
        """With the profiles that equation 1 left."""
        if TRAINED not in personal or self.settings.people == "solved":
            return None
        return trained_people(personal[TRAINED][:, 1:], state.items[:, 2:])

    def used(self, public: Public) -> dict[str, Any]:
        """Here people are trained or solved."""
        settings = super().used(public)
        return settings | {"people": self.settings.people or "trained"}


def unit_terms(draws: Floats, items: int, printed: Constants) -> Floats:
    """eta of scale 1 for every item: by Theorem 1, or by Lemma 1."""
    width = printed.factors
    if printed.law == "laplace":
        shaped: Floats = draws[: items * width].reshape(items, width)
        wide: Floats = np.sqrt(width) * shaped
        return wide
    if not draws.any():  # noise off
        return np.zeros((items, width))
    return knorm_rows(draws, items, width)


class Job:
    """Both sides of one factorization, moved in place."""

    def __init__(self, block: Block, items: int, printed: Constants, weights: StepWeights) -> None:
        from tacit.kernels.user_step import first_profile

        self.block = block
        self.printed = printed
        self.how = weights
        self.rating = block.value + OFFSET
        self.own = np.zeros((len(block.ptr) - 1, printed.factors))
        self.items = np.empty((items, printed.factors))
        for row, person in enumerate(block.people):
            first_profile(printed.seed, person, self.own[row])
        for row in range(items):
            first_profile(printed.seed + 1, row, self.items[row])

    def descend(self, linear: Floats) -> None:
        """Equations 2 and 3, and then 3 again with eta for the items alone, as often."""
        from tacit.papers.factors.kernels import summed_step

        block, printed = self.block, self.printed
        for moves in (True, False):
            for _ in range(printed.epochs):
                total = np.zeros_like(self.items)
                raters = np.zeros((len(self.items), 1))
                summed_step(
                    people=block.people,
                    ptr=block.ptr,
                    item=block.item,
                    rating=self.rating,
                    items=self.items,
                    user_factors=self.own,
                    seed=printed.seed,
                    rate=printed.rate,
                    ridge=printed.ridge,
                    weights=self.how.numbers,
                    bounded=printed.bounded,
                    moves=moves,
                    total=total,
                    raters=raters,
                )
                if not moves:
                    total += linear
                self.items = items_step(
                    self.items, total, raters, self.how, printed.rate, printed.ridge
                )

    def solve(self, linear: Floats) -> None:
        """Equation 1 by solving people and items in turn, and then equation 6 at once."""
        from tacit.kernels.als import half_step
        from tacit.kernels.order import by_item

        block = self.block
        people, items = len(self.own), len(self.items)
        order = by_item(block.ptr, block.item, items)
        by_items = self.rating[order.cell]
        ridge = np.full(
            (max(people, items), self.printed.factors), self.printed.ridge * self.how.pull
        )

        def solve_people() -> None:
            half_step(
                ptr=block.ptr,
                index=block.item,
                value=self.rating,
                factors=self.items,
                ridge=ridge[:people],
                start=0,
                stop=people,
                out=self.own,
            )

        def solve_items() -> None:
            half_step(
                ptr=order.ptr,
                index=order.person,
                value=by_items,
                factors=self.own,
                ridge=ridge[:items],
                start=0,
                stop=items,
                out=self.items,
            )

        for _ in range(self.printed.epochs):
            solve_people()
            solve_items()
        # The objective has no factor 1/2, so its linear term enters the solve halved.
        term = linear / 2
        self.items -= through(order.ptr, order.person, self.own, ridge[:items], term)

    def weighted(self, linear: Floats) -> None:
        """The weighted non-negative factorization by multiplicative updates. A linear term
        goes, by its sign, above or below the fraction, so nothing turns negative."""
        from tacit.papers.factors.kernels import weighted_step

        block, printed = self.block, self.printed
        np.abs(self.own, out=self.own)
        np.abs(self.items, out=self.items)
        for moves in (True, False):
            for _ in range(printed.epochs):
                right = np.zeros_like(self.items)
                left = np.zeros_like(self.items)
                weighted_step(
                    ptr=block.ptr,
                    item=block.item,
                    rating=self.rating,
                    items=self.items,
                    user_factors=self.own,
                    ridge=printed.ridge,
                    moves=moves,
                    right=right,
                    left=left,
                )
                left += printed.ridge * self.items
                if not moves:
                    right += np.maximum(-linear / 2, 0)
                    left += np.maximum(linear / 2, 0)
                rated = right.any(axis=1, keepdims=True)
                change = right / np.maximum(left, 1e-12)
                self.items *= np.where(rated, change, 1.0)
