"""Second-order rounds of `bayes`: the personal model that they work on, the covariance of user
factors, which items are liked together (`CovarianceRound`), and better item factors (`Sweeps`).

The releases are processed in `tacit.methods.refine.user_factors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Bound, CentredCells, RowClip, Rows
from tacit.bound.gram import EntryGram, FactorGram
from tacit.methods.bayes.plan import SMALL_REACH
from tacit.methods.first_order.choice import (
    Grouped,
    Groups,
    choice_round,
    first_groups,
    first_model,
)
from tacit.methods.first_order.rounds import KEPT as SUMS_KEPT
from tacit.methods.first_order.rounds import (
    RESIDUAL_LIMIT,
    ROW_SHARE,
    TINY,
    FirstOrder,
    FirstState,
    Floats,
    UserFactors,
    person_rows,
    small_budget,
    strength,
)
from tacit.methods.refine.choose import AS_IS
from tacit.methods.refine.spectrum_items import (
    KEPT,
    TOGETHER,
    Profile,
    covariance_factors,
    profile,
    shared_scatter,
)
from tacit.methods.refine.user_factors import (
    Axes,
    UserFactorEvidence,
    carried,
    feature_interactions,
    typical_axes,
    user_factor_changes,
)
from tacit.methods.refine.variety import Raters, retaste
from tacit.methods.refine.weights import RARE, Lean, emphasis
from tacit.model.person.gaussian import NOISE, GaussianModel
from tacit.rounds.round import AnyState, Block, Part, Released, Round
from tacit.rounds.state import NOT_YET

MOMENT_CLIP = 8.0
"""Frobenius norm of one person's E[tt'] - I: nine in ten people stay below it on ML-1M."""
COVARIANCE_CLIP = 1.0
"""Of a rating less one's own mean."""
SHRINK = 20
"""Fictitious ratings in that mean."""
COVARIANCE_OFFSET = 0.5
"""A person's products are weighted by 1/(|y|^2 + offset). Small: the bound does not depend on
it, and people of few ratings would otherwise add less than is paid for (10 in its place:
docs/results/bayes.md)."""
COVARIANCE_RESIDUAL_LIMIT = 2.0
"""Half the inner scale: clips residuals before one's own mean is taken."""
GRID_STEPS = 2**12
"""At the unit `rating`: steps of the grid for a clip of 1."""
VARIANCE = 0.45
"""Of such a clipped rating: a public rule."""
SIGNAL, SIGNAL_SPREAD = 0.05, 0.5
"""Variance of a common factor that must stand out of the noise for the covariance to be
worth its share, and how far its logarithm may be off where there is little to lose."""
USER_SENSITIVITY, RATING_SENSITIVITY = 0.7, 1.7
"""About those of the two bounds, for that judgement alone."""
PROMISED = 2.0
"""How many times what sums would gain a factor must promise that may not be there: with as much,
people of three ratings each lost (docs/results/bayes.md)."""
SUMS_SENSITIVITY = 2.2
"""The same of item sums at the unit `rating`."""
SCORES = np.array([NormalDist().inv_cdf((i + 0.5) / 16) for i in range(16)])
"""Standard scores for which a factor is tried."""
LEVEL_WEIGHT = 1.5
"""Weight of the item bias beside the item factors in one sweep: biases vary more."""
USER_FACTORS = Lean(stands_out=0.06)
"""Effort for item factors: they are about a fifth as large as item biases."""
SHOWN = 0.25
"""Axes that a typical person's ratings show less than this take no part in a sweep."""
LEAST_SCALE = 1e-9
"""Stands for no scale at all, where evidence is divided by it."""


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


# State of `bayes`, as its rounds release it: first-order statistics, item factors, and while
# sweeps go on their pooled evidence.


@dataclass(frozen=True)
class Swept:
    """Evidence of all sweeps so far, along common axes."""

    axes: Axes
    """The same in every sweep, so that their evidence adds up."""
    base: UserFactors
    """Before the first sweep: changes are counted from here."""
    evidence: UserFactorEvidence
    change: Floats
    """Change of the item factors along the axes, items x axes."""


