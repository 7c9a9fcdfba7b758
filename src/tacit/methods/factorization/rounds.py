"""Rounds that learn item factors at the unit `user`: noisy statistics (least squares) or
noisy gradients.

Everybody folds in her own vector from the public profiles and adds, for each item she
rated, what its factors should be told: the right-hand side w y z and, for least squares,
the left-hand side w (E[zz'] - I). What is released is turned into factors by empirical
Bayes with the known noise (`tacit.methods.refine.factors`), so noise that drowns them
leaves zero.

Guarantee: a person's whole contribution of a round, over all items and columns, is one row
scaled to an L2 norm of at most `norm`, whatever the kernel computed. The rows of later
rounds depend on earlier releases, which is composition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tacit.bound import RowClip, Rows
from tacit.data.features import Design
from tacit.methods.base import Public
from tacit.methods.factorization.printed.descent import scalar_lift
from tacit.methods.first_order.rounds import (
    RESIDUAL_LIMIT,
    TINY,
    even_count,
    kept_weights,
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
from tacit.model.person.gaussian import NOISE, loadings
from tacit.rounds.people import Coin, Everyone, Participation
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

Floats = NDArray[np.float64]
EVERYONE = Everyone()
MOMENT = 0.25
"""Typical variance of a folded-in coordinate of prior variance 1, where no left-hand side
is released."""


@dataclass(frozen=True)
class Learning:
    """How the factors of one plan are learned: public constants."""

    width: int
    seed: int
    power: float = 0.4
    """Adaptive weights: an item's share falls with its released weight to this power
    (MECHANISMS 8.3)."""
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
    implicit: bool = False
    """SVD++ with implicit factors learned for each item (Koren 2008)."""
    scalar: bool = False
    """SVD++ with the scalar that Xian et al. print: a function of a person's own count,
    which nobody else sees."""
    norm: float = 0.0
    """The clip; 0 takes a rule."""

    @property
    def clip(self) -> float:
        return self.norm or sqrt(0.1 * self.width)

    @property
    def columns(self) -> int:
        packed = self.width * (self.width + 1) // 2 if self.second > 0 else 0
        return self.width + packed + (self.width if self.implicit else 0)


def baseline(state: State) -> Floats:
    """What the first-order rounds say about each item."""
    known: Floats = float(state["level"][0]) + state["effect"]
    return known


def profiles(state: State, features: Design | None) -> tuple[Floats, int]:
    """Public item profiles [level | popularity | features | factors] for persons with z ~
    N(0, I), and how many columns
    are settled before the factors."""
    level, learned = float(state["level"][1]), state.get("factors")
    made, _ = loadings(
        kept_weights(state).popularity, features, level_variance=level, learned=learned
    )
    return made, made.shape[1] - (0 if learned is None else learned.shape[1])


def at_least(state: State, size: float) -> Floats:
    """The factors, scaled up if the ratings say less than `size` by them: for the next
    round only directions matter."""
    factors = np.asarray(state["factors"], np.float64)
    now = sqrt(
        float(state["weight"] @ (factors**2).sum(axis=1))
        / max(float(state["weight"].sum()), TINY)
    )
    return factors * max(1.0, size / now) if now > TINY else factors


def random_profiles(items: int, how: Learning) -> Floats:
    """Public random rows to start from."""
    rng = np.random.default_rng(how.seed)
    return rng.standard_normal((items, how.width)) * (how.start / sqrt(how.width))


def item_weights(state: State, power: float) -> Floats:
    """Weight of each item in a person's row, with mean square 1 over ratings."""
    weight = np.maximum(state["weight"], 1.0)
    raw = weight**-power
    scale = sqrt(float(weight @ raw**2) / float(weight.sum()))
    return np.asarray(np.minimum(raw / scale, 4.0), np.float64)


def weight_of_one(state: State, power: float) -> Floats:
    """Weight of one rating of each item, of a typical person."""
    return item_weights(state, power) / sqrt(max(float(state["level"][2]), 2.0))


