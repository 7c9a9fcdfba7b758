"""Second-order rounds of `bayes`: the personal model that they work on, and the covariance of user
factors.

`tacit.methods.bayes.covariance` releases which items are liked together,
`tacit.methods.bayes.sweeps` improves item factors. The releases are processed in
`tacit.methods.refine.user_factors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tacit.bound import RowClip, Rows
from tacit.methods.bayes.plan import SMALL_REACH
from tacit.methods.bayes.state import BayesState
from tacit.methods.first_order.choice import (
    Grouped,
    Groups,
    choice_round,
    first_groups,
    first_model,
)
from tacit.methods.first_order.item_factors import small_budget
from tacit.methods.first_order.rounds import FirstOrder, person_rows
from tacit.methods.first_order.rule import strength
from tacit.methods.first_order.state import Floats, UserFactors
from tacit.methods.refine.curves import feature_interactions
from tacit.methods.refine.user_factors import Axes, typical_axes
from tacit.methods.refine.variety import Raters, retaste
from tacit.methods.refine.widths import AS_IS
from tacit.model.person.gaussian import NOISE, GaussianModel
from tacit.rounds.round import AnyState, Block, Part, Released, Round
from tacit.rounds.state import NOT_YET

MOMENT_CLIP = 8.0
"""Frobenius norm of one person's E[tt'] - I: nine in ten people stay below it on ML-1M."""


@dataclass(frozen=True)
class SecondOrder:
    """What the second-order rounds of one plan have in common, after those of `first`."""

    first: FirstOrder

    def model(self, state: BayesState) -> GaussianModel:
        """The personal model as far as it is known."""
        if state.tastes is NOT_YET:
            return self.first_order_model(state)
        unknown = state.effects.variance + state.tastes.doubt
        noise = NOISE if state.widths is NOT_YET else state.widths.noise
        return GaussianModel(state.baseline, unknown, state.tastes.loadings, noise)

    def first_order_model(self, state: BayesState) -> GaussianModel:
        """The model of the first-order rounds: global mean, item biases and public features."""
        model = first_model(self.first, state).model
        features = self.first.features
        if features is None or not self.small:
            return model
        return replace(model, loadings=small_budget(model.loadings, features))

    @property
    def small(self) -> bool:
        """Whether the budget is too small to learn item factors."""
        public = self.first.public
        reach = public.people * strength(public.budget)
        return public.unit == "user" and reach < SMALL_REACH

    def last_model(self, state: BayesState) -> GaussianModel:
        """The personal model that is published: with feature interactions, unless an earlier model
        has brought its own item factors."""
        model = self.model(state)
        if self.first.public.start is not None:
            return model
        features = self.first_order_model(state).loadings[:, 1:]
        curved = feature_interactions(features, state.weights.mean)
        item_factors = np.hstack([model.loadings, curved])
        return replace(model, loadings=item_factors)

    @property
    def separates_features(self) -> bool:
        """Whether the choice scales popularity slopes and item factors of features as separate
        groups: where no other item factors are learned."""
        public = self.first.public
        featured = self.first.features is not None and public.start is None
        return featured and self.small and not self.first.pure

    def groups(self, columns: int) -> Groups:
        """Groups that the choice scales: the user bias, and all factors together; or, where they
        are separate, slopes, features, and feature interactions unscaled."""
        if not self.separates_features:
            return np.minimum(np.arange(columns), 1)
        feature_groups = first_groups(self.first)
        groups = np.full(columns, AS_IS)
        groups[: len(feature_groups)] = np.minimum(feature_groups, 2)
        return groups

    def grouped(self, state: BayesState) -> Grouped:
        """The personal model in the groups of the choice of scales.

        Learned factors are not widened: they were fitted to the very ratings that would speak for
        it."""
        model = self.last_model(state)
        groups = self.groups(model.loadings.shape[1])
        if state.tastes is NOT_YET:
            return Grouped(model, groups, together=self.separates_features)
        return Grouped(model, groups, widest=1.0)

    def doubt(self, state: BayesState) -> Floats:
        """Posterior variance of the item factors so far, by item."""
        return self.model(state).variance - state.effects.variance

    def axes(self, state: BayesState, directions: int) -> Axes:
        """The `directions` axes of the item factors that a typical person's ratings determine
        best."""
        model = self.model(state)
        return typical_axes(
            model.loadings, model.precision, state.weights.mean, state.level.count, directions
        )

    def widths(self, share: float) -> Round:
        """Choose the scale of each kind of known factor, and the noise of ratings: before moments
        and sweeps, which scale all kinds alike and take noise for taste.

        Guarantee: that of the choice, `tacit.methods.first_order.choice`."""
        round_ = choice_round(self.first, share, covered=False)

        def absorb(state: BayesState, released: Mapping[str, Released]) -> BayesState:
            choice = round_.absorb(state, released).choice
            features = self.first_order_model(state).loadings
            scaled = np.ascontiguousarray(features * choice.scales)
            user_factors = UserFactors(scaled, np.zeros(len(scaled)))
            return replace(state, widths=choice, tastes=user_factors)

        return replace(round_, name="widths", absorb=absorb)

    def moments(self, share: float, directions: int) -> Round:
        """The sum of people's E[tt'] - I, each clipped to a Frobenius norm of `MOMENT_CLIP`.

        Guarantee: a row is one person's packed matrix, clipped as a whole (`RowClip`),
        whatever the model made of it.
        """

        def absorb(state: BayesState, released: Mapping[str, Released]) -> BayesState:
            noisy = released["moments"]
            axes = self.axes(state, directions)
            return self.retasted(state, axes, noisy.value[0], noisy.sd)

        def view(state: BayesState) -> tuple[GaussianModel, Floats]:
            return self.model(state), self.axes(state, directions).vectors

        return moment_round(share, directions, view, absorb)

    def retasted(self, state: BayesState, axes: Axes, packed: Floats, sd: float) -> BayesState:
        """The state with item factors learned from released moments along some axes."""
        model = self.model(state)
        better = retaste(
            model.loadings,
            self._columns(model.loadings.shape[1]),
            axes,
            Raters(state.weights.mean, state.level.count, model.precision),
            MOMENT_CLIP * packed,
            MOMENT_CLIP * sd,
            state.people,
        )
        updated = UserFactors(np.ascontiguousarray(better), self.doubt(state))
        return replace(state, tastes=updated)

    def _columns(self, width: int) -> Groups:
        """The group of each column of item factors so far: known ones by kind, those from an
        earlier model together."""
        feature_groups = first_groups(self.first)
        if len(feature_groups) == width:
            return feature_groups
        return np.minimum(np.arange(width), 1)


def moment_round(
    share: float,
    columns: int,
    view: Callable[[AnyState], tuple[GaussianModel, Floats]],
    absorb: Callable[[AnyState, Mapping[str, Released]], AnyState],
) -> Round:
    """People's E[tt'] - I under the model, along the `columns` axes, that `view` gives."""
    width = columns * (columns + 1) // 2

    def contribute(block: Block, state: AnyState) -> Mapping[str, Rows]:
        from tacit.kernels.left_out import user_factor_moments

        model, axes = view(state)
        out = np.empty((len(block.people), width))
        user_factor_moments(
            block.ptr,
            block.item,
            block.value - model.baseline[block.item],
            model.loadings,
            model.precision,
            axes,
            out,
        )
        return {"moments": person_rows(out / MOMENT_CLIP)}

    part = Part("moments", 1, RowClip(1.0), width=width, share=share)
    return Round("tastes", (part,), contribute, absorb)
