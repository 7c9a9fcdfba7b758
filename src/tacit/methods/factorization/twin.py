"""The non-private twins: alternating least squares, biased gradient descent and SVD++, each
trained in one piece.

NOT PRIVATE. They run as one stepwise round without draws, on one block of all people, and
publish item arrays only: everybody's own side is folded in, as in the private methods, so
the two are compared on equal terms.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.bound import CellClip, Rows
from tacit.methods.base import Form, Public
from tacit.methods.factorization.base import FactorSettings
from tacit.methods.factorization.epochs import (
    RATE,
    START,
    DescentModel,
    Pace,
    descend,
    random_factors,
)
from tacit.methods.factorization.implicit import LIFT_SHRINK, Implicit
from tacit.methods.factorization.likes import LIKE_RIDGE, LIKE_WEIGHT
from tacit.methods.factorization.publish import shared_model
from tacit.methods.factorization.state import TableState
from tacit.methods.factorization.svd import XianMethod
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.printed import Epoch
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

RIDGE = 3.0
RIDGE_EACH = 0.05
BIAS_RIDGE = 3.0
"""Least squares: ridge of a row, more for each of its ratings, and of a bias. Found on one
split of ML-1M, as are the ridges of descent."""
BIAS_DECAY = 0.01
"""Descent: ridge of a bias."""
IMPLICIT_START = 0.01
"""Standard deviation of the first implicit factors."""
NOISE = 0.7
"""Variance of a rating around the model: sets the scale of the published loadings, not the
predictions."""


class Twin(Form):
    """A training in one piece on all ratings, as one round, and what a person's fold-in
    needs of it.

    A subclass trains; this class runs it, scales what it learned for the personal models
    that the private methods use, and knows the form for likes, which all share. Defaults
    are `usual_factors` and `usual_epochs`.
    """

    settings: FactorSettings
    usual_factors: ClassVar[int]
    usual_epochs: ClassVar[int]
    own_ridge: ClassVar[float] = 1.0
    """Of a person's fold-in."""
    own_ridge_each: ClassVar[float]
    """More of it for each of her ratings."""

    @property
    def factors(self) -> int:
        """Factors of each item."""
        return self.settings.factors or self.usual_factors

    @property
    def epochs(self) -> int:
        """Passes over all ratings."""
        return self.settings.epochs or self.usual_epochs

    @property
    def says(self) -> Implicit:
        """What having rated says: nothing, unless it is SVD++."""
        return "nothing"

    @abstractmethod
    def train(self, block: Block, items: int) -> Singles:
        """One row an item. Columns: mean of all ratings, item bias, factors and, if they are
        learned, implicit factors."""

    def plan(self, public: Public) -> Plan:
        """The whole training as one round, released as it is, with the number of ratings of
        each item beside it."""
        items = public.items
        likes = public.schema.positive is not None
        sides = 2 if self.says == "learned" else 1
        width = self.factors if likes else 2 + self.factors * sides

        def contribute(block: Block, state: TableState) -> Mapping[str, Rows]:
            from threadpoolctl import threadpool_limits

            # One order of sums in the matrix products, whatever the machine's threads.
            with threadpool_limits(1):
                train = self.train_likes if likes else self.train
                made = train(block, items).astype(np.float64)
            rows = Rows(np.array([0, items]), np.arange(items), made)
            count = np.bincount(block.item, minlength=items).astype(np.float64)
            weight = Rows(rows.ptr, rows.index, count[:, None])
            return {"items": rows, "weight": weight}

        def absorb(
            state: TableState, released: Mapping[str, Released]
        ) -> TableState:
            weight = released["weight"].value[:, 0]
            return state.after(items=released["items"].value, weight=weight)

        bound = CellClip(1.0)
        parts = (
            Part(
                "items", items, bound, width=width, share=0.5, printed=Epoch()
            ),
            Part("weight", items, bound, share=0.5, printed=Epoch()),
        )
        round_ = Round("training", parts, contribute, absorb)
        return Plan(public.unit, (round_,), ("Not private: no noise.",))

    def first_state(self, public: Public) -> State:
        """Nothing is trained yet."""
        return TableState()

    def finish(self, public: Public, state: TableState) -> Shared:
        """Loadings on the scale where a person's z has unit prior variance, so that her
        fold-in has the ridge that the training had."""
        table = state.items
        if public.schema.positive is not None:
            arrays = {"factors": table, "weight": state.weight}
            numbers = {"weight": LIKE_WEIGHT, "ridge": LIKE_RIDGE}
            return shared_model(
                self.method, public, "liked factors", arrays, numbers
            )
        # argmin |r - V p|^2 + ridge |p|^2 as a Gaussian says it: z = p / scale ~ N(0, I).
        scale = np.sqrt(NOISE / self.own_ridge)
        level = np.full((len(table), 1), np.sqrt(NOISE / BIAS_RIDGE))
        factors = table[:, 2 : 2 + self.factors]
        arrays = {
            "baseline": table[:, 0] + table[:, 1],
            "variance": np.zeros(len(table)),
            "loadings": np.hstack([level, scale * factors]),
        }
        numbers = {
            "noise": NOISE,
            "per_rating": self.own_ridge_each / self.own_ridge,
        }
        if self.says == "learned":
            implicit = table[:, 2 + self.factors :] / scale
            arrays["implicit"] = np.hstack(
                [np.zeros((len(table), 1)), implicit]
            )
        elif self.says == "scalar":
            arrays["lift"] = np.concatenate(
                [[0.0], np.full(self.factors, 1 / scale)]
            )
            numbers["lift_shrink"] = LIFT_SHRINK
        return shared_model(self.method, public, "factors", arrays, numbers)

    def train_likes(self, block: Block, items: int) -> Singles:
        """Factors by weighted least squares over all cells, 1 for a like and 0 elsewhere (Hu,
        Koren and Volinsky 2008)."""
        from tacit.kernels.als import half_step_likes
        from tacit.kernels.order import by_item

        rng = np.random.default_rng(self.method.seed)
        order = by_item(block.ptr, block.item, items)
        people = len(block.ptr) - 1
        factors = random_factors(rng, items, self.factors)
        own = np.zeros((people, self.factors), np.float32)
        for _ in range(self.epochs):
            all_items = factors.T @ factors
            half_step_likes(
                ptr=block.ptr,
                index=block.item,
                other=factors,
                everywhere=all_items,
                weight=LIKE_WEIGHT,
                ridge=LIKE_RIDGE,
                start=0,
                stop=people,
                out=own,
            )
            all_people = own.T @ own
            half_step_likes(
                ptr=order.ptr,
                index=order.person,
                other=own,
                everywhere=all_people,
                weight=LIKE_WEIGHT,
                ridge=LIKE_RIDGE,
                start=0,
                stop=items,
                out=factors,
            )
        return factors


