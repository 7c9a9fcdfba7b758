"""EASE on a noisy Gram: which items go together, from likes alone. The best list that one
release can buy.

Popularity first (a share of the budget, or all of it where people x noise is too little for
any pair to stand out); then the Gram of likes over the most popular items, each person's
products divided by the length of that person's row; then, free: what its spectrum says in spite
of the noise, and a ridge of every item on all others (Steck 2019) in low rank. What popularity
says already is taken off and given back: at `user` off each row, before it is multiplied; at
`rating` off the released Gram.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import ClassVar

import numpy as np
from pydantic import Field

from tacit.bound import Bound, CellClip, EntryGram, FactorGram, RowClip, Rows
from tacit.methods.base import Form, Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import TINY, cell_rows, person_rows, person_weights
from tacit.methods.first_order.rule import strength
from tacit.methods.item_item.item_weights import (
    MEAN_RIDGE,
    OFFSET,
    OWN_RIDGE,
    beside_popularity,
    by_chance,
    cleaned,
    diagonal,
    tempered,
)
from tacit.methods.item_item.likes_rows import Common, centred_likes, common_part
from tacit.methods.item_item.matrix import Arrays, published
from tacit.methods.item_item.plan import people_by_noise
from tacit.methods.item_item.rows import FINE, head_of, matrix_rows
from tacit.methods.item_item.state import EaseState
from tacit.methods.refine.neighbour import ease
from tacit.methods.refine.weights import denoise_weights
from tacit.model.shared import Shared
from tacit.rounds.options import Calibration
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import NOT_YET, State

GRAM_SHARE = 0.92
"""Of the budget, where there is a Gram. The constants of this file were chosen with ML-1M in
sight: docs/results/covariance.md."""
POPULARITY_SHARE, FAINT_SHARE = 0.06, 0.05
"""Unit `user`: of the budget, for popularity; and how much more where noise is strong, since
lists of people with few likes are popularity above all."""
FAINT = 0.3
"""The strength (mu) up to which noise is strong."""
LEAST_TOLD = 16.0
"""Below so much that pairs would tell (`told_by_pairs`), popularity is measured once more in
the place of the Gram: at 13 to 26 sets of many likes gain much, at 15 to 26 people of six and
twelve likes neither gain nor lose, below 11 they lose (docs/results/covariance.md)."""
CHANCE_LIKES = 60.0
"""Likes of a person at which as much of her row is taste as is chance, by that rule."""
LEAST_TOLD_RATING = 12.0
"""The same at the unit `rating`, where one like moves the Gram less the more likes a person has:
docs/results/covariance.md."""
ALONG_SHARE = 0.01
"""Of what the Gram takes, for how much of people's likes lies along popularity."""
LEAST = {"user": 400.0, "rating": 60.0}
"""People x mu below which popularity takes all."""
LEAST_COVERED = 100
"""Items that the Gram covers, if there are so many."""
EVEN = 6
"""Likes of a person up to which each of them counts fully."""


class EaseSettings(BaseSettings):
    """What `ease` can be told."""

    even: int = Field(EVEN, ge=1)
    """People with up to this many likes count fully in the popularity; a busier person's
    weight is spread."""
    items: int | None = Field(None, ge=2)
    """How many of the most liked items the Gram covers; by rule from people and noise unless given.
    """
    rank: int = Field(120, ge=1, le=1000)
    """At most this many factors."""


class NoisyGram(Form):
    """The sound form: popularity and the Gram, released."""

    settings: EaseSettings

    def plan(self, public: Public) -> Plan:
        """Popularity, then the Gram; popularity alone where no pair would stand out."""
        settings = self.settings
        reach = people_by_noise(public)
        size = settings.items or gram_size(public.unit, public.items, reach)
        size = min(size, public.items)
        if reach < LEAST[public.unit] or size < 2:
            notice = (
                "People x noise is too little for pairs of items to stand out: popularity "
                "takes all the budget."
            )
            return Plan(public.unit, (popularity_round(public, settings, 1.0),), (notice,))
        popular = popularity_share(public)
        popularity = popularity_round(public, settings, popular)
        remaining = 1 - popular
        if public.unit == "user":
            rounds = (popularity, *whole_people(public, settings, size, remaining))
        else:
            rounds = (popularity, *single_likes(public, settings, size, remaining))
        story = (
            f"Popularity takes {100 * popular:.0f} % of the budget, the Gram the rest.",
            f"The Gram covers the {size:,} most liked items: by rule from people x noise.",
            "Where released likes say that pairs drown, popularity is measured again instead.",
        )
        return Plan(public.unit, rounds, story)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return EaseState()

    def finish(self, public: Public, state: EaseState) -> Shared:
        """Popularity, and both sides of the weights between items."""
        arrays: Arrays = {"weight": np.asarray(state.weight, np.float32)}
        # Where noise left nothing of the Gram, popularity alone is published.
        if state.between is not NOT_YET and state.between.left.shape[1]:
            arrays |= {
                "left": np.asarray(state.between.left, np.float32),
                "right": np.asarray(state.between.right, np.float32),
                "head": np.asarray(state.head, np.int32),
            }
        return published(self.method, public, "ease", arrays, {})


