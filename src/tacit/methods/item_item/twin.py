"""The non-private twins of item-item methods: of the covariance's factor, of `ease` and of
the neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.methods.base import Public
from tacit.methods.first_order.state import Floats
from tacit.methods.item_item.covariance import NEIGHBOURS, CovarianceSettings, NeighbourForm
from tacit.methods.item_item.ease_twin import MOST_ITEMS, MOST_RANK, fit_ease
from tacit.methods.item_item.knn import GramForm
from tacit.methods.item_item.matrix import Arrays, neighbour_lists, published
from tacit.methods.item_item.plan import RANK as USER_FACTORS
from tacit.methods.item_item.plan import full_budget
from tacit.methods.item_item.state import MatrixState
from tacit.methods.noiseless.twin import GaussianTwin, ItemBiasTwin, OnePiece, OnePieceState
from tacit.methods.refine.neighbour import Product, strongest
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Block
from tacit.rounds.state import NOT_YET, State

FIRST = ("baseline", "variance", "loadings", "weight")
"""Arrays of effects and tastes."""
MEASURED = 0.5
"""Weight of the measured covariance in the mean of both; that of the factor is the rest (of
.3, .5 and .7 on split 100 of ML-100K: .8940; the factor alone .9021, the measured one alone
.8980; on ML-1M .5 and .6 are alike)."""
CAUTION = 1.5
"""A neighbourhood takes the covariance for certain: so many times the noise make up for it.
Flat from 1.3 to 2 on split 100 of ML-100K; on that of ML-1M .001 better than 1.9."""


class CovarianceTwin(GaussianTwin):
    """Effects and the rank-k factor of what is left, both by variational Bayes instead of by
    a covariance. NOT PRIVATE."""

    settings: CovarianceSettings

    def width(self, public: Public) -> int:
        """A person's level, and the rank at most."""
        return min(super().width(public), 1 + (self.settings.rank or USER_FACTORS))


class EaseTwin(OnePiece):
    """Weights between items, the mean of the ways that did best on likes held back inside
    the training. NOT PRIVATE."""

    def rank(self, public: Public) -> int:
        """Columns of either side of the weights."""
        return min(MOST_RANK, MOST_ITEMS)

    def sizes(self, public: Public) -> tuple[int, int]:
        """Likes, whether weights speak for the item, and both sides of the weights; how
        many columns there are."""
        return 2 + 2 * self.rank(public), 1

    def train(self, block: Block, public: Public) -> tuple[Floats, Floats]:
        """`tacit.methods.item_item.ease_twin`."""
        items = public.items
        rank = self.rank(public)
        fit = fit_ease(block.ptr, block.item, items)
        table = np.zeros((items, 2 + 2 * rank))
        table[:, 0] = np.bincount(block.item, minlength=items)
        table[fit.head, 1] = 1.0
        used = fit.between.left.shape[1]
        table[fit.head, 2 : 2 + used] = fit.between.left
        table[fit.head, 2 + rank : 2 + rank + used] = fit.between.right
        return table, np.array([float(used)])

    def finish(self, public: Public, state: OnePieceState) -> Shared:
        """Popularity, and both sides of the weights between items."""
        table = state.items
        rank = self.rank(public)
        used = int(state.shared[0])
        head = np.flatnonzero(table[:, 1])
        arrays = {"weight": table[:, 0].astype(np.float32)}
        if used:
            left, right = table[head, 2:], table[head, 2 + rank :]
            arrays |= {
                "left": left[:, :used].astype(np.float32),
                "right": right[:, :used].astype(np.float32),
                "head": head.astype(np.int32),
            }
        return published(self.method, public, "ease", arrays, {})


@dataclass(frozen=True)
class FittedState(MatrixState):
    """What is measured, and effects and tastes that are fitted in one piece."""

    items: Floats = NOT_YET
    shared: Floats = NOT_YET


