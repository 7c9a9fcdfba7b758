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
from tacit.methods.factorization.base import Settings
from tacit.methods.factorization.implicit import LIFT_SHRINK, scalar_lift
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
split of ML-1M, as are the rates and ridges of descent."""
RATE = 0.01
DECAY = 0.95
"""Descent: the first epoch's rate, and what each epoch leaves of it."""
BIAS_DECAY = 0.01
"""Descent: ridge of a bias."""
START = 0.1
IMPLICIT_START = 0.01
"""Standard deviation of the first, random factors."""
NOISE = 0.7
"""Variance of a rating around the model: sets the scale of the published loadings, not the
predictions."""


class Twin(Form):
    """A training in one piece, and what a person's fold-in needs of it."""

    settings: Settings
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
    def learns_implicit(self) -> bool:
        """Whether implicit factors stand beside the others."""
        return False

    @property
    def scalar(self) -> bool:
        """Whether the printed scalar of SVD++ takes their place."""
        return False

    @abstractmethod
    def train(self, block: Block, items: int) -> Singles:
        """Columns: mean, item bias, factors and, if they are learned, implicit factors."""

    def plan(self, public: Public) -> Plan:
        """The whole training as one round; released as it is."""
        items = public.items
        likes = public.schema.positive is not None
        sides = 2 if self.learns_implicit else 1
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
        """Loadings on the scale where a person's z has unit prior variance."""
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
        if self.learns_implicit:
            implicit = table[:, 2 + self.factors :] / scale
            arrays["implicit"] = np.hstack(
                [np.zeros((len(table), 1)), implicit]
            )
        elif self.scalar:
            arrays["lift"] = np.concatenate(
                [[0.0], np.full(self.factors, 1 / scale)]
            )
            numbers["lift_shrink"] = LIFT_SHRINK
        return shared_model(self.method, public, "factors", arrays, numbers)

    def train_likes(self, block: Block, items: int) -> Singles:
        """Weighted least squares over all cells (Hu, Koren and Volinsky 2008): factors."""
        from tacit.kernels.als import half_step_likes
        from tacit.kernels.order import by_item

        rng = np.random.default_rng(self.method.seed)
        order = by_item(block.ptr, block.item, items)
        people = len(block.ptr) - 1
        factors = _random(rng, items, self.factors)
        own = np.zeros((people, self.factors), np.float32)
        weights = (LIKE_WEIGHT, LIKE_RIDGE)
        for _ in range(self.epochs):
            all_items = factors.T @ factors
            half_step_likes(
                block.ptr,
                block.item,
                factors,
                all_items,
                *weights,
                0,
                people,
                own,
            )
            all_people = own.T @ own
            half_step_likes(
                order.ptr,
                order.person,
                own,
                all_people,
                *weights,
                0,
                items,
                factors,
            )
        return factors


class LeastSquaresTwin(Twin):
    """Alternating least squares with biases."""

    usual_factors = 30
    usual_epochs = 12
    own_ridge = RIDGE
    own_ridge_each = RIDGE_EACH
    nonnegative: ClassVar[bool] = False

    def train(self, block: Block, items: int) -> Singles:
        """The last column of either side is the other side's bias, against a 1."""
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
                block.ptr, block.item, rest, other, own_ridge, 0, people, own
            )
            own_bias = own[:, width].copy()
            own[:, width] = 1.0
            rest = (value - own_bias[user])[order.cell]
            half_step(
                order.ptr, order.person, rest, own, ridge, 0, items, other
            )
            if self.nonnegative:
                np.maximum(other[:, :width], 0, out=other[:, :width])
        means = np.full((items, 1), mean, np.float32)
        return np.hstack([means, other[:, width:], other[:, :width]])


class NonnegativeTwin(LeastSquaresTwin):
    """The same with items projected on what is not negative."""

    nonnegative = True


class DescentTwin(Twin):
    """Biased gradient descent: SVD."""

    usual_factors = 50
    usual_epochs = 26
    own_ridge_each = 0.05

    def train(self, block: Block, items: int) -> Singles:
        """Person by person, in a new random order every epoch."""
        from tacit.methods.factorization.kernels_sgd import biased_epoch
        from tacit.methods.factorization.kernels_svdpp import svdpp_epoch

        mean = _mean(block)
        value = (block.value - mean).astype(np.float32)
        rng = np.random.default_rng(self.method.seed)
        people = len(block.ptr) - 1
        own_bias = np.zeros(people, np.float32)
        bias = np.zeros(items, np.float32)
        own = _random(rng, people, self.factors)
        factors = _random(rng, items, self.factors)
        implicit = _random(rng, items, self.factors, IMPLICIT_START)
        rate = RATE
        ridge = self.own_ridge_each
        count = np.diff(block.ptr)
        lift = np.zeros((people, 1), np.float32)
        if self.scalar:
            lift = scalar_lift(count)[:, None].astype(np.float32)
        own += lift
        for _ in range(self.epochs):
            order = rng.permutation(people)
            given = (
                block.ptr,
                block.item,
                value,
                order,
                own_bias,
                bias,
                own,
                factors,
            )
            if self.learns_implicit:
                svdpp_epoch(*given, implicit, rate, ridge, BIAS_DECAY)
            else:
                biased_epoch(*given, rate, ridge, BIAS_DECAY)
                # People shrink toward their lift, not to 0.
                shrunk = (1 - rate * ridge) ** count[:, None]
                own += (1 - shrunk).astype(np.float32) * lift
            rate *= DECAY
        columns = [
            np.full((items, 1), mean, np.float32),
            bias[:, None],
            factors,
        ]
        return np.hstack(
            [*columns, implicit] if self.learns_implicit else columns
        )


class ImplicitTwin(DescentTwin):
    """SVD++: descent with implicit factors, or with the printed scalar."""

    method: XianMethod
    usual_factors = 20
    own_ridge_each = 0.03

    @property
    def learns_implicit(self) -> bool:
        """Unless the scalar was asked for."""
        return not self.scalar

    @property
    def scalar(self) -> bool:
        """If it was asked for."""
        return self.method.implicit_side == "scalar"


def _random(
    rng: np.random.Generator, rows: int, width: int, size: float = START
) -> Singles:
    return (rng.standard_normal((rows, width)) * size).astype(np.float32)


def _mean(block: Block) -> float:
    return float(block.value.mean()) if len(block.value) else 0.0


def _ridge(ptr: NDArray[np.int64], width: int) -> Singles:
    """Of each row: the factors' ridge, and in the last column the bias's."""
    each = RIDGE + RIDGE_EACH * np.diff(ptr)
    ridge = np.repeat(each[:, None], width + 1, 1).astype(np.float32)
    ridge[:, width] = BIAS_RIDGE
    return ridge