@dataclass(frozen=True)
class ImplicitFeedback:
    """How a person's choice of items predicts her user factors."""

    coefficients: Floats
    """Directions of choice x axes of user factors. Which these are follows from earlier releases
    (`tacit.methods.bayes.implicit.implicit_design`), so a state has as many numbers everywhere."""


@dataclass(frozen=True)
class BayesState(FirstState):
    """First-order statistics and item factors (`FirstState`), the evidence of sweeps, and implicit
    feedback."""

    swept: Swept = NOT_YET
    implied: ImplicitFeedback = NOT_YET


# Which items are liked together: the covariance round of `bayes`, and whether it would pay.
#
# What is made of the release: `tacit.methods.refine.spectrum_items`.


@dataclass(frozen=True)
class CovarianceRound:
    """The covariance of the `rows` items of largest released weight."""

    second: SecondOrder
    rows: int

    def covariance(self, share: float) -> Round:
        """Which of the items are liked together: sums of products, never the diagonal.

        Guarantee: `FactorGram` (unit `user`) or `EntryGram` (unit `rating`), whose
        sensitivities are proven in docs/proofs/covariance.md. Which items are rows follows
        from released weights.
        """
        first_order = self.second.first
        items = first_order.public.items
        bound: Bound = FactorGram()
        if not first_order.whole_person:
            centred = CentredCells(
                items,
                clip=COVARIANCE_RESIDUAL_LIMIT,
                shrink=SHRINK,
                limit=COVARIANCE_CLIP,
                steps=GRID_STEPS,
            )
            bound = EntryGram(self.rows, centred, COVARIANCE_OFFSET)

        def contribute(block: Block, state: BayesState) -> Mapping[str, Rows]:
            row_of_item = np.full(items, self.rows, np.int64)
            row_of_item[self.head(state)] = np.arange(self.rows)
            index = row_of_item[block.item]
            residuals = block.value - state.level.mean - state.effects.mean[block.item]
            if first_order.whole_person:
                clipped = np.clip(residuals, -COVARIANCE_RESIDUAL_LIMIT, COVARIANCE_RESIDUAL_LIMIT)
                residuals = _lengths(block, clipped, index < self.rows)
            return {"likings": Rows(block.ptr, index, residuals[:, None])}

        def absorb(state: BayesState, released: Mapping[str, Released]) -> BayesState:
            noisy = released["likings"]
            matrix = np.asarray(noisy.value, np.float32)
            return self._absorb(state, matrix, max(noisy.sd, TINY))

        part = Part("likings", self.rows, bound, share=share, form="gram")
        return Round("covariance", (part,), contribute, absorb)

    def _absorb(self, state: BayesState, matrix: NDArray[np.float32], sd: float) -> BayesState:
        """Rotate known item factors by the covariance, and add those it reveals."""
        model = self.second.model(state)
        head = self.head(state)
        previous = model.loadings
        together = TOGETHER
        if not self.second.first.whole_person:
            together = shared_scatter(self.rows, state.people)
        solution = covariance_factors(matrix, sd, self.profile(state), previous[head, 1:], together)
        fresh = np.zeros((len(previous), solution.fresh.shape[1]))
        fresh[head] = solution.fresh
        posterior_variance = self.second.doubt(state) + solution.typical
        posterior_variance[head] += solution.unknown - solution.typical
        item_factors = np.concatenate(
            [previous[:, :1], previous[:, 1:] @ solution.turn, fresh], axis=1
        )
        return replace(
            state, tastes=UserFactors(np.ascontiguousarray(item_factors), posterior_variance)
        )

    def drown(self, state: BayesState, share_sd: float) -> bool:
        """Whether noise would drown the covariance, by released popularity: then its share pays for
        item sums.

        `share_sd` is the noise sd that its share means at a sensitivity of 1. Where a factor of the
        usual size would not stand out, a larger one still may: the round is worth its share if item
        sums would gain even less by it, as those of few items do."""
        profile = self.profile(state)
        whole_person = self.second.first.whole_person
        sensitivity = USER_SENSITIVITY if whole_person else RATING_SENSITIVITY
        sd = max(share_sd * sensitivity, TINY)
        white = 1 / np.sqrt(sd**2 + profile.sampling * profile.weight**2)
        signal = SIGNAL * KEPT * float((profile.weight**2 * white).sum())
        stands_out = signal / (2 * sqrt(self.rows))
        if stands_out >= 1:
            return False
        hoped = hoped_of_factor(stands_out, state.level.count)
        return hoped <= PROMISED * self._hoped_of_sums(state, share_sd)

    def _hoped_of_sums(self, state: BayesState, share_sd: float) -> float:
        """By how much one more release of item sums would lessen the variance of a rating."""
        first_order = self.second.first
        weight = state.weights.mean
        spread = max(share_sd, TINY)
        information: Floats | float = (SUMS_SENSITIVITY * spread) ** -2
        if first_order.whole_person:
            multiplier, clip = first_order.effort(state, spread)
            information = (SUMS_KEPT * multiplier / (clip * spread)) ** 2
        precision = state.evidence.precision
        people = first_order.sampling(state) / weight
        with np.errstate(divide="ignore"):  # nothing is known before the first sums
            noise = 1 / (precision * weight**2) + people
        less = 1 / ((precision + information) * weight**2) + people
        unknown = state.effects.variance
        remaining_variance = 1 / (1 / unknown + np.maximum(1 / less - 1 / noise, 0.0))
        return float(weight @ (unknown - remaining_variance) / weight.sum())

    def profile(self, state: BayesState) -> Profile:
        """What each row of the matrix holds of its item."""
        return profile(
            state.weights.mean[self.head(state)],
            state.people,
            self.second.first.public.unit,
            variance=VARIANCE,
            offset=COVARIANCE_OFFSET,
            cap=state.level.count,
        )

    def head(self, state: BayesState) -> NDArray[np.int64]:
        """The items that are rows, ascending; ties of weight go to the first."""
        order = np.argsort(-state.weights.mean, kind="stable")
        return np.sort(order[: self.rows])


