"""The round that learns item factors at the unit `user`, from noisy statistics (least
squares) or noisy gradients.

A rating of item i by person u, less its baseline, is y = x_i'z_u + noise, z_u ~ N(0, I). Of
x_i the first columns are settled (her level, her slope on popularity, public features); the
others are the factors v_i, which a round makes better:

1. `contribute`, on each person's side: she folds in her own vector z from her ratings and
   the public profiles, and adds, for each item that she rated, the right-hand side w y z of
   the regression that its factors solve and, for least squares, the left-hand side
   w (E[zz'] - I). w evens out people and items (`item_weights`).
2. Her whole row, over all items and columns, is clipped to one norm, summed, and noised.
3. `absorb`: what was released is turned into factors by empirical Bayes with the known
   noise (`tacit.methods.refine.factors`), so that noise that drowns them leaves zero.

Guarantee: a person's whole contribution of a round, over all items and columns, is one row
scaled to an L2 norm of at most `Learning.clip`, whatever the kernel computed. The rows of
later rounds depend on earlier releases, which is composition (docs/proofs/mf.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.bound import RowClip, Rows
from tacit.data.features import Design
from tacit.methods.base import Public
from tacit.methods.factorization.state import FactorState, LangevinChain
from tacit.methods.first_order.rounds import (
    RESIDUAL_LIMIT,
    TINY,
    even_count,
    loadings,
    public_design,
)
from tacit.methods.refine.factors import (
    PAYS,
    ItemFactors,
    item_factors,
    item_moments,
    person_moment,
    unpack,
)
from tacit.model.person.gaussian import NOISE
from tacit.rounds.people import EVERYONE, Participation
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import NOT_YET

Floats = NDArray[np.float64]
MOMENT = 0.25
"""Typical variance of a folded-in coordinate of prior variance 1, where no left-hand side
is released."""
CLIP_EACH = 0.1
"""Square of the clip, for each factor: of four values that were tried (docs/results/mf.md)."""
MOST_EMPHASIS = 4.0
"""A rare item weighs at most so many times a typical one in a person's row."""
LEAST_COUNT = 2.0
"""Ratings of a typical person, at the least."""
Implicit = Literal["nothing", "scalar", "learned"]
LIFT_SHRINK = 10.0
"""lambda_3 of Xian et al.: so many ratings halve what their number says."""


@dataclass(frozen=True)
class Learning:
    """How the factors of one round are learned: public constants. How they were chosen:
    docs/results/mf.md."""

    width: int
    """Factors of each item."""
    seed: int
    """Of the random profiles that the first round starts from."""
    power: float = 0.4
    """Adaptive weights (Krichene et al. 2023): an item's share of a person's row falls with
    its released weight to this power."""
    start: float = 0.3
    """Standard moments of what the first, random profiles say about a rating."""
    least: float = 0.2
    """In later rounds people see the factors at no less than this standard deviation."""
    second: float = 0.3
    """Weight of the left-hand side in the row that is clipped; 0 leaves it out and takes
    A_i = W_i / 4."""
    gradient: bool = False
    """Later rounds add gradients at the released factors, instead of right-hand sides."""
    chain: bool = False
    """The factors are the mean over rounds, not the last round's."""
    nonnegative: bool = False
    """The released factors are projected on what is not negative."""
    implicit: bool = False
    """SVD++ with implicit factors learned for each item (Koren 2008)."""
    scalar: bool = False
    """SVD++ with the scalar that Xian et al. print: a function of a person's own count,
    which nobody else sees."""
    norm: float = 0.0
    """The clip; 0 takes a rule."""

    @property
    def clip(self) -> float:
        """The most that one person's row may measure."""
        return self.norm or sqrt(CLIP_EACH * self.width)

    @property
    def packed(self) -> int:
        """Columns of the left-hand side: an upper triangle."""
        return self.width * (self.width + 1) // 2 if self.second > 0 else 0

    @property
    def columns(self) -> int:
        """Of what is released for each item: right-hand side, left-hand side, implicit."""
        return self.width + self.packed + (self.width if self.implicit else 0)


