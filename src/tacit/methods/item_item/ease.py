"""EASE on a noisy Gram: which items go together, from likes alone. The best list that one
release can buy.

Popularity first (a share of the budget, or all of it where people x noise is too little for
any pair to stand out); then the Gram of likes over the most popular items, each person's
products divided by the length of that person's row; then, free: the spectrum that clears
the noise, and a ridge of every item on all others (Steck 2019) in low rank.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from tacit.bound import Bound, CellClip, EntryGram, FactorGram, RowClip, Rows
from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.baselines.bias import strength
from tacit.methods.first_order.rounds import TINY, cell_rows, person_weights
from tacit.methods.item_item.matrix import FINE, UNDECLARED, places
from tacit.methods.refine.neighbour import ease
from tacit.methods.refine.spectrum import shrink_spectrum
from tacit.methods.refine.weights import denoise_weights
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

OFFSET = 0.5
GRAM_SHARE = 0.92
LEAST = {"user": 400.0, "rating": 60.0}
"""People x mu below which popularity takes all."""
MARGIN = 0.3
"""How far below the noise edge an eigenvalue may lie and still count: lists forgive noise
more than ratings do."""


class EaseSettings(BaseSettings):
    even: int = Field(30, ge=1)
    """People with up to this many likes count fully in the popularity; a busier person's
    weight is spread."""
    items: int | None = Field(None, ge=2)
    """How many of the most liked items the Gram covers; by rule from people and noise unless given.
    """
    rank: int = Field(120, ge=1, le=1000)
    """At most this many factors."""


class EASE(Method):
    """Top-n lists from likes (`--positive`); on rated data every rating counts as a like."""

    name = "ease"
    source = "ours: ridge on the noisy Gram, after Steck 2019"
    Settings: ClassVar[type[BaseSettings]] = EaseSettings

    def plan(self, public: Public) -> Plan:
        settings = self.settings
        assert isinstance(settings, EaseSettings)
        reach = (public.schema.users or UNDECLARED) * strength(public.budget)
        size = settings.items or gram_size(public, reach)
        size = min(size, public.items)
        if reach < LEAST[public.unit] or size < 2:
            alone = (
                (
                    "People x noise is too little for pairs of items to stand out: popularity "
                    "takes all the budget."
                ),
            )
            return Plan(public.unit, (self.popularity(public, settings, 1.0),), alone)
        rounds = (
            self.popularity(public, settings, 1 - GRAM_SHARE),
            self.gram(public, settings, size),
        )
        story = (
            f"Popularity takes {100 * (1 - GRAM_SHARE):.0f} % of the budget, the Gram the rest.",
            f"The Gram covers the {size:,} most liked items: by rule from people x noise.",
        )
        return Plan(public.unit, rounds, story)

    def popularity(self, public: Public, settings: EaseSettings, share: float) -> Round:
        whole_person = public.unit == "user"
        bound: Bound = RowClip(1.0) if whole_person else CellClip(1.0)
        one = settings.even**-0.5 if whole_person else 1.0

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            weights = (
                person_weights(block, settings.even)
                if whole_person
                else np.ones(len(block.item))
            )
            return {"weights": cell_rows(block, weights)}

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            noisy, people = released["weights"], float(state["people"][0])
            raw = noisy.value[:, 0]
            level = max(float(raw.mean()), one)
            found = denoise_weights(
                raw,
                max(noisy.sd, TINY),
                low=0.5 * one,
                high=people * one,
                mean=level,
                doubt=1.0,
            )
            return {**state, "weight": found.mean}

        return Round(
            "popularity",
            (Part("weights", public.items, bound, share=share),),
            contribute,
            absorb,
        )

    def gram(self, public: Public, settings: EaseSettings, size: int) -> Round:
        whole_person = public.unit == "user"
        bound: Bound = FactorGram()
        if not whole_person:
            bound = EntryGram(size, CellClip(1.0, FINE), OFFSET)

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            index = places(state["weight"], size)[block.item]
            values = np.ones(len(index))
            if whole_person:
                inside = index < size
                counts = np.diff(np.concatenate([[0], np.cumsum(inside)])[block.ptr])
                values = inside / np.repeat(
                    np.sqrt(counts + OFFSET), np.diff(block.ptr)
                )
            return {"gram": Rows(block.ptr, index, values[:, None])}

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            noisy, people = released["gram"], float(state["people"][0])
            head = np.flatnonzero(places(state["weight"], size) < size)
            weight = np.maximum(state["weight"][head], 1e-3)
            each = float(weight.sum()) / people
            each = max(each**2 if whole_person else each, 1.0)
            own = weight / np.sqrt(
                1.5 * each + OFFSET
            )  # what the diagonal would be, from popularity alone
            found = shrink_spectrum(noisy.value, noisy.sd, settings.rank, margin=MARGIN)
            made = ease(found.loadings, 0.5 * own + 0.6 * own.mean())
            return {**state, "left": made.left, "right": made.right, "head": head}

        part = Part("gram", size, bound, share=GRAM_SHARE, form="gram")
        return Round("gram", (part,), contribute, absorb)

    def finish(self, public: Public, state: State) -> Shared:
        arrays = {"weight": np.asarray(state["weight"], np.float32)}
        if "left" in state:
            arrays |= {
                "left": np.asarray(state["left"], np.float32),
                "right": np.asarray(state["right"], np.float32),
                "head": np.asarray(state["head"], np.int32),
            }
        return Shared(
            self.name,
            "ease",
            arrays,
            {},
            public.schema,
            public.catalogue,
            self.settings.model_dump(),
        )


def gram_size(public: Public, reach: float) -> int:
    """How many items the Gram covers: as many as the noise allows."""
    whole_person = public.unit == "user"
    most = max(
        2, min(public.items, max(100, public.items // (4 if whole_person else 2)))
    )
    if reach == float("inf"):
        return most
    wanted = 1.3 * reach ** (2 / 3) if whole_person else 0.45 * reach
    return int(np.clip(wanted, min(100, most), most))
