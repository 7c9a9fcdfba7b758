"""The implicit-feedback form of private least squares: top-n from likes.

Everybody solves her vector against the public factors over all items (1 for liked, 0 for
the rest) and scales it to length 1. Released are, for each item, the sum of its likers'
vectors and, once a round, everybody's second moment.

Guarantee: a person's likes enter the weights, and her vectors the sums, as rows of L2 norm
at most 1; her second moment uu' has Frobenius norm at most 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.bound import RowClip, Rows
from tacit.methods.base import Public
from tacit.methods.factorization.rounds import Learning
from tacit.methods.factorization.twin import LIKE_RIDGE, LIKE_WEIGHT
from tacit.methods.first_order.rounds import TINY, cell_rows, person_weights
from tacit.methods.refine.factors import clip_spectrum, item_factors, unpack
from tacit.methods.refine.weights import denoise_weights
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

if TYPE_CHECKING:
    from tacit.methods.base import Method

Floats = NDArray[np.float64]
FACTORS_FROM = 1500.0
"""People times mu below which likes get no factors: less than for ratings, since popularity
alone ranks worse than item effects predict."""
EVEN = 30
TYPICAL = 30.0
"""Likes of a typical person: a public guess, used where a weight must become a count."""


def likes_plan(public: Public, how: Learning, epochs: int) -> Plan:
    from tacit.methods.factorization.base import shares

    first, rest = shares(public, epochs, FACTORS_FROM)
    rounds = [
        _round(public, how, f"likes {k + 1}", share, first=k == 0)
        for k, share in enumerate(rest)
    ]
    story = (f"{100 * first:.0f} % of the budget go to the items' weights.",)
    return Plan(public.unit, (_weights(public, first), *rounds), story)


def _weights(public: Public, share: float) -> Round:
    items = public.items

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        return {"weights": cell_rows(block, person_weights(block, EVEN))}

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        people, part = float(state["people"][0]), released["weights"]
        weights = denoise_weights(
            part.value[:, 0],
            max(part.sd, TINY),
            low=0.5 / sqrt(EVEN),
            high=people / sqrt(EVEN),
            mean=people * TYPICAL / sqrt(EVEN) / items,
            doubt=1.0,
        )
        return {**state, "weight": weights.mean}

    return Round(
        "weights",
        (Part("weights", items, RowClip(1.0), share=share),),
        contribute,
        absorb,
    )


def _round(
    public: Public, how: Learning, name: str, share: float, *, first: bool
) -> Round:
    items = public.items
    width = how.width
    packed = how.width * (how.width + 1) // 2
    upper = np.triu_indices(width)
    double = np.where(upper[0] == upper[1], 1.0, sqrt(2.0))

    def vectors(block: Block, state: State) -> Floats:
        from tacit.kernels.als import half_step_likes

        factors = (
            state["factors"]
            if not first
            else np.random.default_rng(how.seed).standard_normal((items, width)) * 0.1
        )
        out = np.zeros((len(block.people), width))
        everywhere = factors.T @ factors
        people = len(block.people)
        half_step_likes(
            block.ptr,
            block.item,
            factors,
            everywhere,
            LIKE_WEIGHT,
            1e-3 + 0.01 * np.trace(everywhere) / width,
            0,
            people,
            out,
        )
        return np.asarray(
            out / np.maximum(np.sqrt((out**2).sum(axis=1)), 1e-12)[:, None], np.float64
        )

    def contribute(block: Block, state: State) -> Mapping[str, Rows]:
        own = vectors(block, state)
        lines = (
            np.repeat(own, np.diff(block.ptr), axis=0)
            * person_weights(block, EVEN)[:, None]
        )
        moment = own[:, upper[0]] * own[:, upper[1]] * double
        return {
            "sums": Rows(block.ptr, block.item, lines),
            "everyone": Rows.one_each(moment),
        }

    def absorb(state: State, released: Mapping[str, Released]) -> State:
        people, weight = float(state["people"][0]), state["weight"]
        sums, sd = released["sums"].value, max(released["sums"].sd, TINY)
        moment = clip_spectrum(
            unpack(released["everyone"].value[0], width) / people, 0.01, 1.0
        )
        mean = sums.sum(axis=0) / max(float(weight.sum()), TINY)
        left = weight[:, None, None] * np.eye(width)
        noise = (weight / sqrt(EVEN))[:, None, None] * moment + sd**2 * np.eye(width)
        likers = (
            mean + item_factors(sums - weight[:, None] * mean, left, noise).mean
        )  # mean vector of an item's likers
        count = weight * sqrt(TYPICAL)
        system = (
            people * moment
            + (LIKE_WEIGHT * count)[:, None, None] * moment
            + LIKE_RIDGE * np.eye(width)
        )
        factors = np.linalg.solve(
            system, ((1 + LIKE_WEIGHT) * count)[:, None, None] * likers[:, :, None]
        )[:, :, 0]
        return {
            **state,
            "factors": np.maximum(factors, 0.0) if how.nonnegative else factors,
        }

    parts = (
        Part("sums", items, RowClip(1.0), width=width, share=0.95 * share),
        Part("everyone", 1, RowClip(1.0), width=packed, share=0.05 * share),
    )
    return Round(name, parts, contribute, absorb)


def likes_finish(method: Method, public: Public, state: State) -> Shared:
    factors = state.get("factors", np.zeros((public.items, 1)))
    arrays = {
        "factors": np.asarray(factors, np.float32),
        "weight": np.asarray(state["weight"], np.float32),
    }
    ridge = 1e-3 + 0.01 * float((factors**2).sum()) / factors.shape[1]
    return Shared(
        method.name,
        "liked factors",
        arrays,
        {"weight": LIKE_WEIGHT, "ridge": ridge},
        public.schema,
        public.catalogue,
        method.settings.model_dump(),
    )
