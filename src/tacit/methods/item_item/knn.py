"""Item neighbours by Pearson correlation or cosine: the baselines of Wang & Tang, private
through a noisy Gram.

One matrix is released over the most rated items: products of user-centred, clamped ratings
(Pearson) or of ratings as they are (cosine), each person's divided by the length of that
person's row. Its cleaned spectrum over the root of its diagonal is the similarity; the
diagonal is not released but follows from the released weights, but for the non-private
twin, which measures it. Each item keeps its `keep` strongest neighbours: what a device
downloads. A fit that starts from learned neighbours pays for first-order rounds alone.

Read on in `plan` (how the budget is divided), `rows` (what one person adds) and `matrix`
(what is published). Why a release is bounded: docs/proofs/covariance.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import ClassVar, Literal, cast

import numpy as np
from pydantic import Field

from tacit.bound import Bound, CellClip, EntryGram, FactorGram, Rows
from tacit.errors import SettingError
from tacit.methods.base import Form, Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import is_pure
from tacit.methods.item_item.plan import (
    FINE,
    OFFSET,
    RANK,
    Arrays,
    Floats,
    MatrixSettings,
    MatrixState,
    carried_over,
    centred_cells,
    divided,
    factors,
    first_arrays,
    first_rounds,
    full_budget,
    head_of,
    matrix_plan,
    matrix_rows,
    measured,
    neighbour_lists,
    over_length,
    precise,
    published,
    residuals,
)
from tacit.methods.refine.neighbour import similarity, strongest
from tacit.methods.refine.spectrum import shrink_spectrum
from tacit.model.person.gaussian import NOISE
from tacit.model.shared import Shared
from tacit.rounds.options import Calibration
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

PRINTED = "tacit.papers.wang_tang.printed.neighbours"
"""Where the paper's own baselines are."""
BUSY = 1.5
"""The raters of an item rate so many times more than the average person: a public rule."""
LEAST_NOISE = 3.0
"""Standard deviations of the noise below which no diagonal entry is believed."""
LOWEST, HIGHEST = 1.0, 5.0
"""Ends of the scale on which cosines are taken, whatever the scale of the data."""
STARTED = "Neighbours are those of the model that it started from: nothing is paid for them here."


class KNNSettings(MatrixSettings):
    """What both can be told."""

    keep: int = Field(200, ge=1)
    """Neighbours published for each item; fewer make the model smaller."""
    floor: float = Field(1.0, gt=0)
    """Least total similarity that predictions divide by: little evidence moves a prediction little.
    """
    neighbours: int | None = Field(None, ge=1)
    """`none` alone: PCC and COS as Wang & Tang compare with them (equation 2 with raw means
    and similarities), with so many neighbours (900 on ML-100K, 1300 on ML-1M); unset, the
    twin of `sound`."""
    nearest: Literal["size", "largest"] = "size"
    """With `neighbours`: those of largest |similarity|, or of largest similarity; the paper
    does not say which."""


class ItemKNN(Method):
    """What both share; `centres` says which numbers are multiplied."""

    source = "baseline in Wang & Tang, private through a noisy Gram"
    engines = ("threads", "spark")
    Settings: ClassVar[type[BaseSettings]] = KNNSettings
    centres: ClassVar[bool]
    """Whether ratings count less the person's own mean."""
    variance: ClassVar[float]
    """Of one number of a person's row, around zero: a public rule."""
    forms: ClassVar[Mapping[Calibration, type[Form] | str]] = {
        "sound": "tacit.methods.item_item.knn:GramForm",
        "none": "tacit.methods.item_item.twin:KNNTwin",
    }

    @property
    def knn_settings(self) -> KNNSettings:
        """The settings, by their own class."""
        return cast("KNNSettings", self.settings)

    def form(self, calibration: Calibration) -> Form:
        """PCC or COS of the paper where its neighbours are asked for."""
        if self.knn_settings.neighbours is None:
            return super().form(calibration)
        if calibration != "none":
            raise SettingError(
                "neighbours is a setting of the paper's non-private baseline",
                remedy="say --calibration none, or keep=N for the private one",
            )
        form: Form = import_module(PRINTED).PlainForm(self)
        return form