def learning_round(
    public: Public,
    how: Learning,
    name: str,
    share: float,
    *,
    takes_part: Participation = EVERYONE,
    first: bool = False,
    last: bool = True,
) -> Round:
    """One round. The `first` starts from random profiles, which its factors replace; the
    `last` must pay for itself."""
    items = public.items
    d = how.width
    features = public_design(public)
    rate = takes_part.rate if isinstance(takes_part, Coin) else 1.0
    gradient = how.gradient and not first

    def shown(state: State) -> Floats:
        return random_profiles(items, how) if first else at_least(state, how.least)

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        from tacit.kernels.factors import person_rows

        matrix, fixed = profiles({**state, "factors": shown(state)}, features)
        implicit = np.zeros((0, matrix.shape[1]))
        if how.implicit:
            implicit = np.hstack(
                [np.zeros((items, fixed)), state.get("implicit", np.zeros((items, d)))]
            )
        out = np.empty((len(block.item), how.columns))
        person_rows(
            block.ptr,
            block.item,
            block.value - baseline(state)[block.item],
            matrix,
            1.0 / (NOISE + state["variance"] + state.get("unknown", np.zeros(items))),
            fixed,
            implicit,
            scalar_lift(np.diff(block.ptr)) if how.scalar else np.zeros(0),
            item_weights(state, how.power),
            even_count(state),
            RESIDUAL_LIMIT,
            how.second,
            gradient,
            out,
        )
        return {"factors": Rows(block.ptr, block.item, out)}

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        value, sd = released["factors"].value, max(released["factors"].sd, TINY)
        weight = (
            np.maximum(state["weight"], 0.0) * item_weights(state, how.power) * rate
        )
        right = value[:, :d]
        if gradient:  # what the right-hand side would be, had nothing been subtracted
            right = right + MOMENT * weight[:, None] * shown(state)
        seen = 1.0
        if (
            how.chain and not first
        ):  # the mean of the chain after its first step: evidence of all rounds
            seen = float(state.get("seen", np.zeros(1))[0]) + 1
            right = (
                state.get("chain", np.zeros_like(right)) * (1 - 1 / seen) + right / seen
            )
            state = {**state, "seen": np.array([seen]), "chain": right}
        found = evidence(state, right, value[:, d:], weight, sd, how, seen, last)
        state = {
            **state,
            "factors": finish_factors(found, how),
            "unknown": found.unknown,
        }
        if how.implicit:
            state = {
                **state,
                "implicit": implicit_factors(state, value[:, -d:], weight, sd, how),
            }
        return state

    part = Part("factors", items, RowClip(how.clip), width=how.columns, share=share)
    return Round(name, (part,), contribute, absorb, takes_part)


def evidence(
    state: State,
    right: Floats,
    rest: Floats,
    weight: Floats,
    sd: float,
    how: Learning,
    seen: float = 1.0,
    last: bool = True,
) -> ItemFactors:
    """Factors from right-hand sides (the mean of `seen` releases) and, if they were
    released, left-hand sides."""
    d = how.width
    if how.second > 0:
        moments = unpack(rest[:, : d * (d + 1) // 2], d) / how.second
        entry_sd = sd / how.second * np.where(np.eye(d) > 0, 1.0, sqrt(0.5))
        moment = person_moment(
            moments.sum(axis=0), float(weight.sum()), sd / how.second * sqrt(len(right))
        )
        left = item_moments(moments, weight, moment, entry_sd)
    own = NOISE * weight_of_one(state, how.power)
    if how.second > 0:
        noise = own[:, None, None] * left + sd**2 / seen * np.eye(d)
    else:
        left = MOMENT * weight
        noise = own * left + sd**2 / seen
    return item_factors(
        right, left, noise, pays=PAYS if last else -np.inf
    )  # directions may help later rounds


def finish_factors(found: ItemFactors, how: Learning) -> Floats:
    """Non-negative factors are the projection of the posterior mean on what is not negative."""
    return np.maximum(found.mean, 0.0) if how.nonnegative else found.mean


def implicit_factors(
    state: State, right: Floats, weight: Floats, sd: float, how: Learning
) -> Floats:
    """y_i: what having rated an item says about a person's vector, from the mean deviation
    of its raters.

    Each rater's deviation is explained by all n of her items together, so an item's share
    of it is its mean over the root of a typical n: then n^-1/2 times their sum is the mean
    over her items.
    """
    noise = MOMENT * weight_of_one(state, how.power) * weight + sd**2
    found = item_factors(right, weight, noise, shape=False).mean / sqrt(
        max(float(state["level"][2]), 1.0)
    )
    return np.asarray(state.get("implicit", np.zeros_like(found)) + found, np.float64)
