"""First-order statistics, as rounds that many methods begin with: the level, the items'
weights, the items' effects.

Round `people` releases where ratings lie on the whole and how many a typical person has;
`weights` how much each item is rated; each `effects` round the sums of what people's
ratings leave over a public baseline, which empirical Bayes turns into a better baseline.
Everything after a release is post-processing.

What is known afterwards is a `FirstState`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import inf, sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Bound, CellClip, CentredCells, LevelCells, RowClip, Rows
from tacit.data.catalogue import Catalogue
from tacit.data.features import NUMBER, TAG, YEAR, Design, design
from tacit.methods.base import Public
from tacit.methods.refine import global_mean as levels
from tacit.methods.refine.choose import Choice
from tacit.methods.refine.global_mean import GlobalMean
from tacit.methods.refine.item_bias import Evidence, estimate_item_biases
from tacit.methods.refine.weights import RARE, Lean, Weights, denoise_weights, emphasis
from tacit.model.person.gaussian import NOISE
from tacit.rounds.plan import Budget
from tacit.rounds.round import AnyState, Block, Part, Released, Round, Stationary
from tacit.rounds.running import Running
from tacit.rounds.state import NOT_YET, State

RESIDUAL_LIMIT = 3.0
"""Residuals are clipped to this size, on the inner scale."""
MOST_LOG_COUNT = 12.0
"""log2 of a person's ratings, beyond which counts are not told apart."""
USER_SKEW, RATING_SKEW = 1.15, 1.4
"""People with more ratings than the geometric mean carry more of them: a public rule."""
LEAST_EVEN = 2.0
"""At least so many ratings stand for the typical number, in weights."""
EVEN = 0.25
"""Below this share of the typical number of ratings a person's weight stops growing. Small:
the clip covers a whole person, so a short row that stays far below it wastes what was paid
for (seen on ML-1M at epsilon 1: .004)."""
ROW_SHARE, KEPT = 0.5, 0.42
"""The row clip as a share of a typical row of unit residuals, and what it leaves of
residuals: public rules. A clip that nearly every row meets loses less signal than it saves
noise; sweeps mend a wrong `KEPT`."""
SAMPLED = 1.5
"""(What the clip leaves of a rating's own noise, as a multiple of `KEPT`)^2: noise is not
pulled to a person's mean as effects are, so it is kept better."""
RELEASES = 3.0
"""How many sums of one plan have the same people's noise in them, where it matters (see `learn`).
"""
TINY = 1e-6
"""Stands for no noise at all, where a formula divides by it."""
Floats = NDArray[np.float64]
LEVEL = 0.17
"""Prior variance of a person's own level: with NOISE, a mean shrunk by five ratings where
nothing else is known."""
POPULARITY = 0.15
"""Prior standard deviation of a person's slope on standardised log popularity."""
POPULARITY_SLOPE = 0.35
"""Prior standard deviation of how much more, or less, than others a person goes with what all
think of an item: a slope on the items' effects. Flat from .25 to .5 on ML-1M (split 100)."""
FEATURES = {TAG: 0.07, YEAR: 0.03, NUMBER: 0.04}
"""Prior variance of a person's factor for an average item, shared by all columns of a kind."""

# What the first-order rounds release, typed: the state that most methods build on.


@dataclass(frozen=True)
class ItemBiases:
    """Bias of each item, and its posterior variance."""

    mean: Floats
    variance: Floats
    gain: Floats
    """Change of the effect for a unit of its sum: how far one rating pulls its own item's."""


@dataclass(frozen=True)
class UserFactors:
    """What items have in common: columns of a person's unknown vector."""

    loadings: Floats = field(metadata={"free": 1})
    """Items x columns (the field says item factors)."""
    doubt: Floats
    """Posterior variance: of an item's ratings, by the error of its item factors."""


@dataclass(frozen=True)
class FirstState(State):
    """Global mean, popularity and item biases, in the order in which rounds release them."""

    level: GlobalMean = NOT_YET
    weights: Weights = NOT_YET
    evidence: Evidence = NOT_YET
    """All sums of effects so far, on a common footing."""
    effects: ItemBiases = NOT_YET
    shared_sampling: Floats = NOT_YET
    """After a start: what the sums of then and now have in common of people's own noise."""
    tastes: UserFactors = NOT_YET
    widths: Choice = NOT_YET
    """Scales of the factors of features, where they are chosen before other factors are learned."""
    choice: Choice = NOT_YET
    """Scales of all factors, and the noise of ratings."""

    @property
    def baseline(self) -> Floats:
        """What is expected of each item before anything is known about a person."""
        return self.level.mean + self.effects.mean