def learning_round(
    public: Public,
    learning: Learning,
    name: str,
    share: float,
    *,
    takes_part: Participation = EVERYONE,
    first: bool = False,
    last: bool = True,
) -> Round:
    """One round, as the module says it.

    `learning` are its constants, `share` its part of the budget, `takes_part` who contributes.
    The `first` starts from random profiles, which its factors replace; the `last` must pay
    for itself, because its factors are published.
    """
    items = public.items
    width = learning.width
    features = public_design(public)
    gradient = learning.gradient and not first

    def visible_factors(state: FactorState) -> Floats:
        return random_factors(items, learning) if first else at_least(state, learning.least)

    def contribute(block: Block, state: FactorState) -> Mapping[str, Rows]:
        from tacit.kernels.factors import person_rows  # compiled on first use

        # The public side: what every person folds her ratings into.
        item_profiles = profiles(replace(state, factors=visible_factors(state)), features)
        implicit = np.zeros((0, item_profiles.matrix.shape[1]))
        if learning.implicit:
            implicit = widened(implicit_so_far(state, width), item_profiles.settled)
        lift = np.zeros(0)
        if learning.scalar:
            lift = scalar_lift(np.diff(block.ptr))
        # Each person alone: her vector, then one row for each of her ratings, from which the
        # rating itself is left out.
        out = np.empty((len(block.item), learning.columns))
        person_rows(
            block.ptr,
            block.item,
            block.value - state.baseline[block.item],
            item_profiles.matrix,
            1.0 / (NOISE + state.effects.variance + state.doubt),
            item_profiles.settled,
            implicit,
            lift,
            item_weights(state, learning.power),
            even_count(state),
            RESIDUAL_LIMIT,
            learning.second,
            gradient,
            out,
        )
        return {"factors": Rows(block.ptr, block.item, out)}

    def absorb(state: FactorState, released: Mapping[str, Released]) -> FactorState:
        value = released["factors"].value
        sd = max(released["factors"].sd, TINY)
        # W_i: what those who rated an item and took part weigh together.
        weight = np.maximum(state.weights.mean, 0.0) * item_weights(state, learning.power)
        weight = weight * takes_part.chance
        right = value[:, :width]
        if gradient:  # what the right-hand side would be, had nothing been subtracted
            right = right + MOMENT * weight[:, None] * visible_factors(state)
        # A chain is judged by the evidence of all its rounds, whose noise averages out.
        releases = 1.0
        if learning.chain and not first:
            state = replace(state, chain=_longer(state, right))
            right = state.chain.mean
            releases = state.chain.steps
        sides = NormalEquations(
            right, value[:, width : width + learning.packed], weight, sd, releases
        )
        solution = solve(state, sides, learning, pays=PAYS if last else -inf)
        factors = np.maximum(solution.mean, 0.0) if learning.nonnegative else solution.mean
        state = replace(state, factors=factors, unknown=solution.unknown)
        if learning.implicit:
            implicit_update = implicit_factors(state, value[:, -width:], weight, sd, learning)
            state = replace(state, implicit=implicit_so_far(state, width) + implicit_update)
        return state

    part = Part("factors", items, RowClip(learning.clip), width=learning.columns, share=share)
    return Round(name, (part,), contribute, absorb, takes_part)


@dataclass(frozen=True)
class NormalEquations:
    """Released sums of each item: the two sides of the regression that its factors solve."""

    right: Floats
    left: Floats
    """Packed triangles; no columns where none were released."""
    weight: Floats
    """What an item's raters weigh together."""
    sd: float
    """Of the noise on each number."""
    seen: float = 1.0
    """How many releases the right-hand side is the mean of."""


def solve(
    state: FactorState, sides: NormalEquations, learning: Learning, *, pays: float = PAYS
) -> ItemFactors:
    """Factors v_i by empirical Bayes, from right_i = A_i v_i + noise.

    Unless they explain the released numbers better by `pays`, in log likelihood, they are
    zero. Before the last round even directions that do not pay may help.
    """
    # The noise is that of the raters' own ratings, and that of the release, which is known.
    rating_noise = NOISE * weight_of_one(state, learning.power)
    variance = sides.sd**2 / sides.seen
    if not learning.second > 0:
        left = MOMENT * sides.weight
        return item_factors(sides.right, left, rating_noise * left + variance, pays=pays)
    left = left_sides(sides, learning)
    noise = rating_noise[:, None, None] * left + variance * np.eye(learning.width)
    return item_factors(sides.right, left, noise, pays=pays)


def left_sides(sides: NormalEquations, learning: Learning) -> Floats:
    """A_i, from noisy triangles: the second moment of all people's vectors, and what stands
    out of the noise of an item's own raters."""
    # Off-diagonal entries were sent times sqrt 2, so that the norm of a triangle is that of
    # its matrix; unpacked, they have half the variance of the diagonal ones.
    moments = unpack(sides.left, learning.width) / learning.second
    sd = sides.sd / learning.second
    entry_sd = sd * np.where(np.eye(learning.width) > 0, 1.0, sqrt(0.5))
    total_sd = sd * sqrt(len(sides.right))
    moment = person_moment(moments.sum(axis=0), float(sides.weight.sum()), total_sd)
    return item_moments(moments, sides.weight, moment, entry_sd)