def hoped_of_factor(stands_out: float, count: float) -> float:
    """By how much a common factor would lessen the variance of a rating of somebody with
    `count` ratings, if one of variance `SIGNAL` is so many times as large as the noise."""
    times = np.exp(SIGNAL_SPREAD * SCORES)
    variance = SIGNAL * times
    recovered = np.maximum(1 - (stands_out * times) ** -2.0, 0.0)
    reliability = count * variance / (count * variance + NOISE)
    return float((variance * recovered * reliability).mean())


def _lengths(block: Block, residuals: Floats, inside: NDArray[np.bool_]) -> Floats:
    """y/sqrt(|y|^2 + offset) over the items inside, y centred by one's own mean over all
    items; 0 outside."""
    from tacit.kernels.rows import shrunk_means

    user_means = np.empty(len(block.people))
    length = np.empty(len(block.people))
    counts = np.diff(block.ptr)
    shrunk_means(block.ptr, residuals, float(SHRINK), COVARIANCE_RESIDUAL_LIMIT, user_means)
    centred = np.clip(residuals - np.repeat(user_means, counts), -COVARIANCE_CLIP, COVARIANCE_CLIP)
    residuals = np.where(inside, centred, 0.0)
    # A mean of squares times their number is their sum, by the same exact loop.
    squares = residuals * residuals * np.repeat(np.maximum(counts, 1), counts)
    shrunk_means(block.ptr, squares, 0.0, np.inf, length)
    result: Floats = residuals / np.sqrt(np.repeat(length, counts) + COVARIANCE_OFFSET)
    return result


# The sweeps of `bayes`: item factors from left-out errors.
#
# Each sweep releases left-out errors times (1, user factors), summed by item; the evidence of all
# sweeps is pooled. It is processed in `tacit.methods.refine.user_factors`.


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
                state, sums[:, 0] / LEVEL_WEIGHT, sd / LEVEL_WEIGHT, SUMS_KEPT * effort.level
            )
            return self._absorb(state, sums[:, 1:], sd, SUMS_KEPT * effort.tastes)

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
