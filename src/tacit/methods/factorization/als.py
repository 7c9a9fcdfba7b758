"""Alternating least squares from noisy statistics: DPALS (Chien et al. 2021) with adaptive
weights (Krichene et al. 2023), and the weighted non-negative factorization that Hua et al.
2015 name as future work.

    level, weights and effects of the items        released: the rounds of `bias`
    V := random rows, public
    in every round:
        each person    z := ridge solve of her ratings, less the effects, against V
        released       sums over people of w y z and of w (E[zz'] - I), item by item
        V := ridge solve of each item from its noisy sums, as wide as the noise allows
    how widely people differ, with and without V   released: the choice of `bias`

A person's z never leaves her side. Two files tell the rest: `factorization/base.py` the plan
and its shares of the budget, `factorization/rounds.py` the round and its solve. Likes
(`--positive`) take the implicit-feedback form of `factorization/likes.py`. Why each release
is bounded: docs/proofs/mf.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import RowClip, Rows
from tacit.methods.base import Form, Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.factorization.base import (
    FactorMethod,
    FactorSettings,
    Forms,
    factor_plan,
    rule_width,
    shares,
)
from tacit.methods.factorization.publish import publish, shared_model
from tacit.methods.factorization.rounds import Learning
from tacit.methods.factorization.state import FactorState, LikesState
from tacit.methods.first_order.rounds import TINY, cell_rows, person_rows, person_weights, strength
from tacit.methods.refine.factors import clip_spectrum, item_factors, unpack
from tacit.methods.refine.weights import denoise_weights
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Block, Part, Released, Round
from tacit.rounds.state import NOT_YET, State

ROUNDS = 2
LIKES_ROUNDS = 3
"""Of factors, for ratings and for likes: more would share the same budget."""
Floats = NDArray[np.float64]
FACTORS_FROM = 1500.0
"""People times mu below which likes get no factors: less than for ratings, since popularity
alone ranks worse than item effects predict (docs/results/mf.md)."""
LIKE_WEIGHT = 8.0
"""How much more a like weighs than the absence of one."""
LIKE_RIDGE = 20.0
"""Of an item's solve, and of everybody's without noise: found on one split of ML-1M, as the
twin's."""
LEAST_TOLD = 500.0
"""People x mu x the square of the share of a person's likes that is taste and not chance, below
which everybody's vector would be chance: popularity is measured once more instead. It is 540
where ML-1M begins to gain, and 460 for six likes a person at epsilon 20, which gain nothing."""
CHANCE_LIKES = 60.0
"""Likes of a person of which as much is taste as is chance, by that rule."""
EVEN = 30
"""Below so many likes a person's weight stops growing."""
TYPICAL = 30.0
"""Likes of a typical person: a public guess, used where a weight must become a count."""
OWN_RIDGE = 1e-3
OWN_RIDGE_EACH = 0.01
"""Ridge of a person's own solve: a little, and this share of the factors' mean square."""
START = 0.1
"""Standard deviation of the first, random factors."""
SUMS_SHARE = 0.95
MOMENT_SHARE = 0.05
"""Of a round, for the items' sums and for the one second moment."""
LEAST_MOMENT = 0.01
"""Eigenvalues of the second moment of unit vectors, at the least."""


class ALSSettings(FactorSettings):
    """What `als` and `mf-nonnegative` can be told."""

    factors: int | None = Field(None, ge=1, le=200)
    """Factors of each item, at most 15 unless `none`; unset, 2 to 10 by people x budget."""
    epochs: int | None = Field(None, ge=1, le=1000)
    """Rounds; unset, 2 for ratings and 3 for likes."""