# Item factors that are known before any are learned: popularity, its slope, and public
# features.


def loadings(
    popularity: NDArray[np.float64],
    features: Design | None = None,
    *,
    item_biases: NDArray[np.float64] | None = None,
    level_variance: float = 0.0,
    learned: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The matrix [user bias | popularity | popularity slope | features | learned] and the group of
    each column (0 = user bias).

    The slope is on `item_biases`, where they are given: some people judge items as all do, only
    more so, and some do not care. `level_variance` is the posterior variance of the released global
    mean, which every user bias must be free to undo."""
    items = len(popularity)
    blocks = [
        np.full((items, 1), np.sqrt(LEVEL + level_variance)),
        POPULARITY * popularity[:, None],
    ]
    groups = [0, 1]
    if item_biases is not None:
        blocks.append(POPULARITY_SLOPE * item_biases[:, None])
        groups.append(1)
    if features is not None and features.width:
        total = features.matrix.var(axis=0)
        share = {
            kind: FEATURES[kind] / total[features.kind == kind].sum()
            for kind in np.unique(features.kind)
        }
        blocks.append(features.matrix * np.sqrt([share[kind] for kind in features.kind]))
        groups += [2 + int(kind) for kind in features.kind]
    if learned is not None:
        blocks.append(learned)
        groups += [2 + len(FEATURES)] * learned.shape[1]
    return np.ascontiguousarray(np.concatenate(blocks, axis=1)), np.array(groups, dtype=np.int64)


AnyFirst = TypeVar("AnyFirst", bound=FirstState)
"""The state of a family that builds on first-order statistics."""
GLOBAL_MEAN_NEED = 30.0
"""People x mu at which the level deserves the whole budget; its share falls with the square."""
GLOBAL_MEAN_LEAST, GLOBAL_MEAN_MOST = 0.03, 0.9
"""Bounds of that share."""
WEIGHTS_SHARE, ITEM_BIAS_SHARE = 0.22, 0.73
"""Of what the level leaves: item weights, and all sweeps of item sums."""
CHOICE_SHARE = 0.05
"""Of the same: how widely people differ. These were set on another split of ML-1M than
those of docs/results/bayes.md."""
SMALL_POPULARITY, SMALL_POPULARITY_SLOPE = 0.1, 0.5
SMALL_YEAR = 0.05
"""The same three where items have features and budgets are small. Effects are then shrunk far, so
that slopes on them differ more; popularity hardly is known, so that slopes on it say little.
Chosen on splits 100 and up of ML-100K, 500 and 600 people: docs/results/bayes.md."""


def public_design(public: Public) -> Design | None:
    """The catalogue's features as a matrix, if it has any."""
    return _design(public.catalogue)


@lru_cache(maxsize=2)
def _design(catalogue: Catalogue) -> Design | None:
    """Made once for all plans of a fit."""
    features = (catalogue.years, catalogue.tagged, catalogue.numeric)
    if all(feature is None for feature in features):
        return None
    feature_design = design(len(catalogue), *features)
    return feature_design if feature_design.width else None


def person_weights(block: Block, even: float, pure: bool = False) -> NDArray[np.float64]:
    """One weight a cell: 1/sqrt(max(c, even)) (1/max(c, even) for an L1 bound), c the
    person's number of cells."""
    counts = np.diff(block.ptr)
    floored_counts = np.maximum(counts, even).astype(np.float64)
    return np.repeat(1 / floored_counts if pure else 1 / np.sqrt(floored_counts), counts)


def even_count(state: FirstState) -> float:
    """The number of ratings below which weights stop growing."""
    return max(EVEN * state.level.count, LEAST_EVEN)


def prepend_column(
    column: NDArray[np.float64], matrix: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """A column, and the matrix after it."""
    if matrix is None:
        return column[:, None]
    return np.column_stack([column, matrix])


def cell_rows(block: Block, values: NDArray[np.float64]) -> Rows:
    """One number a cell, added to the row of its item."""
    return Rows(block.ptr, block.item, values[:, None])


def person_rows(values: NDArray[np.float64]) -> Rows:
    """One line of numbers a person, all added to row 0."""
    people = len(values)
    return Rows(np.arange(people + 1), np.zeros(people, np.uint32), values)


@dataclass(frozen=True)
class FirstOrder:
    """The first-order rounds of one plan: global mean, popularity, item biases."""

    public: Public
    features: Design | None
    pure: bool
    """Whether bounds are of L1, because the budget asks for pure mechanisms."""
    rare: bool = False
    """Whether effort moves further to rare items: where item factors are learned of crowded
    ones."""

    @staticmethod
    def of(public: Public) -> FirstOrder:
        """The rounds that these public facts allow."""
        return FirstOrder(public, public_design(public), is_pure(public.budget))

    @property
    def whole_person(self) -> bool:
        """Whether the promise is about a person with all her ratings."""
        return self.public.unit == "user"

    @cached_property
    def _person_bound(self) -> Bound:
        """What a whole person may add: a row of norm 1."""
        return RowClip(1.0, "l1" if self.pure else "l2")

    def weight_of_one(self, count: float) -> float:
        """The weight of one rating of a typical person."""
        if not self.whole_person:
            return 1.0
        return 1 / count if self.pure else 1 / sqrt(count)

    def people(self, share: float) -> Round:
        """Global mean and typical count: at `user` a row of norm below 1, at `rating` three numbers
        (`LevelCells`)."""

        def contribute(block: Block, state: FirstState) -> Mapping[str, Rows]:
            if not self.whole_person:
                return {"level": Rows(block.ptr, block.item * 0, block.value[:, None])}
            from tacit.kernels.rows import shrunk_means

            counts = np.diff(block.ptr)
            mean = np.empty(len(counts))
            shrunk_means(block.ptr, block.value, 0.0, 2.0, mean)
            log_count = np.minimum(np.log2(np.maximum(counts, 1)), MOST_LOG_COUNT)
            log_count = log_count - levels.LOG_COUNT_MIDDLE
            row = [
                levels.MEAN_WEIGHT * mean / 2,
                levels.COUNT_WEIGHT * log_count / levels.LOG_COUNT_MIDDLE,
            ]
            return {"level": person_rows(np.where(counts > 0, row, 0.0).T)}

        def absorb(state: FirstState, released: Mapping[str, Released]) -> FirstState:
            noisy = released["level"]
            find = levels.mean_of_ratings
            if self.whole_person:
                find = levels.mean_of_users
            global_mean = find(noisy.value[0], max(noisy.sd, TINY), state.people)
            return replace(state, level=global_mean)

        bound = self._person_bound if self.whole_person else LevelCells()
        width = 2 if self.whole_person else 3
        part = Part("level", 1, bound, width=width, share=share)
        return Round("people", (part,), contribute, absorb)

    def weights(self, share: float) -> Round:
        """How much each item is rated: at `user` rows of norm 1, at `rating` plain counts."""

        def contribute(block: Block, state: FirstState) -> Mapping[str, Rows]:
            return {"weights": cell_rows(block, self.cell_weights(block, state))}

        def absorb(state: FirstState, released: Mapping[str, Released]) -> FirstState:
            noisy = released["weights"]
            people = state.people
            count = state.level.count
            unit_weight = self.weight_of_one(count)
            skew = USER_SKEW if self.whole_person else RATING_SKEW
            typical = skew * count * unit_weight
            mean = people * typical / self.public.items
            sd = max(noisy.sd, TINY)
            matrix = None if self.features is None else self.features.matrix
            if self.public.known is not None:
                matrix = prepend_column(self.public.known.popularity, matrix)
            low, high = 0.5 * unit_weight, people * unit_weight
            denoised = denoise_weights(
                noisy.value[:, 0], sd, low=low, high=high, mean=mean, features=matrix
            )
            return replace(state, weights=denoised)

        bound = self._person_bound if self.whole_person else CellClip(1.0)
        part = Part("weights", self.public.items, bound, share=share)
        return Round("weights", (part,), contribute, absorb)

    def effects(self, name: str, share: float, spread: float) -> Round:
        """Sums of residuals from the item biases so far, less each person's shrunk mean; then a
        better baseline.

        `spread` is the noise sd that this share means at a row norm of 1: it sets, by rule, how
        much effort moves from crowded to rare items."""
        items = self.public.items
        bound = self._person_bound if self.whole_person else CentredCells(items)

        def contribute(block: Block, state: FirstState) -> Mapping[str, Rows]:
            residuals = block.value - state.level.mean - self.effect(state)[block.item]
            if not self.whole_person:
                return {"sums": cell_rows(block, residuals)}
            from tacit.kernels.rows import shrunk_means

            residuals = np.clip(residuals, -RESIDUAL_LIMIT, RESIDUAL_LIMIT)
            user_means = np.empty(len(block.people))
            shrunk_means(
                block.ptr, residuals, float(levels.OWN_SHRINKAGE), 2 * RESIDUAL_LIMIT, user_means
            )
            residuals -= np.repeat(user_means, np.diff(block.ptr))
            multiplier, clip = self.effort(state, spread)
            weight = self.cell_weights(block, state)
            sums = residuals * weight * multiplier[block.item] / clip
            return {"sums": cell_rows(block, sums)}

        def absorb(state: FirstState, released: Mapping[str, Released]) -> FirstState:
            noisy = released["sums"]
            clip = 1.0
            scale = np.ones(items)
            if self.whole_person:
                multiplier, clip = self.effort(state, spread)
                scale = KEPT * multiplier
            sd = max(clip * noisy.sd, TINY)
            return self.learn(state, clip * noisy.value[:, 0], sd, scale)

        part = Part("sums", items, bound, share=share)
        return Round(name, (part,), contribute, absorb)

    def learn(
        self, state: AnyFirst, sums: NDArray[np.float64], sd: float, scale: NDArray[np.float64]
    ) -> AnyFirst:
        """Update item biases from one more release, `sums` = scale_i W_i (b_i - bias_i) + N(0,
        sd^2)."""
        weights = state.weights
        prior_evidence = Evidence.none(self.public.items)
        if state.evidence is not NOT_YET:
            prior_evidence = state.evidence
        sampling_variance = self.sampling(state) - self.shared(state)  # of these people alone
        noise = np.sqrt(sd**2 + RELEASES * scale**2 * sampling_variance * weights.mean)
        evidence = prior_evidence.add(sums, noise, scale, weights, self.effect(state))
        return self.settle(state, evidence)

    def settle(self, state: AnyFirst, evidence: Evidence) -> AnyFirst:
        """Posterior item biases from all evidence so far.

        `shared_sampling`, after a start from an earlier model: sampling noise of people's ratings
        that its sums and the new ones share, by item."""
        estimate = estimate_item_biases(
            evidence,
            state.weights,
            None if self.features is None else self.features.matrix,
            sampling=self.shared(state),
            level_variance=state.level.variance,
            public_prior=self.public.known,
        )
        item_biases = ItemBiases(estimate.mean, estimate.variance, estimate.gain)
        return replace(state, evidence=evidence.filled(), effects=item_biases)

    def effect(self, state: FirstState) -> NDArray[np.float64]:
        """Item biases so far; zeros before the first sums."""
        if state.effects is not NOT_YET:
            return state.effects.mean
        return np.zeros(self.public.items)

    def shared(self, state: FirstState) -> NDArray[np.float64] | float:
        """Of people's own noise, what all sums so far have in common."""
        if state.shared_sampling is not NOT_YET:
            return state.shared_sampling
        return self.sampling(state)

    def sampling(self, state: FirstState) -> float:
        """Variance of an item's sums for a unit of its weight, from people's own noise,
        after division by `KEPT`."""
        return NOISE * (
            SAMPLED * self.weight_of_one(state.level.count) if self.whole_person else 1.0
        )

    def cell_weights(self, block: Block, state: FirstState) -> NDArray[np.float64]:
        """How much each cell counts in a sum over people."""
        if not self.whole_person:
            return np.ones(len(block.item))
        return person_weights(block, even_count(state), self.pure)

    def effort(self, state: FirstState, spread: float) -> tuple[NDArray[np.float64], float]:
        """Public multipliers of residuals, and the row clip that goes with them."""
        weights = state.weights
        low = 0.5 * self.weight_of_one(state.level.count)
        sd = max(spread, TINY)
        lean = RARE if self.rare else Lean()
        multiplier, clip = emphasis(weights, sd, low, lean)
        if self.pure:  # the typical L1 norm of a row of unit residuals
            clip = float(weights.mean @ multiplier / weights.mean.sum())
        return multiplier, ROW_SHARE * clip


# Rules that divide a budget over the first-order rounds: from people, budget and settings,
# never from ratings.


def strength(budget: Budget | None) -> float:
    """mu of the Gaussian rounds that this budget pays for; for pure ones the epsilon that
    acts about alike; infinite without noise."""
    from tacit.ledger.account.calibrate import gaussian_mu

    if budget is None:
        return inf
    if is_pure(budget):
        return budget.epsilon / 2
    return gaussian_mu(budget.epsilon, budget.delta)


def is_pure(budget: Budget | None) -> bool:
    """Whether a budget asks for pure mechanisms, so that bounds are of L1."""
    return budget is not None and budget.delta == 0


def global_mean_share(people: float, mu: float, need: float = GLOBAL_MEAN_NEED) -> float:
    """Budget share at which the global mean has a standard error of a few hundredths."""
    return float(np.clip((need / (people * mu)) ** 2, GLOBAL_MEAN_LEAST, GLOBAL_MEAN_MOST))


@dataclass(frozen=True)
class BaselineShares:
    """How `bias` divides its budget; the parts add up to 1."""

    level: float
    weights: float
    sweep: float
    """Of each sweep of item sums."""
    choice: float


def baseline_shares(people: float, mu: float, sweeps: int) -> BaselineShares:
    """The rule of `bias`, for so many sweeps of item sums."""
    level = global_mean_share(people, mu)
    after_level = 1 - level
    return BaselineShares(
        level=level,
        weights=WEIGHTS_SHARE * after_level,
        sweep=ITEM_BIAS_SHARE * after_level / sweeps,
        choice=CHOICE_SHARE * after_level,
    )


def small_budget(matrix: NDArray[np.float64], features: Design) -> NDArray[np.float64]:
    """Item factors with biases and features, scaled for small budgets."""
    times = np.ones(matrix.shape[1])
    times[1] = SMALL_POPULARITY / POPULARITY
    times[2] = SMALL_POPULARITY_SLOPE / POPULARITY_SLOPE
    years = 3 + np.flatnonzero(features.kind == YEAR)
    times[years] = np.sqrt(SMALL_YEAR / FEATURES[YEAR])
    return np.ascontiguousarray(matrix * times)


# First-order statistics on a calendar: level, weights and effects from running sums.
#
# Every week's people subtract the effects that were public in their week, e_s, and weigh their
# residuals as it was public then, k_s. The running sums of item i are then
#
#     sum over weeks of k_s W_s (b - e_s)  =  W k (b - e),
#
# where k and e are the means of k_s and e_s over the people of all weeks (e weighted by k_s), as
# far as an item's share of the ratings stays the same from week to week. That is one release of
# sums, as `Evidence` knows it; what a one-off fit does in sweeps, the weeks do one after the
# other. `steady` says k_s and e_s, so that the sums are read by them (`tacit.rounds.running`).


@dataclass(frozen=True)
class StreamedFirst(FirstState):
    """First-order statistics on a calendar."""

    elapsed: float = 0.0
    """Which part of the calendar is over, this week included."""
    before: float = 0.0
    """People who were counted in earlier weeks, as far as it was released."""


class StreamedOrder(FirstOrder):
    """The first-order rounds for running sums."""

    @staticmethod
    def of(public: Public) -> StreamedOrder:
        """The rounds that these public facts allow."""
        order = FirstOrder.of(public)
        return StreamedOrder(order.public, order.features, order.pure)

    def effort(self, state: FirstState, spread: float) -> tuple[NDArray[np.float64], float]:
        """By the weights that are to be expected at the end of the calendar: effort that is
        right then is worth most."""
        grown = max(self.public.people / state.people, 1.0)
        mean = grown * state.weights.mean
        weights = replace(state.weights, mean=mean)
        return super().effort(replace(state, weights=weights), spread)

    def running_item_biases(self, share: float, spread: float) -> Round:
        """One round of sums a week; see the module."""
        once = self.effects("effects", share, spread)

        def steady(state: AnyState) -> Mapping[str, Stationary]:
            multiplier, clip = self.effort(state, spread)
            return {
                "sums": Stationary(
                    KEPT * multiplier / clip, self.effect(state), state.weights.mean / state.people
                )
            }

        def absorb(state: AnyState, released: Mapping[str, Released]) -> AnyState:
            noisy = released["sums"]
            if not isinstance(noisy, Running):  # one week, and no calendar
                current = steady(state)["sums"]
                noisy = Running(noisy.value, noisy.sd, scale=current.scale, taken=current.taken)
            sd = noisy.sd if noisy.each is None else noisy.each[:, 0]
            evidence = Evidence.none(self.public.items).add(
                noisy.value[:, 0],
                np.maximum(sd, TINY),
                noisy.scale,
                state.weights,
                np.asarray(noisy.taken),
            )
            return self.settle(state, evidence)

        return replace(once, absorb=absorb, steady=steady)