def implicit_factors(
    state: FactorState, right: Floats, weight: Floats, sd: float, learning: Learning
) -> Floats:
    """y_i: what having rated an item says about a person's vector, from the mean deviation
    of its raters.

    Each rater's deviation is explained by all n of her items together, so an item's share
    of it is its mean over the root of a typical n: then n^-1/2 times their sum is the mean
    over her items.
    """
    noise = MOMENT * weight_of_one(state, learning.power) * weight + sd**2
    factors = item_factors(right, weight, noise, shape=False).mean
    return np.asarray(factors / sqrt(max(state.level.count, 1.0)), np.float64)


def implicit_so_far(state: FactorState, width: int) -> Floats:
    """Implicit factors of the rounds before; none before the first."""
    if state.implicit is not NOT_YET:
        return state.implicit
    return np.zeros((len(state.weights.mean), width))


class Profiles(NamedTuple):
    """Public rows of all items."""

    matrix: Floats
    """[level | popularity | agreement | features | factors] for persons with z ~ N(0, I)."""
    settled: int
    """How many columns come before the factors."""


def profiles(state: FactorState, features: Design | None) -> Profiles:
    """What is public of each item so far."""
    learned = state.factors if state.factors is not NOT_YET else None
    matrix, _ = loadings(
        state.weights.popularity,
        features,
        item_biases=state.effects.mean,
        level_variance=state.level.variance,
        learned=learned,
    )
    factors = 0 if learned is None else learned.shape[1]
    return Profiles(matrix, matrix.shape[1] - factors)


def random_factors(items: int, learning: Learning) -> Floats:
    """Public random rows to start from: a person's answers to random directions already say
    which of her items go together."""
    rng = np.random.default_rng(learning.seed)
    return rng.standard_normal((items, learning.width)) * (learning.start / sqrt(learning.width))


def at_least(state: FactorState, size: float) -> Floats:
    """The factors, scaled up if the ratings say less than `size` by them: for the next
    round only directions matter."""
    factors = np.asarray(state.factors, np.float64)
    weight = state.weights.mean
    square = float(weight @ (factors**2).sum(axis=1)) / max(float(weight.sum()), TINY)
    current_size = sqrt(square)
    return factors * max(1.0, size / current_size) if current_size > TINY else factors


def item_weights(state: FactorState, power: float) -> Floats:
    """Weight of each item in a person's row, with mean square 1 over ratings: crowded items
    leave room under the clip to rare ones."""
    weight = np.maximum(state.weights.mean, 1.0)
    raw = weight**-power
    scale = sqrt(float(weight @ raw**2) / float(weight.sum()))
    return np.asarray(np.minimum(raw / scale, MOST_EMPHASIS), np.float64)


def weight_of_one(state: FactorState, power: float) -> Floats:
    """Weight of one rating of each item, of a typical person."""
    count = max(state.level.count, LEAST_COUNT)
    weight: Floats = item_weights(state, power) / sqrt(count)
    return weight


def _longer(state: FactorState, right: Floats) -> LangevinChain:
    """The chain with one more release: the mean after its first step, so evidence of all
    rounds."""
    chain = LangevinChain(np.zeros_like(right), 0.0)
    if state.chain is not NOT_YET:
        chain = state.chain
    steps = chain.steps + 1
    return LangevinChain(chain.mean * (1 - 1 / steps) + right / steps, steps)


# What having rated says about a person, whatever her ratings are: the implicit side of SVD++.
#
# Either one number that grows with how much she rated and is added to each of her factors, as
# Xian et al. 2017 print it (`scalar`), or factors learned for each item, whose mean over what
# she rated moves her vector (`learned`, Koren 2008).


def scalar_lift(counts: NDArray[np.int64]) -> Floats:
    """SVD++'s implicit term as Xian et al. print it: one number a person, added to each of
    her factors."""
    lift: Floats = np.sqrt(counts) / (LIFT_SHRINK + counts)
    return lift


def lifted_values(block: Block, factors: Floats) -> Floats:
    """What the scalar says about each rating of a block: the same number in every factor, so
    it meets the sum of an item's factors."""
    counts = np.diff(block.ptr)
    lift = np.repeat(scalar_lift(counts), counts)
    offsets: Floats = lift * factors.sum(axis=1)[block.item]
    return offsets


def learned_values(block: Block, profiles: Floats, implicit: Floats) -> Floats:
    """What learned implicit factors, as wide as the profiles, say about each rating: those
    of everything a person rated, over the root of its number."""
    from tacit.kernels.factors import implicit_values

    offsets = np.empty(len(block.item))
    implicit_values(block.ptr, block.item, profiles, implicit, offsets)
    return offsets


def widened(implicit: Floats, settled: int) -> Floats:
    """Implicit factors beside `settled` columns, about which they say nothing."""
    return np.hstack([np.zeros((len(implicit), settled)), implicit])
