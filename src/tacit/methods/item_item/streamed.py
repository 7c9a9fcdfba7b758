"""`ease` on a calendar: popularity, and the Gram of likes as running sums.

Which items the Gram covers follows from released popularity and changes from week to week, but
running sums need fixed places. So the Gram has more places than it uses (`PLACES` times as many
as are covered). They are given away one by one as people come, each week to the most liked
items that have none: early popularity is mostly noise, and a place is given once. Every week's
people add their products over the items that are covered *now*. Numbers that nobody uses cost
nothing: the bound is on a whole person. A pair counts while both of its items are covered, and
is then lifted to what all people would have added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

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
    OWN_RIDGE,
    WEIGHT_OFFSET,
    EaseSettings,
    diagonal,
    gram_size,
    popularity_round,
)
from tacit.methods.item_item.plan import EaseState, counts_inside, people_by_noise
from tacit.methods.refine.neighbour import ease
from tacit.methods.refine.spectrum import shrink_spectrum
from tacit.methods.streamed import COUNT_SHARE, COUNTED, ONCE, count_round, steadily
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Block, Part, Released, Round, Stationary
from tacit.rounds.running import Running
from tacit.rounds.state import NOT_YET, State

PLACES = 4
"""Places of the Gram for each item that it covers: an item that the first weeks missed may
still be among them."""
LEAST_SHOWN = 1e-3
"""Of people: fewer saw no pair."""
MOST_LIFT = 3.0
"""How many times a pair that was covered late is lifted at most: its noise is lifted too."""
MOST_PLACES = 1000
"""The owner keeps two numbers for each pair of them and each release."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StreamedLikes(EaseState):
    """Popularity and Gram of all people so far."""

    elapsed: float = 0.0
    before: float = 0.0
    seats: NDArray[np.int64] = NOT_YET
    """The item of each place of the Gram that was given away."""


class StreamedEase(EASE):
    """Running sums of likes and of their products."""

    def plan(self, public: Public) -> Plan:
        """Count, popularity, then the Gram where pairs stand out."""
        settings = self.settings
        assert isinstance(settings, EaseSettings)
        reach = people_by_noise(public)
        size = settings.items or gram_size(public.unit, public.items, reach)
        size = min(size, public.items)
        if reach < LEAST[public.unit] or size < 2:
            rounds: tuple[Round, ...] = (steadily(popularity_round(public, settings, 1.0)),)
            story = (
                "People x noise is too little for pairs of items to stand out: "
                "popularity takes the rest of the budget."
            )
        else:
            rounds = (
                steadily(popularity_round(public, settings, 1 - GRAM_SHARE)),
                running_gram(public, settings, size),
            )
            story = (
                f"The Gram covers the {size:,} most liked items of each week, by rule "
                f"from people x noise, and takes {100 * GRAM_SHARE:.0f} % of the rest."
            )
        plan = Plan(public.unit, rounds)
        return Plan(
            public.unit,
            plan.after(count_round(public.people), COUNT_SHARE).rounds,
            (COUNTED, story, ONCE),
        )

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return StreamedLikes()


def running_gram(public: Public, settings: EaseSettings, size: int) -> Round:
    """Which of the most liked items are liked by the same people."""
    width = min(public.items, max(PLACES * size, size), MOST_PLACES)
    size = min(size, width)

    def contribute(block: Block, state: AnyState) -> Mapping[str, Rows]:
        seats = given_seats(state, width, public.people)
        index = covered(state.weight, seats, size, width)[block.item]
        inside = index < width
        row = inside / np.sqrt(counts_inside(block, inside) + WEIGHT_OFFSET)
        return {"gram": Rows(block.ptr, index, row[:, None])}

    def steady(state: AnyState) -> Mapping[str, Stationary]:
        """A pair is added while both of its items are covered."""
        seats = given_seats(state, width, public.people)
        index = covered(state.weight, seats, size, width)
        is_covered = np.zeros(width)
        is_covered[index[index < width]] = 1.0
        rows, columns = np.triu_indices(width, 1)
        return {"gram": Stationary(is_covered[rows] * is_covered[columns])}

    def absorb(state: AnyState, released: Mapping[str, Released]) -> AnyState:
        noisy = released["gram"]
        seats = given_seats(state, width, public.people)
        index = covered(state.weight, seats, size, width)
        head = np.flatnonzero(index < width)
        cells = np.ix_(index[head], index[head])
        scale, sd = np.ones(noisy.value.shape), noisy.sd
        if isinstance(noisy, Running) and noisy.each is not None:
            scale = np.asarray(noisy.scale, np.float64)
            sd = float(np.sqrt(np.mean(noisy.each[cells] ** 2)))
        lift = np.minimum(1.0 / np.maximum(scale[cells], LEAST_SHOWN), MOST_LIFT)
        item_diagonal = diagonal(state.weight[head], state.people, True)
        spectrum = shrink_spectrum(
            np.ascontiguousarray(noisy.value[cells] * lift),
            sd * float(np.sqrt(np.mean(lift**2))),
            settings.rank,
            margin=MARGIN,
        )
        ridge = OWN_RIDGE * item_diagonal + MEAN_RIDGE * item_diagonal.mean()
        return replace(state, between=ease(spectrum.loadings, ridge), head=head, seats=seats)

    part = Part("gram", width, FactorGram(), share=GRAM_SHARE, form="gram")
    return Round("gram", (part,), contribute, absorb, steady=steady)


def given_seats(state: AnyState, width: int, expected: float) -> NDArray[np.int64]:
    """The items that have places, in the order of the places: those of earlier weeks, and as
    many more as the people so far are a share of those who are expected."""
    seats = np.zeros(0, np.int64)
    if state.seats is not NOT_YET:
        seats = np.asarray(state.seats, np.int64)
    share = min(state.people / max(expected, 1.0), 1.0)
    room = min(max(ceil(width * share), 2), width) - len(seats)
    order = np.argsort(-state.weight, kind="stable")
    added = order[~np.isin(order, seats)][: max(room, 0)]
    return np.concatenate([seats, added.astype(np.int64)])


def covered(weight: Floats, seats: NDArray[np.int64], size: int, width: int) -> NDArray[np.uint32]:
    """The place of each item that is covered this week; `width` for all others."""
    best = np.argsort(-weight[seats], kind="stable")[:size]
    index = np.full(len(weight), width, np.uint32)
    index[seats[best]] = best.astype(np.uint32)
    return index