class LeastSquares(Form):
    """The sound form: in every round all items are solved from noisy statistics."""

    settings: ALSSettings
    story: ClassVar[str] = "Items are solved from noisy statistics."

    def learning(self, public: Public) -> Learning:
        """How each round learns: right- and left-hand sides of the items' regressions."""
        return Learning(rule_width(public, self.settings.factors), self.method.seed)

    def steps(self, public: Public) -> tuple[Learning, ...]:
        """The rounds of ratings: all alike."""
        return (self.learning(public),) * (self.settings.epochs or ROUNDS)

    def plan(self, public: Public) -> Plan:
        """First-order rounds, the steps, the choice; or the rounds of likes."""
        if public.schema.positive is not None:
            epochs = self.settings.epochs or LIKES_ROUNDS
            return likes_plan(public, self.learning(public), epochs)
        return factor_plan(public, self.steps(public), "factors", self.story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return FactorState() if public.schema.positive is None else LikesState()

    def finish(self, public: Public, state: AnyState) -> Shared:
        """Item profiles for everybody's own ridge solve."""
        if public.schema.positive is not None:
            return likes_finish(self.method, public, state)
        return publish(self.method, public, state)


# The implicit-feedback form of private least squares: top-n from likes.
#
# Everybody solves her vector against the public factors over all items (1 for liked, 0 for
# the rest; Hu, Koren & Volinsky 2008) and scales it to length 1. Released are, for each item,
# the sum of its likers' vectors and, once a round, everybody's second moment. Where released
# popularity says that people like too few items for that, everybody's vector is one and the
# same: then the sums are popularity once more.
#
# Guarantee: a person's likes enter the weights, and her vectors the sums, as rows of L2 norm
# at most 1; her second moment uu' has Frobenius norm at most 1 (docs/proofs/mf.md).


def likes_plan(public: Public, learning: Learning, epochs: int) -> Plan:
    """The items' weights, then `epochs` rounds of factors if they pay; below that signal the
    weights alone rank the items."""
    split = shares(public, epochs, FACTORS_FROM)
    rounds = [
        likes_round(public, learning, f"likes {k}", share, first=k == 1)
        for k, share in enumerate(split.factors, 1)
    ]
    story = f"{100 * split.first:.0f} % of the budget go to the items' weights."
    weights = weights_round(public, split.first)
    return Plan(public.unit, (weights, *rounds), (story,))


def weights_round(public: Public, share: float) -> Round:
    """How much each item is liked: a person's likes share a weight of norm 1."""
    items = public.items

    def contribute(block: Block, state: LikesState) -> Mapping[str, Rows]:
        return {"weights": cell_rows(block, person_weights(block, EVEN))}

    def absorb(state: LikesState, released: Mapping[str, Released]) -> LikesState:
        part = released["weights"]
        updated = weighed(state, part.value[:, 0], max(part.sd, TINY))
        return replace(updated, likes=likes_each(updated))

    part = Part("weights", items, RowClip(1.0), share=share)
    return Round("weights", (part,), contribute, absorb)


def weighed(state: LikesState, raw: Floats, sd: float) -> LikesState:
    """The items' weights from a noisy release, beside what was released of them before."""
    if state.counted is not NOT_YET:
        part = sd**2 / (sd**2 + state.counted_sd**2)
        raw = part * state.counted + (1 - part) * raw
        sd *= sqrt(1 - part)
    weights = denoise_weights(
        raw,
        sd,
        low=0.5 / sqrt(EVEN),
        high=state.people / sqrt(EVEN),
        mean=state.people * TYPICAL / sqrt(EVEN) / len(raw),
        doubt=1.0,
    )
    return replace(state, weight=weights.mean, counted=raw, counted_sd=sd)


def drowns(public: Public, state: LikesState) -> bool:
    """Whether people like too few items for vectors of their own. Asked of the first release
    alone, so that all rounds agree."""
    likes = state.likes
    taste = likes / (likes + CHANCE_LIKES)
    evidence = public.people * strength(public.budget) * taste**2
    return bool(evidence < LEAST_TOLD)


def likes_each(state: LikesState) -> float:
    """Likes of a typical person, from released weights: n likes weigh n/sqrt(max(n, EVEN))."""
    mean_weight = float(state.weight.sum()) / state.people
    return max(mean_weight * sqrt(EVEN) if mean_weight < sqrt(EVEN) else mean_weight**2, TINY)


def likes_round(
    public: Public, learning: Learning, name: str, share: float, *, first: bool
) -> Round:
    """One round: everybody's vector against the factors so far, then the items' against all
    people. The `first` starts from random factors."""
    items = public.items
    width = learning.width
    rows, columns = np.triu_indices(width)
    double = np.where(rows == columns, 1.0, sqrt(2.0))

    def contribute(block: Block, state: LikesState) -> Mapping[str, Rows]:
        # Unit vectors times 1/sqrt(c) for each of c likes: a row of norm at most 1.
        if drowns(public, state):
            user_factors = np.tile(np.eye(1, width), (len(block.people), 1))
        else:
            factors = _random(items, learning) if first else state.factors
            user_factors = unit_vectors(block, factors)
        weights = person_weights(block, EVEN)
        lines = np.repeat(user_factors, np.diff(block.ptr), axis=0) * weights[:, None]
        moment = user_factors[:, rows] * user_factors[:, columns] * double
        return {"sums": Rows(block.ptr, block.item, lines), "everyone": person_rows(moment)}

    def absorb(state: LikesState, released: Mapping[str, Released]) -> LikesState:
        if drowns(public, state):
            noisy = released["sums"]
            return weighed(state, noisy.value[:, 0], max(noisy.sd, TINY))
        everyone = unpack(released["everyone"].value[0], width) / state.people
        moment = clip_spectrum(everyone, LEAST_MOMENT, 1.0)
        sums = released["sums"].value
        sd = max(released["sums"].sd, TINY)
        factors = solve_items(state, sums, sd, moment)
        if learning.nonnegative:
            factors = np.maximum(factors, 0.0)
        return replace(state, factors=factors)

    bound = RowClip(1.0)
    parts = (
        Part("sums", items, bound, width=width, share=SUMS_SHARE * share),
        Part("everyone", 1, bound, width=len(rows), share=MOMENT_SHARE * share),
    )
    return Round(name, parts, contribute, absorb)


def _random(items: int, learning: Learning) -> Floats:
    return np.random.default_rng(learning.seed).standard_normal((items, learning.width)) * START


def unit_vectors(block: Block, factors: Floats) -> Floats:
    """Everybody's vector from her likes, of length 1: her own ridge solve over all items.

    Only its direction is used, so that likes of many and of few weigh alike.
    """
    from tacit.kernels.als import half_step_likes  # compiled on first use

    people = len(block.people)
    width = factors.shape[1]
    out = np.zeros((people, width))
    everywhere = factors.T @ factors
    half_step_likes(
        ptr=block.ptr,
        index=block.item,
        factors=factors,
        everywhere=everywhere,
        weight=LIKE_WEIGHT,
        ridge=OWN_RIDGE + OWN_RIDGE_EACH * np.trace(everywhere) / width,
        start=0,
        stop=people,
        out=out,
    )
    length = np.maximum(np.sqrt((out**2).sum(axis=1)), 1e-12)
    return np.asarray(out / length[:, None], np.float64)


def solve_items(state: LikesState, sums: Floats, sd: float, moment: Floats) -> Floats:
    """Factors of the items, each against all people: its likers' mean vector by empirical
    Bayes, then weighted least squares over likes and absences.

    `sums` are each item's likers' vectors, with noise of `sd`; `moment` is everybody's second
    moment. A person weighs 1/sqrt(c), so sums and weights become counts by the root of a
    typical c.
    """
    weight = state.weight
    unit = np.eye(sums.shape[1])
    mean = sums.sum(axis=0) / max(float(weight.sum()), TINY)
    left = weight[:, None, None] * unit
    noise = (weight / sqrt(EVEN))[:, None, None] * moment + sd**2 * unit
    # Likers of an item are everybody's mean, and what stands out of the noise.
    likers = mean + item_factors(sums - weight[:, None] * mean, left, noise).mean
    count = weight * sqrt(TYPICAL)
    # Everybody counts as an absence of weight 1, and a liker for LIKE_WEIGHT more.
    liked = (LIKE_WEIGHT * count)[:, None, None] * moment
    system = state.people * moment + liked + LIKE_RIDGE * unit
    right = ((1 + LIKE_WEIGHT) * count)[:, None, None] * likers[:, :, None]
    return np.asarray(np.linalg.solve(system, right)[:, :, 0], np.float64)


def likes_finish(method: Method, public: Public, state: LikesState) -> Shared:
    """Factors and weights for everybody's own solve; without factors, the weights rank."""
    factors = np.zeros((public.items, 1))
    if state.factors is not NOT_YET:
        factors = state.factors
    square = float((factors**2).sum())
    ridge = OWN_RIDGE + OWN_RIDGE_EACH * square / factors.shape[1]
    arrays = {"factors": factors, "weight": state.weight}
    numbers = {"weight": LIKE_WEIGHT, "ridge": ridge}
    return shared_model(method, public, "liked factors", arrays, numbers)


class NonnegativeLeastSquares(LeastSquares):
    """The same with the released side projected on what is not negative; the first round
    releases right-hand sides alone."""

    story = "Negative entries of factors become 0."

    def learning(self, public: Public) -> Learning:
        """As `als` learns, and then projected."""
        return replace(super().learning(public), nonnegative=True)

    def steps(self, public: Public) -> tuple[Learning, ...]:
        """A first round without left-hand sides, then rounds with them."""
        first, *rest = super().steps(public)
        return (replace(first, second=0.0), *rest)


class ALS(FactorMethod):
    """Rounds of: everybody solves her vector against the released items; the items are
    solved from noisy sums.

    Unlike the published code every number is bounded: ratings are clipped after centring,
    the centre and the counts are releases of their own, and a person's whole row of
    statistics is clipped to one norm. Likes (`--positive`) take the implicit-feedback form.
    """

    name = "als"
    source = "Chien et al. 2021 (DPALS); Krichene et al. 2023"
    engines: ClassVar[tuple[str, ...]] = ("threads", "spark", "federated")
    Settings: ClassVar[type[BaseSettings]] = ALSSettings
    forms: ClassVar[Forms] = {
        "sound": LeastSquares,
        "none": "tacit.methods.factorization.twin:FactorTwin",
    }


class NonnegativeMF(FactorMethod):
    """The same with the released side projected on what is not negative.

    An item is described by how much it has of each factor, never by less than none; what a
    person thinks of a factor may be good or bad, so her own side is free.
    """

    name = "mf-nonnegative"
    engines = ("threads", "spark")
    source = "future work in Hua et al. 2015"
    Settings: ClassVar[type[BaseSettings]] = ALSSettings
    forms: ClassVar[Forms] = {
        "sound": NonnegativeLeastSquares,
        "none": "tacit.methods.factorization.twin:NonnegativeTwin",
    }