class GramForm(Form):
    """`sound`, and without noise most of the twin."""

    method: ItemKNN
    settings: KNNSettings

    def plan(self, public: Public) -> Plan:
        """First-order rounds, then the Gram; after a start the first-order rounds alone."""
        if public.start is None:
            return matrix_plan(public, self.settings, self.measure)
        facts = measured(public)
        rounds = full_budget(first_rounds(facts, divided(facts)))
        return Plan(public.unit, rounds, (STARTED,))

    def measure(self, public: Public, size: int, share: float) -> Round:
        """The Gram over the items of largest released weight. Without noise people weigh by
        the root of their ratings where products are centred, as at `rating` (.847 in the
        place of .851 on split 100 of ML-1M), and all alike where they are not."""
        twin = public.budget is None
        by_root = twin and self.method.centres
        whole_person = (public.unit == "user" or twin) and not by_root
        pure = is_pure(public.budget)

        def contribute(block: Block, state: MatrixState) -> Mapping[str, Rows]:
            index = matrix_rows(state.weights.mean, size)[block.item]
            if not self.method.centres:
                row = (block.value + (LOWEST + HIGHEST) / 2) / HIGHEST
                if whole_person:
                    row = over_length(block, row * (index < size), pure)
            else:
                row = residuals(block, state)
                if whole_person:
                    row = factors(block, row, index < size, pure)
            return {"gram": Rows(block.ptr, index, row[:, None])}

        def absorb(state: MatrixState, released: Mapping[str, Released]) -> MatrixState:
            noisy = released["gram"]
            matrix = precise(noisy.value)
            if twin and whole_person:
                diagonal = np.diag(matrix).copy()
            else:
                weight = state.weights.mean[head_of(state.weights.mean, size)]
                diagonal = self._diagonal(weight, state.people, whole_person)
            cleaned = shrink_spectrum(matrix, noisy.sd, self.settings.rank or RANK).dense()
            alike = similarity(cleaned, diagonal, LEAST_NOISE * noisy.sd)
            return replace(state, near=strongest(alike, self.settings.keep))

        bound: Bound = FactorGram(norm="l1" if pure else "l2", diagonal=twin)
        if not whole_person:
            cell_bound = centred_cells(public) if self.method.centres else CellClip(1.0, FINE)
            bound = EntryGram(size, cell_bound, OFFSET)
        part = Part("gram", size, bound, share=share, form="gram")
        return Round("gram", (part,), contribute, absorb)

    def _diagonal(self, weight: Floats, people: float, whole_person: bool) -> Floats:
        """What the diagonal would be, from released weights: W v sqrt(c)/(v c + k), or W
        v/sqrt(v c + k)."""
        mean_count = max(float(weight.sum()) / people, 1.0)
        count = BUSY * (mean_count**2 if whole_person else mean_count)
        length = self.method.variance * count + OFFSET
        over = np.sqrt(count) / length if whole_person else length**-0.5
        return np.asarray(weight * self.method.variance * over)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return MatrixState()

    def finish(self, public: Public, state: MatrixState) -> Shared:
        """Level, effects, features and each item's neighbours."""
        arrays = first_arrays(public, state)
        arrays["doubt"] = np.zeros(public.items, np.float32)
        arrays |= self._neighbours(public, state)
        floor = self.settings.floor
        if public.start is not None:
            floor = public.start.numbers["floor"]
        numbers = {"noise": NOISE, "around": NOISE, "floor": floor}
        return published(self.method, public, "neighbourhood", arrays, numbers)

    def _neighbours(self, public: Public, state: MatrixState) -> Arrays:
        if public.start is not None:
            return carried_over(public.start, public.catalogue)
        head = head_of(state.weights.mean, len(state.near.item))
        return neighbour_lists(public.items, head, state.near)


class PearsonKNN(ItemKNN):
    """Items are alike if the same people rate them above, or below, their own mean."""

    name = "knn-pearson"
    centres = True
    variance = 0.45


class CosineKNN(ItemKNN):
    """Items are alike if the same people rate them."""

    name = "knn-cosine"
    centres = False
    variance = 0.55
