"""The sweeps of `bayes`: item factors from left-out errors.

Each sweep releases left-out errors times (1, user factors), summed by item; the evidence of all
sweeps is pooled. It is processed in `tacit.methods.refine.user_factors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from tacit.bound import RowClip, Rows
from tacit.methods.bayes.rounds import SecondOrder
from tacit.methods.bayes.state import BayesState, Swept
from tacit.methods.first_order.rounds import KEPT, RESIDUAL_LIMIT, ROW_SHARE, TINY
from tacit.methods.first_order.state import Floats, UserFactors
from tacit.methods.refine.user_factors import Axes, UserFactorEvidence, carried, user_factor_changes
from tacit.methods.refine.weights import RARE, Lean, emphasis
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import NOT_YET

LEVEL_WEIGHT = 1.5
"""Weight of the item bias beside the item factors in one sweep: biases vary more."""
USER_FACTORS = Lean(stands_out=0.06)
"""Effort for item factors: they are about a fifth as large as item biases."""
SHOWN = 0.25
"""Axes that a typical person's ratings show less than this take no part in a sweep."""
LEAST_SCALE = 1e-9
"""Stands for no scale at all, where evidence is divided by it."""


@dataclass(frozen=True)
class Sweeps:
    """Sweeps over `kept` axes of the item factors: those that ratings determine best, and some
    carriers."""

    second: SecondOrder
    kept: int
    carriers: int = 0
    """Number of axes reserved for factors that no column has yet."""

    def sweep(self, name: str, share: float, spread: float) -> Round:
        """Left-out errors times (1, user factors), summed by item; then better item biases and item
        factors.

        `spread` is the noise sd that this share means at a row norm of 1. Guarantee: all the cells
        of a person, all their columns together, are clipped to one norm (`RowClip`)."""
        first_order = self.second.first

        def contribute(block: Block, state: BayesState) -> Mapping[str, Rows]:
            return {"sums": self._rows(block, state, spread)}

        def absorb(state: BayesState, released: Mapping[str, Released]) -> BayesState:
            effort = self.effort(state, spread)
            clip = ROW_SHARE * _shown_axes(self.axes(state)).norm
            sd = max(clip * released["sums"].sd, TINY)
            sums = clip * released["sums"].value
            state = first_order.learn(
                state, sums[:, 0] / LEVEL_WEIGHT, sd / LEVEL_WEIGHT, KEPT * effort.level
            )
            return self._absorb(state, sums[:, 1:], sd, KEPT * effort.tastes)

        items = first_order.public.items
        part = Part("sums", items, RowClip(1.0), width=1 + self.kept, share=share)
        return Round(name, (part,), contribute, absorb)

    def axes(self, state: BayesState) -> Axes:
        """The same axes in every sweep, so that their evidence adds up."""
        if state.swept is not NOT_YET:
            return state.swept.axes
        columns = self.second.model(state).loadings.shape[1]
        every = self.second.axes(state, max(columns, self.kept))
        return carried(every, self.kept, self.carriers, SHOWN)

    def effort(self, state: BayesState, spread: float) -> SweepEffort:
        """Public multipliers of errors, for a typical row of norm 1 each.

        The bias of a crowded item is well known by now, so effort moves to rare ones; item factors
        are far smaller, and only crowded items show them."""
        low = 0.5 * self.second.first.weight_of_one(state.level.count)
        sd = max(spread, TINY)
        multipliers = (emphasis(state.weights, sd, low, lean) for lean in (RARE, USER_FACTORS))
        return SweepEffort(*(multiplier / norm for multiplier, norm in multipliers))

    def _rows(self, block: Block, state: BayesState, spread: float) -> Rows:
        """Each cell's left-out error, clipped and weighted: alone, then times each user factor."""
        from tacit.kernels.left_out import left_out_user_factors, weigh_user_factors

        first_order = self.second.first
        model = self.second.model(state)
        axes = self.axes(state)
        error = np.empty(len(block.item))
        values = np.empty((len(block.item), 1 + self.kept))
        left_out_user_factors(
            block.ptr,
            block.item,
            block.value - model.baseline[block.item],
            model.loadings,
            model.precision,
            axes.vectors,
            error,
            values,
            1,
        )
        effort = self.effort(state, spread)
        scaled_axes = _shown_axes(axes)
        weight = first_order.cell_weights(block, state) / (ROW_SHARE * scaled_axes.norm)
        weight *= np.clip(error, -RESIDUAL_LIMIT, RESIDUAL_LIMIT)
        factors = scaled_axes.axes / np.sqrt(axes.reliability)
        weigh_user_factors(
            LEVEL_WEIGHT * weight * effort.level[block.item],
            weight * effort.tastes[block.item],
            factors,
            values,
        )
        return Rows(block.ptr, block.item, values)

    def _absorb(self, state: BayesState, sums: Floats, sd: float, multiplier: Floats) -> BayesState:
        """Update item factors by the evidence of all sweeps so far."""
        previous = self._previous_sweeps(state)
        axes = previous.axes
        scaled_axes = _shown_axes(axes).axes
        scale = multiplier[:, None] * np.sqrt(axes.reliability) * scaled_axes
        scale = np.maximum(scale, LEAST_SCALE)
        weights = state.weights
        evidence = previous.evidence.add(sums, sd, scale, weights, previous.change)
        sampling = self.second.first.sampling(state) / axes.reliability
        change, unknown = user_factor_changes(evidence, weights, sampling)
        item_factors = previous.base.loadings + change @ axes.vectors.T
        updated = UserFactors(np.ascontiguousarray(item_factors), previous.base.doubt + unknown)
        swept = Swept(axes, previous.base, evidence, change)
        return replace(state, swept=swept, tastes=updated)

    def _previous_sweeps(self, state: BayesState) -> Swept:
        """Evidence of earlier sweeps; zero before the first."""
        if state.swept is not NOT_YET:
            return state.swept
        items = self.second.first.public.items
        base = UserFactors(self.second.model(state).loadings, self.second.doubt(state))
        nothing = UserFactorEvidence.none(items, self.kept)
        change = np.zeros((items, self.kept))
        return Swept(self.axes(state), base, nothing, change)


@dataclass(frozen=True, eq=False)
class SweepEffort:
    """How much each item's errors count in a sweep."""

    level: Floats
    """Multiplier towards the item bias."""
    tastes: Floats
    """Multiplier towards the item factors."""


@dataclass(frozen=True)
class _ShownAxes:
    axes: Floats
    """1 for those that take part in a sweep, else 0."""
    norm: float
    """Norm of a typical (1, user factors)."""


def _shown_axes(axes: Axes) -> _ShownAxes:
    """Axes that ratings show. Where only the user bias shows, none takes part and the whole sweep
    improves item biases."""
    is_present = np.abs(axes.vectors).sum(axis=0) > 0
    is_shown = ((axes.reliability > SHOWN) & is_present).astype(np.float64)
    if is_shown.sum() < 2:
        return _ShownAxes(np.zeros_like(is_shown), LEVEL_WEIGHT)
    return _ShownAxes(is_shown, sqrt(LEVEL_WEIGHT**2 + float(is_shown.sum())))