class KNNTwin(GramForm):
    """Neighbours from the raw Gram, over effects and tastes that are fitted as those of
    `bias`' twin. NOT PRIVATE."""

    def plan(self, public: Public) -> Plan:
        """The rounds without noise, then the fit; after a start the rounds alone."""
        measured = super().plan(public)
        if public.start is not None:
            return measured
        training = ItemBiasTwin(self.method).plan(public)
        rounds = (*measured.rounds, *training.rounds)
        return Plan(public.unit, full_budget(rounds), training.story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return FittedState()

    def finish(self, public: Public, state: AnyState) -> Shared:
        """As measured, with what was fitted in the place of effects and level."""
        measured = super().finish(public, state)
        if state.items is NOT_YET:
            return measured
        fit_state = OnePieceState(items=state.items, shared=state.shared)
        fitted = ItemBiasTwin(self.method).finish(public, fit_state)
        fitted_arrays = {name: fitted.arrays[name] for name in FIRST}
        added_variance = measured.arrays["variance"] - np.float32(state.effects.variance)
        fitted_arrays["variance"] = fitted_arrays["variance"] + np.maximum(added_variance, 0)
        noise = fitted.numbers["noise"]
        return replace(
            measured,
            arrays={**measured.arrays, **fitted_arrays},
            numbers={**measured.numbers, "noise": noise, "around": noise},
        )


class FactorAndUserFactors(CovarianceTwin):
    """The factor of `CovarianceTwin`, and what `bias`' twin knows without one. NOT PRIVATE."""

    def sizes(self, public: Public) -> tuple[int, int]:
        """As of the factor; behind it loadings of level and known tastes."""
        columns, numbers = super().sizes(public)
        return columns + ItemBiasTwin(self.method).width(public), numbers

    def train(self, block: Block, public: Public) -> tuple[Floats, Floats]:
        """Both fits, beside each other."""
        table, numbers = super().train(block, public)
        bias_fit = ItemBiasTwin(self.method).fitted(block, public)
        return np.hstack([table, bias_fit.loadings]), numbers


class CovarianceNeighbourTwin(NeighbourForm):
    """Neighbours by the mean of two covariances, over the tastes that `bias`' twin knows: the
    one that is measured, as `sound` measures it, without noise; and that of the factor of
    `CovarianceTwin`. They err in different ways. NOT PRIVATE."""

    def plan(self, public: Public) -> Plan:
        """The rounds without noise, then the fit."""
        measured = super().plan(public)
        training = FactorAndUserFactors(self.method).plan(public)
        rounds = (*measured.rounds, *training.rounds)
        return Plan(public.unit, full_budget(rounds), training.story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return FittedState()

    def finish(self, public: Public, state: AnyState) -> Shared:
        """Both factors beside each other: the products of their rows are the mean of both
        covariances."""
        fit = FactorAndUserFactors(self.method)
        fit_columns = 3 + fit.width(public)
        fit_state = OnePieceState(items=state.items[:, :fit_columns], shared=state.shared)
        model = fit.finish(public, fit_state)
        fitted = np.asarray(model.arrays["loadings"], np.float64)[:, 1:]
        factor = np.hstack([np.sqrt(MEASURED) * state.learned, np.sqrt(1 - MEASURED) * fitted])
        posterior_variance = MEASURED * state.effects.variance
        posterior_variance = posterior_variance + (1 - MEASURED) * model.arrays["variance"]
        variance = posterior_variance + np.sum(factor**2, axis=1)
        arrays: Arrays = {
            "baseline": model.arrays["baseline"],
            "variance": variance.astype(np.float32),
            "loadings": state.items[:, fit_columns:].astype(np.float32),
            "weight": model.arrays["weight"],
        }
        numbers = {
            "noise": CAUTION * model.numbers["noise"],
            "neighbours": float(self.settings.neighbours or NEIGHBOURS),
        }
        personal = "factor-neighbours"
        if self.settings.keep is None:
            arrays["factor"] = factor.astype(np.float32)
        else:
            personal = "kept-neighbours"
            near = strongest(Product(factor), self.settings.keep)
            rows = np.arange(public.items)
            arrays |= neighbour_lists(public.items, rows, near)
        return published(self.method, public, personal, arrays, numbers)
