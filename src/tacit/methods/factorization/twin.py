"""The non-private twins of factorizations.

NOT PRIVATE. Each is trained in one piece on all people and publishes item arrays only:
everybody's own side is folded in, as in the private methods, so the two are compared on
equal terms. A model of factors and biases is the personal Gaussian model, so its twin is
that of `bayes` (`tacit.methods.noiseless.variational`): public features included, which the
private ones use as well.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Public
from tacit.methods.factorization.als import LIKE_RIDGE, LIKE_WEIGHT
from tacit.methods.factorization.base import FactorSettings
from tacit.methods.factorization.federated import FederatedSettings
from tacit.methods.factorization.noisy import random_factors
from tacit.methods.factorization.publish import shared_model
from tacit.methods.factorization.rounds import LIFT_SHRINK, scalar_lift
from tacit.methods.factorization.svd import XianMethod
from tacit.methods.first_order.rounds import public_design
from tacit.methods.noiseless.nonnegative import fit_nonnegative
from tacit.methods.noiseless.twin import (
    GaussianTwin,
    ItemBiasTwin,
    OnePiece,
    OnePieceState,
    as_arrays,
)
from tacit.methods.noiseless.variational import PASSES, WIDTH, Fitted, fit_implicit
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block
from tacit.rounds.state import State

Floats = NDArray[np.float64]

LIKE_FACTORS, LIKE_PASSES = 30, 12
"""For likes, where the settings name none: found on one split of ML-1M."""
NONNEGATIVE = 20
"""Factors that are not negative, where the settings name none."""


class LikesTwin(OnePiece):
    """Factors by weighted least squares over all cells, 1 for a like and 0 elsewhere (Hu,
    Koren and Volinsky 2008)."""

    settings: FactorSettings

    @property
    def factors(self) -> int:
        """Of each item."""
        return self.settings.factors or LIKE_FACTORS

    def sizes(self, public: Public) -> tuple[int, int]:
        """Likes and factors of each item, and how many likes there are."""
        return 1 + self.factors, 1

    def train(self, block: Block, public: Public) -> tuple[Floats, Floats]:
        """Ridge solves of all people, then of all items, again and again."""
        from tacit.kernels.als import half_step_likes
        from tacit.kernels.order import by_item

        items = public.items
        rng = np.random.default_rng(self.method.seed)
        order = by_item(block.ptr, block.item, items)
        people = len(block.ptr) - 1
        factors = random_factors(rng, items, self.factors)
        user_factors = np.zeros((people, self.factors), np.float32)
        for _ in range(self.settings.epochs or LIKE_PASSES):
            half_step_likes(
                ptr=block.ptr,
                index=block.item,
                factors=factors,
                everywhere=factors.T @ factors,
                weight=LIKE_WEIGHT,
                ridge=LIKE_RIDGE,
                start=0,
                stop=people,
                out=user_factors,
            )
            half_step_likes(
                ptr=order.ptr,
                index=order.person,
                factors=user_factors,
                everywhere=user_factors.T @ user_factors,
                weight=LIKE_WEIGHT,
                ridge=LIKE_RIDGE,
                start=0,
                stop=items,
                out=factors,
            )
        count = np.bincount(block.item, minlength=items).astype(np.float64)
        table = np.column_stack([count, factors.astype(np.float64)])
        return table, np.array([count.sum()])

    def finish(self, public: Public, state: OnePieceState) -> Shared:
        """Item factors for everybody's own weighted solve."""
        arrays = {"weight": state.items[:, 0], "factors": state.items[:, 1:]}
        numbers = {"weight": LIKE_WEIGHT, "ridge": LIKE_RIDGE}
        return shared_model(self.method, public, "liked factors", arrays, numbers)


