"""Implicit feedback: what people's choice of items predicts of their user factors. The last rounds
of `bayes`, on the model that will be published, and how far to believe them.

What is made of the release: `tacit.methods.refine.implicit`; how a person uses it:
`tacit.model.person.gaussian`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tacit.bound import RowClip, Rows
from tacit.methods.bayes.rounds import BayesState, ImplicitFeedback, SecondOrder
from tacit.methods.first_order.choice import once_for_each
from tacit.methods.first_order.rounds import Floats, person_rows
from tacit.methods.refine.choose import LEFT_OUT
from tacit.methods.refine.implicit import Leanings, believed, coefficients, leanings
from tacit.methods.refine.user_factors import Axes, typical_axes
from tacit.model.person.gaussian import IMPLICIT_MORE, GaussianModel
from tacit.model.shared import Shared
from tacit.rounds.round import AnyState, Block, Part, Released, Round

CLIP = 4.0
"""L2 norm of one person's products: half of a typical row on ML-1M. Twice as much, and three
quarters, are alike. A power of two, so that to divide by it is to multiply by its inverse."""
SQUARES = 0.5
"""Weight of hh' beside h s'."""
AGREED_CLIP = 1.0
"""L2 clip of one person's two numbers in the slope round."""
AGREED_SHARE = 1 / 3
"""Of the share of both: two numbers, beside hundreds."""
SIZE = 4.0
"""Makes h about as large as a normal number, for a person of many ratings."""
NARROWEST = 1e-6
"""User factors that the choice scaled below this count as none: implicit feedback is divided by the
scale."""


@dataclass(frozen=True, eq=False)
class ImplicitDesign:
    """Public inputs of every contribution to these rounds: the model to be published, the axes of
    its item factors, and directions of choice."""

    model: GaussianModel
    axes: Axes
    leanings: Leanings

    def hints(self, coefficients: Floats) -> Floats:
        """Items x factors: summed over a person's items and divided by their number and
        `IMPLICIT_MORE`, the prior mean of her user factors."""
        projected = SIZE * coefficients @ self.axes.vectors.T
        return np.ascontiguousarray(self.leanings.rows @ projected)

    def rotation(self, coefficients: Floats) -> Floats:
        """The matrix that turns (item factors - usual) into `hints`."""
        projected = SIZE * coefficients @ self.axes.vectors.T
        return np.asarray(self.leanings.turn @ projected)


def implicit_design(second: SecondOrder, state: BayesState, directions: int) -> ImplicitDesign:
    """Before these rounds and after them the same, because they change nothing that it reads."""
    model = second.last_model(state)
    weight = state.weights.mean
    axes = typical_axes(model.loadings, model.precision, weight, state.level.count, directions)
    return ImplicitDesign(model, axes, leanings(model.loadings, weight, directions))


def implicit_rounds(second: SecondOrder, share: float, directions: int) -> tuple[Round, Round]:
    """What choices imply, and how far to believe it."""
    agreement_share = AGREED_SHARE * share
    return (
        implicit_round(second, share - agreement_share, directions),
        popularity_slope_round(second, agreement_share, directions),
    )


def implicit_round(second: SecondOrder, share: float, directions: int) -> Round:
    """Sums over people of h s' and hh' along `directions` directions and axes.

    Guarantee: a row is one person's products, clipped as a whole (`RowClip`), whatever the
    model made of them.
    """
    width = directions**2 + directions * (directions + 1) // 2

    def look(state: AnyState) -> ImplicitDesign:
        return implicit_design(second, state, directions)

    seen_of = once_for_each(look)

    def contribute(block: Block, state: BayesState) -> Mapping[str, Rows]:
        from tacit.kernels.implicit import implicit_products

        view = seen_of(state)
        out = np.empty((len(block.people), width))
        implicit_products(
            block.ptr,
            block.item,
            block.value - view.model.baseline[block.item],
            view.model.loadings,
            view.model.precision,
            view.axes.vectors,
            view.leanings.rows,
            SIZE,
            IMPLICIT_MORE,
            SQUARES,
            1 / CLIP,
            out,
        )
        return {"products": person_rows(out)}

    def absorb(state: BayesState, released: Mapping[str, Released]) -> BayesState:
        noisy, view = released["products"], seen_of(state)
        products = CLIP * noisy.value[0, : directions**2].reshape(directions, directions)
        squares = CLIP * noisy.value[0, directions**2 :] / SQUARES
        solution = coefficients(
            products, squares, CLIP * noisy.sd, view.axes, view.leanings.present
        )
        return replace(state, implied=ImplicitFeedback(solution))

    part = Part("products", 1, RowClip(1.0), width=width, share=share)
    return Round("implied", (part,), contribute, absorb)


def popularity_slope_round(second: SecondOrder, share: float, directions: int) -> Round:
    """Sums over people of how their ratings go along with what implicit feedback predicts.

    Guarantee: a row is one person's two numbers, clipped together (`RowClip`), whatever the model
    made of them."""

    def look(state: AnyState) -> tuple[GaussianModel, Floats]:
        view = implicit_design(second, state, directions)
        return view.model, view.hints(state.implied.coefficients)

    seen_of = once_for_each(look)

    def contribute(block: Block, state: BayesState) -> Mapping[str, Rows]:
        from tacit.kernels.implicit import implicit_popularity_slope

        model, hints = seen_of(state)
        out = np.empty((len(block.people), 2))
        implicit_popularity_slope(
            block.ptr,
            block.item,
            block.value - model.baseline[block.item],
            model.loadings,
            model.precision,
            hints,
            IMPLICIT_MORE,
            LEFT_OUT,
            out,
        )
        return {"agreed": person_rows(out / AGREED_CLIP)}

    def absorb(state: BayesState, released: Mapping[str, Released]) -> BayesState:
        noisy = released["agreed"]
        agreed, size = AGREED_CLIP * noisy.value[0]
        times = believed(agreed, size, AGREED_CLIP * noisy.sd)
        return replace(state, implied=ImplicitFeedback(times * state.implied.coefficients))

    part = Part("agreed", 1, RowClip(1.0), width=2, share=share)
    return Round("agreement", (part,), contribute, absorb)


def with_implicit(shared: Shared, second: SecondOrder, state: BayesState) -> Shared:
    """The published model with implicit feedback, in units of its own item factors: those may have
    been widened since."""
    view = implicit_design(second, state, len(state.implied.coefficients))
    scales = state.choice.scales
    wide = scales > NARROWEST
    back = np.divide(1.0, scales, out=np.zeros_like(scales), where=wide)
    rotation = view.rotation(state.implied.coefficients)
    arrays = {"implied": back[:, None] * rotation * back, "usual": view.leanings.usual * scales}
    float_arrays = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
    return replace(shared, arrays={**shared.arrays, **float_arrays})
