"""Item neighbours by Pearson correlation or cosine: the baselines of Wang & Tang, private
through a noisy Gram.

One matrix is released over the most rated items: products of user-centred, clamped ratings
(Pearson) or of ratings as they are (cosine), each person's divided by the length of that
person's row. Its cleaned spectrum over the root of its diagonal is the similarity; the
diagonal is not released but follows from the released weights (MECHANISMS 2.5), but for the
non-private twin, which measures it. Each item keeps its `keep` strongest neighbours: what a
device downloads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Bound, CellClip, EntryGram, FactorGram, Rows
from tacit.methods.base import Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.item_item.covariance import factors
from tacit.methods.item_item.matrix import (
    FINE,
    OFFSET,
    MatrixMethod,
    MatrixSettings,
    centred_cells,
    first_arrays,
    is_pure,
    neighbour_lists,
    places,
    precise,
    residuals,
)
from tacit.methods.refine.neighbour import Neighbours, similarity, strongest
from tacit.methods.refine.spectrum import shrink_spectrum
from tacit.model.person.gaussian import NOISE
from tacit.model.person.neighbours import carried_over
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

BUSY = 1.5
"""The raters of an item rate so many times more than the average person: a public rule."""


class KNNSettings(MatrixSettings):
    keep: int = Field(200, ge=1)
    """Neighbours published for each item; fewer make the model smaller."""
    floor: float = Field(1.0, gt=0)
    """Least total similarity that predictions divide by: little evidence moves a prediction little.
    """


class ItemKNN(MatrixMethod):
    """What both share; `row` says which numbers are multiplied."""

    source = "baseline in Wang & Tang, private through a noisy Gram"
    Settings: ClassVar[type[BaseSettings]] = KNNSettings
    centres: ClassVar[bool]
    variance: ClassVar[float]
    """Of one number of a person's row, around zero: a public rule."""

    @property
    def chosen(self) -> KNNSettings:
        settings = self.settings
        assert isinstance(settings, KNNSettings)
        return settings

    def plan(self, public: Public) -> Plan:
        plan = super().plan(public)
        if public.start is None:
            return plan
        story = (
            (
                "Neighbours are those of the model that it started from: nothing is paid for "
                "them here."
            ),
        )
        means = sum(part.share for round_ in plan.rounds[:-1] for part in round_.parts)
        rounds = (
            replace(r, parts=tuple(replace(p, share=p.share / means) for p in r.parts))
            for r in plan.rounds[:-1]
        )
        return replace(plan, rounds=tuple(rounds), story=story)

    def measure(self, public: Public, size: int, share: float) -> Round:
        whole_person, pure = (
            public.unit == "user" or public.budget is None,
            is_pure(public),
        )
        twin = public.budget is None
        bound: Bound = FactorGram(norm="l1" if pure else "l2", diagonal=twin)
        if not whole_person:
            own = centred_cells(public) if self.centres else CellClip(1.0, FINE)
            bound = EntryGram(size, own, OFFSET)

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            index = places(state["weight"], size)[block.item]
            if self.centres:
                rows = (
                    factors(block, state, index < size, pure)
                    if whole_person
                    else residuals(block, state)
                )
            else:
                rows = (block.value + 3.0) / 5.0  # a scale of 1 to 5 over its end
                if whole_person:
                    rows = _over_length(block, rows * (index < size), pure)
            return {"gram": Rows(block.ptr, index, rows[:, None])}

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            noisy, people = released["gram"], float(state["people"][0])
            matrix = precise(noisy.value)
            weight = state["weight"][
                np.flatnonzero(places(state["weight"], size) < size)
            ]
            diagonal = (
                np.diag(matrix).copy()
                if twin
                else self._diagonal(weight, people, whole_person)
            )
            cleaned = shrink_spectrum(matrix, noisy.sd, self.chosen.rank).dense()
            found = strongest(
                similarity(cleaned, diagonal, 3 * noisy.sd), self.chosen.keep
            )
            return {**state, "near": found.item, "closeness": found.value}

        return Round(
            "gram",
            (Part("gram", size, bound, share=share, form="gram"),),
            contribute,
            absorb,
        )

    def _diagonal(
        self, weight: NDArray[np.float64], people: float, whole_person: bool
    ) -> NDArray[np.float64]:
        """What the diagonal would be, from released weights: W v sqrt(c)/(v c + k), or W
        v/sqrt(v c + k)."""
        each = max(float(weight.sum()) / people, 1.0)
        count = BUSY * (each**2 if whole_person else each)
        length = self.variance * count + OFFSET
        return np.asarray(
            weight
            * self.variance
            * (np.sqrt(count) / length if whole_person else length**-0.5)
        )

    def finish(self, public: Public, state: State) -> Shared:
        arrays = {
            **first_arrays(public, state),
            "doubt": np.zeros(public.items, np.float32),
            **self._neighbours(public, state),
        }
        floor = (
            self.chosen.floor if public.start is None else public.start.numbers["floor"]
        )
        numbers = {"noise": NOISE, "around": NOISE, "floor": floor}
        return Shared(
            self.name,
            "neighbourhood",
            arrays,
            numbers,
            public.schema,
            public.catalogue,
            self.chosen.model_dump(),
        )

    def _neighbours(self, public: Public, state: State) -> dict[str, NDArray[Any]]:
        if public.start is not None:
            return carried_over(public.start, public.catalogue)
        head = np.flatnonzero(
            places(state["weight"], len(state["near"])) < len(state["near"])
        )
        return neighbour_lists(
            public.items, head, Neighbours(state["near"], state["closeness"])
        )


class PearsonKNN(ItemKNN):
    """Items are alike if the same people rate them above, or below, their own mean."""

    name = "knn-pearson"
    centres, variance = True, 0.45


class CosineKNN(ItemKNN):
    """Items are alike if the same people rate them."""

    name = "knn-cosine"
    centres, variance = False, 0.55


def _over_length(
    block: Block, row: NDArray[np.float64], pure: bool
) -> NDArray[np.float64]:
    people = len(block.people)
    person = np.repeat(np.arange(people), np.diff(block.ptr))
    length = np.bincount(person, row if pure else row**2, people) + OFFSET
    return np.asarray(row / (length if pure else np.sqrt(length))[person])