class FactorTwin(GaussianTwin):
    """Effects and factors by variational Bayes; likes as `LikesTwin` has them."""

    settings: FactorSettings

    def width(self, public: Public) -> int:
        """A person's level, and as many factors as the settings say."""
        columns = 1 + (self.settings.factors or WIDTH - 1)
        return min(columns, public.items)

    @property
    def passes(self) -> int:
        """Over all ratings."""
        return self.settings.epochs or PASSES

    def plan(self, public: Public) -> Plan:
        """One round, for ratings or for likes."""
        if public.schema.positive is not None:
            return LikesTwin(self.method).plan(public)
        return super().plan(public)

    def first_state(self, public: Public) -> State:
        """Nothing is trained yet."""
        return OnePieceState()

    def finish(self, public: Public, state: OnePieceState) -> Shared:
        """What was trained."""
        if public.schema.positive is not None:
            return LikesTwin(self.method).finish(public, state)
        return super().finish(public, state)


class FederatedTwin(GaussianTwin):
    """The same for `mf-federated`, which knows no likes."""

    settings: FederatedSettings

    def width(self, public: Public) -> int:
        """A person's level, and as many factors as the settings say."""
        columns = 1 + (self.settings.factors or WIDTH - 1)
        return min(columns, public.items)


class NonnegativeTwin(FactorTwin):
    """Effects, tastes for public features, and factors of which no item has less than
    none; people's side is free."""

    known: ClassVar[type[ItemBiasTwin]] = ItemBiasTwin

    def width(self, public: Public) -> int:
        """What is known of items, and factors."""
        factors = self.settings.factors or NONNEGATIVE
        return self.known(self.method).width(public) + factors

    def fitted(self, block: Block, public: Public) -> Fitted:
        """First what features tell, then the factors beside it."""
        bias_fit = self.known(self.method).fitted(block, public)
        return fit_nonnegative(
            block.ptr,
            block.item,
            block.value,
            bias_fit,
            self.settings.factors or NONNEGATIVE,
            seed=self.method.seed,
            threads=self.threads,
            passes=self.passes,
        )


class ImplicitTwin(FactorTwin):
    """SVD++: beside it, factors of having rated each item, or the printed scalar in their
    place."""

    method: XianMethod

    @property
    def learned(self) -> bool:
        """Whether there are implicit factors of each item."""
        return self.method.implicit_side == "learned"

    def sizes(self, public: Public) -> tuple[int, int]:
        """As without, and beside loadings or numbers what is implicit."""
        columns, numbers = super().sizes(public)
        width = self.width(public)
        if self.learned:
            return columns + width, numbers
        return columns, numbers + width

    def train(self, block: Block, public: Public) -> tuple[Floats, Floats]:
        """Both together."""
        features = public_design(public)
        fitted, implicit_factors = fit_implicit(
            block.ptr,
            block.item,
            block.value,
            public.items,
            None if features is None else features.matrix,
            self._implicit_rows(block, public.items),
            width=self.width(public),
            seed=self.method.seed,
            threads=self.threads,
            passes=self.passes,
        )
        table, numbers = as_arrays(fitted, block, public.items)
        if self.learned:
            return np.hstack([table, implicit_factors]), numbers
        return table, np.append(numbers, implicit_factors[0])

    def _implicit_rows(self, block: Block, items: int) -> Any:
        """What having rated says: one row a person."""
        from scipy.sparse import csr_array

        counts = np.diff(block.ptr)
        if not self.learned:
            return csr_array(scalar_lift(counts)[:, None])
        values = np.repeat(1 / np.sqrt(np.maximum(counts, 1)), counts)
        shape = (len(counts), items)
        return csr_array((values, block.item, block.ptr), shape=shape)

    def finish(self, public: Public, state: OnePieceState) -> Shared:
        """Loadings, and what having rated adds to a person's vector."""
        if public.schema.positive is not None:
            return super().finish(public, state)
        width = self.width(public)
        table = state.items
        arrays = {
            "baseline": table[:, 0],
            "variance": table[:, 1],
            "weight": table[:, 2],
            "loadings": table[:, 3 : 3 + width],
            "per_rating": state.shared[1 : 1 + width],
        }
        numbers = {"noise": float(state.shared[0])}
        if self.learned:
            arrays["implicit"] = table[:, 3 + width :]
        else:
            arrays["lift"] = state.shared[1 + width :]
            numbers["lift_shrink"] = LIFT_SHRINK
        return shared_model(self.method, public, "factors", arrays, numbers)
