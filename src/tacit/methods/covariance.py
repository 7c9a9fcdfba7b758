"""McSherry & Mironov (KDD 2009), sound: global effects first, then the covariance of what is left, each measured once.

Everything after the releases is post-processing, and each person predicts on their own side from the released numbers
and their own ratings. The measurement is the paper's idea with a tighter bound: user-centred, clamped ratings, each
person's products divided by the length of that person's row; the diagonal, which no predictor needs, is never released.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Bound, CentredCells, EntryGram, FactorGram, Rows
from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.bias import level_share, strength
from tacit.methods.first_order import FirstOrder, kept_weights, public_design
from tacit.model.gaussian import loadings
from tacit.model.shared import Shared
from tacit.refine.spectrum import shrink_spectrum
from tacit.refine.spectrum_items import fit_loadings, profile
from tacit.round import Block, Part, Plan, Released, Round, State

CLAMP = 1.0
"""B of the paper: a centred rating counts at most one point."""
FICTITIOUS = 20
"""beta_p of the paper: fictitious ratings in a person's own mean."""
OFFSET = 0.5
"""In the length of a person's row: keeps the weight of people with few ratings finite."""
ENTRY_VARIANCE = 0.45
"""Of a clamped, centred rating: a public rule."""
NOISE = 0.9
"""Variance of a rating around the personal model."""
FINE = 2**12
UNDECLARED = 5000
"""Stands for the number of people in the rules where it is not declared."""


class Settings(BaseSettings):
    cleaning: Literal["spectrum", "none"] = "spectrum"
    """How the noisy matrix is cleaned: noise-aware row regressions, or its plain leading eigenvectors."""
    items: int | None = Field(None, ge=2)
    """How many of the most rated items the matrix covers; by rule from people and noise unless given."""
    rank: int = Field(60, ge=1, le=500)
    """At most this many factors."""
    neighbours: int = Field(50, ge=1)
    """Own ratings that a neighbourhood prediction uses (covariance-knn)."""


class Covariance(Method):
    """The measurements; subclasses say how a person uses them."""

    source = "McSherry & Mironov 2009"
    Settings: ClassVar[type[BaseSettings]] = Settings
    personal: ClassVar[str]

    def plan(self, public: Public) -> Plan:
        settings = self.settings
        assert isinstance(settings, Settings)
        mu = strength(public.budget)
        people = public.schema.users or UNDECLARED
        reach = people * mu
        matrix = covariance_share(public.unit, reach)
        size = matrix_size(public, reach) if settings.items is None else min(settings.items, public.items)
        first = FirstOrder(public, public_design(public), False)
        level = level_share(public.schema.users, mu * sqrt(1 - matrix))
        rest = (1 - matrix) * (1 - level)
        each = 0.69 * rest / 2
        rounds = (
            first.people((1 - matrix) * level),
            first.weights(0.31 * rest),
            *(first.effects(f"effects {i}", each, 1 / (mu * sqrt(each))) for i in (1, 2)),
            self.measure(public, size, matrix),
        )
        story = (
            f"The covariance takes {100 * matrix:.0f} % of the budget, over the {size:,} items of largest weight.",
            "Both numbers follow by rule from people x noise.",
            "First-order statistics take the rest: level, item weights and two sweeps of item effects.",
        )
        return Plan(public.unit, rounds, story)

    def measure(self, public: Public, size: int, share: float) -> Round:
        """The weighted covariance above the diagonal, over the items of largest released weight."""
        whole_person = public.unit == "user"
        bound: Bound = FactorGram()
        if not whole_person:
            bound = EntryGram(size, CentredCells(public.items, 2.0, FICTITIOUS, CLAMP, FINE), OFFSET)

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            place = state["place"] if "place" in state else places(state["weight"], size)
            index = place[block.item]
            rest = block.value - state["level"][0] - state["effect"][block.item]
            if whole_person:
                from tacit.kernels.rows import centred_factors

                rows = np.empty(len(rest))
                centred_factors(block.ptr, rest, index < size, 2.0, FICTITIOUS, CLAMP, OFFSET, rows)
                return {"matrix": Rows(block.ptr, index, rows[:, None])}
            return {"matrix": Rows(block.ptr, index, rest[:, None])}

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            settings = self.settings
            assert isinstance(settings, Settings)
            noisy, people = released["matrix"], float(state["people"][0])
            head = np.flatnonzero(places(state["weight"], size) < size)
            if settings.cleaning == "none":
                found = shrink_spectrum(noisy.value, 0.0, settings.rank)
                known = profile(state["weight"][head], people, public.unit, variance=ENTRY_VARIANCE, offset=OFFSET)
                mean, spread = found.loadings / known.weight[:, None], np.zeros(len(head))
            else:
                known = profile(state["weight"][head], people, public.unit, variance=ENTRY_VARIANCE, offset=OFFSET)
                fitted = fit_loadings(noisy.value, noisy.sd, known, rank_max=settings.rank)
                mean, spread = fitted.mean, fitted.spread
            learned = np.zeros((public.items, mean.shape[1]))
            learned[head] = mean
            variance = np.array(state["variance"])
            variance[head] += spread
            return {**state, "learned": learned, "variance": variance}

        part = Part("matrix", size, bound, share=share, form="gram")
        return Round("covariance", (part,), contribute, absorb)

    def finish(self, public: Public, state: State) -> Shared:
        settings = self.settings
        assert isinstance(settings, Settings)
        first = FirstOrder(public, public_design(public), False)
        made, _ = loadings(
            kept_weights(state).popularity, first.features,
            level_variance=float(state["level"][1]), learned=np.asarray(state["learned"]),
        )  # fmt: skip
        arrays = {
            "baseline": (float(state["level"][0]) + state["effect"]).astype(np.float32),
            "variance": state["variance"].astype(np.float32),
            "loadings": made.astype(np.float32),
            "weight": np.asarray(state["weight"], np.float32),
        }
        numbers = {"noise": NOISE, "neighbours": float(settings.neighbours)}
        return Shared(self.name, self.personal, arrays, numbers, public.schema, public.catalogue, settings.model_dump())


class CovarianceSVD(Covariance):
    """The rank-k factor of the covariance, and a ridge solve on a person's own ratings."""

    name = "covariance-svd"
    personal = "gaussian"


class CovarianceKNN(Covariance):
    """Bell & Koren's neighbourhood weights: ridge over a person's ratings that covary most with an item."""

    name = "covariance-knn"
    personal = "ridge-neighbours"


def covariance_share(unit: str, reach: float) -> float:
    """Of the budget: nothing much while people x mu is too small for any pair of items to stand out."""
    if reach == float("inf"):
        return 0.7
    return 0.7 * reach**2 / (reach**2 + 4000**2) if unit == "user" else 0.7 * reach / (reach + 400)


def matrix_size(public: Public, reach: float) -> int:
    """How many items the matrix covers: as many as the noise allows, at most half the catalogue."""
    most = max(2, min(public.items, max(50, public.items // 2)))
    factor = 0.07 if public.unit == "user" else 0.3
    return int(np.clip(min(factor * reach, most), min(50, most), most))


def places(weight: NDArray[np.float64], size: int) -> NDArray[np.uint32]:
    """Row of each item in the matrix, ascending with the item; `size` for items that it leaves out."""
    head = np.sort(np.argsort(-np.asarray(weight), kind="stable")[:size])
    place = np.full(len(weight), size, np.uint32)
    place[head] = np.arange(len(head), dtype=np.uint32)
    return place