class LeastSquaresTwin(Twin):
    """Alternating least squares with biases: the twin of whatever releases statistics or
    solutions."""

    usual_factors = 30
    usual_epochs = 12
    own_ridge = RIDGE
    own_ridge_each = RIDGE_EACH
    nonnegative: ClassVar[bool] = False

    def train(self, block: Block, items: int) -> Singles:
        """Ridge solves of all people, then of all items, again and again.

        The last column of either side is the other side's bias, against a 1.
        """
        from tacit.kernels.als import half_step
        from tacit.kernels.order import by_item

        width = self.factors
        mean = _mean(block)
        value = (block.value - mean).astype(np.float32)
        rng = np.random.default_rng(self.method.seed)
        order = by_item(block.ptr, block.item, items)
        people = len(block.ptr) - 1
        own_ridge = _ridge(block.ptr, width)
        ridge = _ridge(order.ptr, width)
        count = np.bincount(block.item, minlength=items)
        own = np.zeros((people, width + 1), np.float32)
        other = np.zeros((items, width + 1), np.float32)
        other[:, :width] = rng.standard_normal((items, width)) * START
        other[:, width] = np.bincount(block.item, value, items) / (
            count + BIAS_RIDGE
        )
        if self.nonnegative:
            other[:, :width] = np.abs(other[:, :width])
        user = np.repeat(np.arange(people), np.diff(block.ptr))
        for _ in range(self.epochs):
            # Each side's bias is taken from the ratings, and its column becomes the 1 against
            # which the other side's bias is solved.
            bias = other[:, width].copy()
            other[:, width] = 1.0
            rest = value - bias[block.item]
            half_step(
                ptr=block.ptr,
                index=block.item,
                value=rest,
                other=other,
                ridge=own_ridge,
                start=0,
                stop=people,
                out=own,
            )
            own_bias = own[:, width].copy()
            own[:, width] = 1.0
            rest = (value - own_bias[user])[order.cell]
            half_step(
                ptr=order.ptr,
                index=order.person,
                value=rest,
                other=own,
                ridge=ridge,
                start=0,
                stop=items,
                out=other,
            )
            if self.nonnegative:
                np.maximum(other[:, :width], 0, out=other[:, :width])
        means = np.full((items, 1), mean, np.float32)
        return np.hstack([means, other[:, width:], other[:, :width]])


class NonnegativeTwin(LeastSquaresTwin):
    """The same with the items' factors projected, after every solve, on what is not
    negative; people's are free."""

    nonnegative = True


class DescentTwin(Twin):
    """Gradient descent with biases (SVD): the twin of whatever releases gradients or noisy
    ratings."""

    usual_factors = 50
    usual_epochs = 26
    own_ridge_each = 0.05

    def train(self, block: Block, items: int) -> Singles:
        """Epochs over all ratings, each less the mean of all."""
        mean = _mean(block)
        value = (block.value - mean).astype(np.float32)
        rng = np.random.default_rng(self.method.seed)
        own = random_factors(rng, len(block.ptr) - 1, self.factors)
        factors = random_factors(rng, items, self.factors)
        implicit = random_factors(rng, items, self.factors, IMPLICIT_START)
        sides = DescentModel.begin(own, factors, implicit)
        pace = Pace(self.epochs, RATE, self.own_ridge_each, BIAS_DECAY)
        descend(block.ptr, block.item, value, sides, pace, rng, self.says)
        means = np.full((items, 1), mean, np.float32)
        columns = [means, sides.bias[:, None], factors]
        return np.hstack(
            [*columns, implicit] if self.says == "learned" else columns
        )


class ImplicitTwin(DescentTwin):
    """SVD++: descent with implicit factors learned for each item, or with the printed
    scalar in their place."""

    method: XianMethod
    usual_factors = 20
    own_ridge_each = 0.03

    @property
    def says(self) -> Implicit:
        """As the method was told: learned factors, unless the scalar was asked for."""
        return self.method.implicit_side


def _mean(block: Block) -> float:
    return float(block.value.mean()) if len(block.value) else 0.0


def _ridge(ptr: NDArray[np.int64], width: int) -> Singles:
    """Of each row: the factors' ridge, and in the last column the bias's."""
    each = RIDGE + RIDGE_EACH * np.diff(ptr)
    ridge = np.repeat(each[:, None], width + 1, 1).astype(np.float32)
    ridge[:, width] = BIAS_RIDGE
    return ridge
