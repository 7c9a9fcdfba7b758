"""The twin of `bayes`: its personal Gaussian model, fitted to all ratings without noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.methods.base import Public
from tacit.methods.bayes.implicit import SIZE, SQUARES, ImplicitDesign
from tacit.methods.bayes.plan import MOST_LEANINGS
from tacit.methods.first_order.rounds import Floats
from tacit.methods.noiseless.twin import GaussianTwin, OnePieceState, as_arrays
from tacit.methods.noiseless.variational import Fitted
from tacit.methods.refine.choose import LEFT_OUT
from tacit.methods.refine.implicit import believed, coefficients, leanings
from tacit.methods.refine.user_factors import typical_axes
from tacit.model.person.gaussian import IMPLICIT_MORE, GaussianModel
from tacit.model.shared import Shared
from tacit.rounds.round import Block

TOGETHER = 4096
"""People whose products are made at a time."""


class BayesTwin(GaussianTwin):
    """The same model by variational Bayes on exact sums, with public features where there are any,
    and implicit feedback. NOT PRIVATE."""

    def sizes(self, public: Public) -> tuple[int, int]:
        """Those of the Gaussian twin, and what is usual and implied."""
        columns, numbers = super().sizes(public)
        width = self.width(public)
        return columns, numbers + width + width**2

    def train(self, block: Block, public: Public) -> tuple[Floats, Floats]:
        """The fit, then what is implied under it."""
        fit = self.fitted(block, public)
        items, numbers = as_arrays(fit, block, public.items)
        view, learned = _implied(block, fit)
        extra = [view.leanings.usual, view.rotation(learned).ravel()]
        return items, np.concatenate([numbers, *extra])

    def finish(self, public: Public, state: OnePieceState) -> Shared:
        """The personal Gaussian model, and what choices imply."""
        shared = super().finish(public, state)
        width = self.width(public)
        usual, rotation = np.split(state.shared[1 + width :], [width])
        arrays = {
            "usual": usual.astype(np.float32),
            "implied": rotation.reshape(width, width).astype(np.float32),
        }
        return replace(shared, arrays={**shared.arrays, **arrays})


def _implied(block: Block, fit: Fitted) -> tuple[ImplicitDesign, Floats]:
    """Coefficients as the rounds of `bayes` learn them, from sums without clip or noise."""
    from tacit.kernels.implicit import implicit_popularity_slope, implicit_products

    times = np.bincount(block.item, minlength=len(fit.baseline))
    weight: Floats = np.asarray(times, np.float64)
    rated = np.diff(block.ptr)
    count = float(np.median(rated[rated > 0])) if rated.any() else 1.0
    model = GaussianModel(fit.baseline, fit.variance, fit.loadings, fit.noise)
    directions = max(min(MOST_LEANINGS, len(weight) - 1), 1)
    axes = typical_axes(model.loadings, model.precision, weight, count, directions)
    view = ImplicitDesign(model, axes, leanings(model.loadings, weight, directions))
    sums = np.zeros(directions**2 + directions * (directions + 1) // 2)
    residual = block.value - model.baseline[block.item]
    people = len(rated)
    for start in range(0, people, TOGETHER):
        part = block.ptr[start : start + TOGETHER + 1]
        out = np.empty((len(part) - 1, len(sums)))
        implicit_products(
            part,
            block.item,
            residual,
            model.loadings,
            model.precision,
            axes.vectors,
            view.leanings.rows,
            SIZE,
            IMPLICIT_MORE,
            SQUARES,
            1.0,
            out,
        )
        sums += out.sum(axis=0)
    learned = coefficients(
        sums[: directions**2].reshape(directions, directions),
        sums[directions**2 :] / SQUARES,
        0.0,
        axes,
        view.leanings.present,
    )
    agreed = np.empty((people, 2))
    implicit_popularity_slope(
        block.ptr,
        block.item,
        residual,
        model.loadings,
        model.precision,
        view.hints(learned),
        IMPLICIT_MORE,
        LEFT_OUT,
        agreed,
    )
    total, size = agreed.sum(axis=0)
    return view, believed(float(total), float(size), 0.0) * learned
