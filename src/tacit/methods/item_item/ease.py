"""EASE on a noisy Gram: which items go together, from likes alone. The best list that one
release can buy.

Popularity first (a share of the budget, or all of it where people x noise is too little for
any pair to stand out); then the Gram of likes over the most popular items, each person's
products divided by the length of that person's row; then, free: the spectrum that clears
the noise, and a ridge of every item on all others (Steck 2019) in low rank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Bound, CellClip, EntryGram, FactorGram, RowClip, Rows
from tacit.methods.base import Form, Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import TINY, cell_rows, person_weights
from tacit.methods.item_item.matrix import Arrays, published
from tacit.methods.item_item.plan import people_by_noise
from tacit.methods.item_item.rows import FINE, counted, head_of, places
from tacit.methods.item_item.state import EaseState
from tacit.methods.refine.neighbour import ease
from tacit.methods.refine.spectrum import shrink_spectrum
from tacit.methods.refine.weights import denoise_weights
from tacit.model.shared import Shared
from tacit.rounds.options import Calibration
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import NOT_YET, State

OFFSET = 0.5
"""In the length of a person's row: keeps the weight of people with few likes finite. The
constants of this file were chosen with ML-1M in sight: docs/results/covariance.md."""
GRAM_SHARE = 0.92
"""Of the budget, where there is a Gram."""
LEAST = {"user": 400.0, "rating": 60.0}
"""People x mu below which popularity takes all."""
MARGIN = 0.3
"""How far below the noise edge an eigenvalue may lie and still count: lists forgive noise
more than ratings do."""
BUSY = 1.5
"""Those who like an item like so many times more than the average person."""
OWN_RIDGE, MEAN_RIDGE = 0.5, 0.6
"""The ridge of an item, in units of its own diagonal entry and of the mean entry."""
LEAST_WEIGHT = 1e-3
LEAST_COVERED = 100
"""Items that the Gram covers, if there are so many."""


class EaseSettings(BaseSettings):
    """What `ease` can be told."""

    even: int = Field(30, ge=1)
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
        size = min(settings.items or gram_size(public, reach), public.items)
        if reach < LEAST[public.unit] or size < 2:
            alone = (
                "People x noise is too little for pairs of items to stand out: popularity "
                "takes all the budget."
            )
            return Plan(
                public.unit,
                (popularity_round(public, settings, 1.0),),
                (alone,),
            )
        rounds = (
            popularity_round(public, settings, 1 - GRAM_SHARE),
            gram_round(public, settings, size),
        )
        story = (
            f"Popularity takes {100 * (1 - GRAM_SHARE):.0f} % of the budget, the Gram the rest.",
            f"The Gram covers the {size:,} most liked items: by rule from people x noise.",
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
    public: Public, settings: EaseSettings, share: float
) -> Round:
    """How much each item is liked: at `user` rows of norm 1, at `rating` plain counts."""
    whole_person = public.unit == "user"
    one = settings.even**-0.5 if whole_person else 1.0

    def contribute(block: Block, state: EaseState) -> Mapping[str, Rows]:
        weights = np.ones(len(block.item))
        if whole_person:
            weights = person_weights(block, settings.even)
        return {"weights": cell_rows(block, weights)}

    def absorb(state: EaseState, released: Mapping[str, Released]) -> EaseState:
        noisy = released["weights"]
        raw = noisy.value[:, 0]
        found = denoise_weights(
            raw,
            max(noisy.sd, TINY),
            low=0.5 * one,
            high=state.people * one,
            mean=max(float(raw.mean()), one),
            doubt=1.0,
        )
        return replace(state, weight=found.mean)

    bound: Bound = RowClip(1.0) if whole_person else CellClip(1.0)
    part = Part("weights", public.items, bound, share=share)
    return Round("popularity", (part,), contribute, absorb)


def gram_round(public: Public, settings: EaseSettings, size: int) -> Round:
    """Which of the most liked items are liked by the same people."""
    whole_person = public.unit == "user"

    def contribute(block: Block, state: EaseState) -> Mapping[str, Rows]:
        index = places(state.weight, size)[block.item]
        row = np.ones(len(index))
        if whole_person:
            inside = index < size
            row = inside / np.sqrt(counted(block, inside) + OFFSET)
        return {"gram": Rows(block.ptr, index, row[:, None])}

    def absorb(state: EaseState, released: Mapping[str, Released]) -> EaseState:
        noisy = released["gram"]
        head = head_of(state.weight, size)
        own = diagonal(state.weight[head], state.people, whole_person)
        found = shrink_spectrum(
            noisy.value, noisy.sd, settings.rank, margin=MARGIN
        )
        ridge = OWN_RIDGE * own + MEAN_RIDGE * own.mean()
        return replace(state, between=ease(found.loadings, ridge), head=head)

    bound: Bound = FactorGram()
    if not whole_person:
        bound = EntryGram(size, CellClip(1.0, FINE), OFFSET)
    part = Part("gram", size, bound, share=GRAM_SHARE, form="gram")
    return Round("gram", (part,), contribute, absorb)


def diagonal(
    weight: NDArray[np.float64], people: float, whole_person: bool
) -> NDArray[np.float64]:
    """What the diagonal would be, from popularity alone."""
    weight = np.maximum(weight, LEAST_WEIGHT)
    each = float(weight.sum()) / people
    each = max(each**2 if whole_person else each, 1.0)
    return np.asarray(weight / np.sqrt(BUSY * each + OFFSET))


def gram_size(public: Public, reach: float) -> int:
    """How many items the Gram covers: as many as the noise allows."""
    whole_person = public.unit == "user"
    part = public.items // (4 if whole_person else 2)
    most = max(2, min(public.items, max(LEAST_COVERED, part)))
    if reach == inf:
        return most
    wanted = 1.3 * reach ** (2 / 3) if whole_person else 0.45 * reach
    return int(np.clip(wanted, min(LEAST_COVERED, most), most))