class EASE(Method):
    """Top-n lists from likes (`--positive`); on rated data every rating counts as a like."""

    name = "ease"
    source = "ours: ridge on the noisy Gram, after Steck 2019"
    engines = ("threads", "spark")
    Settings: ClassVar[type[BaseSettings]] = EaseSettings
    forms: ClassVar[Mapping[Calibration, type[Form] | str]] = {
        "sound": NoisyGram,
        "none": "tacit.methods.item_item.twin:EaseTwin",
    }


def popularity_round(
    public: Public, settings: EaseSettings, share: float, name: str = "popularity"
) -> Round:
    """How much each item is liked: at `user` rows of norm 1, at `rating` plain counts. What was
    released of it before counts by its noise."""
    whole_person = public.unit == "user"
    unit_weight = settings.even**-0.5 if whole_person else 1.0

    def contribute(block: Block, state: EaseState) -> Mapping[str, Rows]:
        weights = np.ones(len(block.item))
        if whole_person:
            weights = person_weights(block, settings.even)
        return {"weights": cell_rows(block, weights)}

    def absorb(state: EaseState, released: Mapping[str, Released]) -> EaseState:
        noisy = released["weights"]
        raw, sd = noisy.value[:, 0], max(noisy.sd, TINY)
        if state.counted is not NOT_YET:
            part = sd**2 / (sd**2 + state.counted_sd**2)
            raw = part * state.counted + (1 - part) * raw
            sd *= float(np.sqrt(1 - part))
        denoised = denoise_weights(
            raw,
            sd,
            low=0.5 * unit_weight,
            high=state.people * unit_weight,
            mean=max(float(raw.mean()), unit_weight),
            doubt=1.0,
        )
        return replace(state, weight=denoised.mean, counted=raw, counted_sd=sd)

    bound: Bound = RowClip(1.0) if whole_person else CellClip(1.0)
    part = Part("weights", public.items, bound, share=share)
    return Round(name, (part,), contribute, absorb)


def popularity_share(public: Public) -> float:
    """Of the budget, where there is a Gram."""
    if public.unit != "user":
        return 1 - GRAM_SHARE
    faint = min(1.0, FAINT / strength(public.budget)) ** 2
    return POPULARITY_SHARE + FAINT_SHARE * faint


def gram_round(public: Public, settings: EaseSettings, size: int, share: float) -> Round:
    """Which of the most liked items are liked by the same people: everybody's pairs."""

    def contribute(block: Block, state: EaseState) -> Mapping[str, Rows]:
        index = matrix_rows(state.weight, size)[block.item]
        return {"gram": Rows(block.ptr, index, np.ones((len(index), 1)))}

    def absorb(state: EaseState, released: Mapping[str, Released]) -> EaseState:
        head = head_of(state.weight, size)
        item_diagonal = diagonal(state.weight[head], state.people, False)
        noisy = released["gram"]
        chance = by_chance(float(state.weight.sum()), size)
        sd = float(np.hypot(noisy.sd, chance))
        item_factors = beside_popularity(noisy.value, sd, state.weight[head], settings.rank)
        ridge = OWN_RIDGE * item_diagonal + MEAN_RIDGE * item_diagonal.mean()
        return replace(state, between=ease(item_factors, ridge), head=head)

    bound = EntryGram(size, CellClip(1.0, FINE), OFFSET)
    part = Part("gram", size, bound, share=share, form="gram")
    return Round("gram", (part,), contribute, absorb)


def single_likes(
    public: Public, settings: EaseSettings, size: int, share: float
) -> tuple[Round, ...]:
    """The Gram at the unit `rating`, or popularity once more where the likes of a person are too
    few for pairs to stand out."""
    reach = people_by_noise(public)

    def drowns(state: EaseState) -> bool:
        likes = float(state.weight.sum()) / state.people
        return single_pairs_tell(likes, reach, size) < LEAST_TOLD_RATING

    repeat = popularity_round(public, settings, share, "popularity again")
    return (
        gram_round(public, settings, size, share),
        replace(repeat, instead="gram", chosen=drowns),
    )


