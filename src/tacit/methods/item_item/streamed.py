"""`ease` on a calendar: popularity, and the Gram of likes as running sums.

Which items the Gram covers follows from released popularity and changes from week to week, but
running sums need fixed places. So the Gram has more places than it uses: the first release of
popularity gives them to the items that may count (`PLACES` times as many as are covered), and
every week's people add their products over the items that are covered *now*. Numbers that
nobody uses cost nothing: the bound is on a whole person. A pair counts from the week on in
which both of its items are covered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.bound import FactorGram, Rows
from tacit.methods.base import Public
from tacit.methods.item_item.ease import (
    EASE,
    GRAM_SHARE,
    LEAST,
    MARGIN,
    MEAN_RIDGE,
    OFFSET,
    OWN_RIDGE,
    EaseSettings,
    diagonal,
    gram_size,
    popularity_round,
)
from tacit.methods.item_item.plan import people_by_noise
from tacit.methods.item_item.rows import counted, places
from tacit.methods.item_item.state import EaseState
from tacit.methods.refine.neighbour import ease
from tacit.methods.refine.spectrum import shrink_spectrum
from tacit.methods.streamed import (
    COUNT_SHARE,
    COUNTED,
    ONCE,
    count_round,
    steadily,
)
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Block, Part, Released, Round
from tacit.rounds.state import NOT_YET, State

PLACES = 4
"""Places of the Gram for each item that it covers: an item that the first weeks missed may
still be among them."""
MOST_PLACES = 1000
"""The owner keeps two numbers for each pair of them and each release."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StreamedLikes(EaseState):
    """Popularity and Gram of all people so far."""

    elapsed: float = 0.0
    before: float = 0.0
    seats: NDArray[np.int64] = NOT_YET
    """The items that have a place in the Gram, ascending; chosen by the first release."""


class StreamedEase(EASE):
    """Running sums of likes and of their products."""

    def plan(self, public: Public) -> Plan:
        """Count, popularity, then the Gram where pairs stand out."""
        settings = self.settings
        assert isinstance(settings, EaseSettings)
        reach = people_by_noise(public)
        size = min(settings.items or gram_size(public, reach), public.items)
        if reach < LEAST[public.unit] or size < 2:
            rounds: tuple[Round, ...] = (
                steadily(popularity_round(public, settings, 1.0)),
            )
            told = (
                "People x noise is too little for pairs of items to stand out: "
                "popularity takes the rest of the budget."
            )
        else:
            rounds = (
                steadily(popularity_round(public, settings, 1 - GRAM_SHARE)),
                running_gram(public, settings, size),
            )
            told = (
                f"The Gram covers the {size:,} most liked items of each week, by rule "
                f"from people x noise, and takes {100 * GRAM_SHARE:.0f} % of the rest."
            )
        plan = Plan(public.unit, rounds)
        return Plan(
            public.unit,
            plan.after(count_round(public.people), COUNT_SHARE).rounds,
            (COUNTED, told, ONCE),
        )

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return StreamedLikes()


def running_gram(public: Public, settings: EaseSettings, size: int) -> Round:
    """Which of the most liked items are liked by the same people."""
    width = min(public.items, max(PLACES * size, size), MOST_PLACES)
    size = min(size, width)

    def contribute(block: Block, state: AnyState) -> Mapping[str, Rows]:
        index = covered(state, size, width)[block.item]
        inside = index < width
        row = inside / np.sqrt(counted(block, inside) + OFFSET)
        return {"gram": Rows(block.ptr, index, row[:, None])}

    def absorb(state: AnyState, released: Mapping[str, Released]) -> AnyState:
        noisy = released["gram"]
        index = covered(state, size, width)
        head = np.flatnonzero(index < width)
        own = diagonal(state.weight[head], state.people, True)
        found = shrink_spectrum(
            np.ascontiguousarray(noisy.value[np.ix_(index[head], index[head])]),
            noisy.sd,
            settings.rank,
            margin=MARGIN,
        )
        ridge = OWN_RIDGE * own + MEAN_RIDGE * own.mean()
        return replace(
            state,
            between=ease(found.loadings, ridge),
            head=head,
            seats=seats_of(state, width),
        )

    part = Part("gram", width, FactorGram(), share=GRAM_SHARE, form="gram")
    return Round("gram", (part,), contribute, absorb)


def seats_of(state: AnyState, width: int) -> NDArray[np.int64]:
    """The items that have places: those of the first release."""
    if state.seats is not NOT_YET:
        return np.asarray(state.seats, np.int64)
    return np.flatnonzero(places(state.weight, width) < width)


def covered(state: AnyState, size: int, width: int) -> NDArray[np.uint32]:
    """The place of each item that is covered this week; `width` for all others."""
    seats = seats_of(state, width)
    best = np.argsort(-state.weight[seats], kind="stable")[:size]
    index = np.full(len(state.weight), width, np.uint32)
    index[seats[best]] = best.astype(np.uint32)
    return index