def whole_people(
    public: Public, settings: EaseSettings, size: int, share: float
) -> tuple[Round, ...]:
    """The same for whole people, without what popularity says already (see
    `tacit.methods.item_item.likes_rows`); or popularity once more, where the likes of a person
    are too few for that."""
    reach = people_by_noise(public)
    gram_share = share * (1 - ALONG_SHARE)

    def drowns(state: EaseState) -> bool:
        return told_by_pairs(state, reach, size) < LEAST_TOLD

    repeat = popularity_round(public, settings, gram_share, "popularity again")
    return (
        centred_gram_round(settings, size, gram_share),
        replace(repeat, instead="gram", chosen=drowns),
        along_round(size, share * ALONG_SHARE),
    )


def told_by_pairs(state: EaseState, reach: float, size: int) -> float:
    """How far pairs stand out of the noise's spectrum, by what was released."""
    mean_weight = float(state.weight.sum()) / state.people
    # A person of n likes has n weights of 1/sqrt(n).
    return pairs_tell(mean_weight**2, reach, size)


def pairs_tell(likes: float, reach: float, size: int) -> float:
    """The same from the likes of a person: people x mu, times the share of a row that is taste
    and not chance, which grows with its likes."""
    return reach * likes / (likes + CHANCE_LIKES) / float(np.sqrt(size))


def single_pairs_tell(likes: float, reach: float, size: int) -> float:
    """The same at the unit `rating`: one of n likes moves the Gram by about 1/sqrt(n)."""
    return pairs_tell(likes, reach, size) * float(np.sqrt(max(likes, 0.0)))


def foreseen_pairs(unit: str, people: float, items: int, likes: float, mu: float) -> float:
    """What the rules above will say of a public shape, before anything is released: 0 where
    popularity takes all, else how much pairs tell in times of what they have to."""
    reach = people * mu
    size = gram_size(unit, items, reach)
    if reach < LEAST[unit] or size < 2:
        return 0.0
    if unit == "user":
        return pairs_tell(likes, reach, size) / LEAST_TOLD
    return single_pairs_tell(likes, reach, size) / LEAST_TOLD_RATING


def common_of(state: EaseState, size: int) -> Common:
    """What most people have in common, from released popularity."""
    head = head_of(state.weight, size)
    return common_part(state.weight[head], state.people)


def centred_gram_round(settings: EaseSettings, size: int, share: float) -> Round:
    """Which of the most liked items are liked by the same people, beyond popularity."""

    def contribute(block: Block, state: EaseState) -> Mapping[str, Rows]:
        index = matrix_rows(state.weight, size)[block.item]
        centred = centred_likes(block, index, common_of(state, size))
        return {"gram": centred.rest}

    def absorb(state: EaseState, released: Mapping[str, Released]) -> EaseState:
        noisy = released["gram"]
        chance = by_chance(state.people, size)
        sd = float(np.hypot(noisy.sd, chance))
        item_factors = cleaned(noisy.value, sd, settings.rank - 1)
        return replace(state, loadings=item_factors)

    part = Part("gram", size, FactorGram(), share=share, form="gram", centred=True)
    return Round("gram", (part,), contribute, absorb)


def along_round(size: int, share: float) -> Round:
    """How much of everybody's likes lies along popularity; then the weights between items."""

    def contribute(block: Block, state: EaseState) -> Mapping[str, Rows]:
        index = matrix_rows(state.weight, size)[block.item]
        centred = centred_likes(block, index, common_of(state, size))
        return {"along": person_rows(centred.along[:, None])}

    def absorb(state: EaseState, released: Mapping[str, Released]) -> EaseState:
        if state.loadings is NOT_YET:  # popularity was measured once more
            return state
        if not state.loadings.shape[1]:  # the Gram says nothing beside it
            return state
        head = head_of(state.weight, size)
        along = max(float(released["along"].value[0, 0]), 0.0)
        item_diagonal = diagonal(state.weight[head], state.people, True)
        # A person's squared row has length 1, and what was taken off it.
        item_diagonal *= (state.people + along) / item_diagonal.sum()
        popular = np.sqrt(along) * common_of(state, size).all_rows()
        item_factors = np.column_stack([popular, state.loadings])
        between = tempered(item_factors, item_diagonal, state.weight[head])
        return replace(state, between=between, head=head)

    part = Part("along", 1, RowClip(1.0), share=share)
    return Round("along", (part,), contribute, absorb)


def gram_size(unit: str, items: int, reach: float) -> int:
    """How many items the Gram covers: as many as the noise allows."""
    whole_person = unit == "user"
    part = items // (4 if whole_person else 2)
    limit = max(2, min(items, max(LEAST_COVERED, part)))
    if reach == inf:
        return limit
    size = 1.5 * reach ** (2 / 3) if whole_person else 0.45 * reach
    return int(np.clip(size, min(LEAST_COVERED, limit), limit))
