"""McSherry & Mironov (KDD 2009): global effects first, then the covariance of what is left,
each measured once.

Everything after the releases is post-processing, and each person predicts on their own side
from the released numbers and their own ratings. `sound` is the paper's idea with a tighter
bound: user-centred, clamped ratings, each person's products divided by the length of that
person's row; the diagonal, which no predictor needs, is never released. With
`cleaning=paper` it measures covariance and weights apart, as the paper does, at sound
bounds. `paper`: as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Bound, CountedGram, EntryGram, FactorGram, Rows
from tacit.methods.base import Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.item_item.matrix import (
    CLAMP,
    CLIP,
    FICTITIOUS,
    OFFSET,
    MatrixMethod,
    MatrixSettings,
    centred,
    centred_cells,
    first_arrays,
    is_pure,
    neighbour_lists,
    places,
    precise,
    residuals,
)
from tacit.methods.item_item.pair import pair_round
from tacit.methods.item_item.printed.mcsherry import Printed
from tacit.methods.refine.neighbour import Product, strongest
from tacit.methods.refine.spectrum import shrink_spectrum
from tacit.methods.refine.spectrum_items import fit_loadings, profile
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block, Part, Released, Round
from tacit.rounds.state import State

ENTRY_VARIANCE = 0.45
"""Of a clamped, centred rating: a public rule."""
NOISE = 0.9
"""Variance of a rating around the personal model."""
TOGETHER = 3.0
"""How many times the scatter of an entry counts, as the entries of a row share people: it
matters where there is little noise or none (seen on ML-1M: 3 takes the twin from .848 to
.842, and changes nothing at epsilon 20 and below)."""


class CovarianceSettings(MatrixSettings):
    cleaning: Literal["spectrum", "paper", "none"] = "spectrum"
    """Of the noisy matrix: noise-aware row regressions, the paper's shrinking to the
    average, or neither."""
    theta: float | None = Field(None, gt=0)
    """`paper`: the paper's one parameter of noise (it uses .15); from epsilon and delta
    unless given."""
    noise: Literal["gaussian", "laplace"] = "gaussian"
    """`paper`: the law of the noise."""


class CovarianceKNNSettings(CovarianceSettings):
    neighbours: int = Field(50, ge=1)
    """Own ratings that a prediction uses; 20 in `paper`."""
    keep: int | None = Field(None, ge=1)
    """Neighbours published for each item, instead of the rank-k factor: for small devices.
    Not in `paper`."""


class Covariance(MatrixMethod):
    """The measurements; subclasses say how a person uses them."""

    source = "McSherry & Mironov 2009"
    calibrations = ("sound", "paper", "none")
    paper_unit = "rating"
    Settings: ClassVar[type[BaseSettings]] = CovarianceSettings
    personal: ClassVar[str]
    printed_personal: ClassVar[str]

    @property
    def chosen(self) -> CovarianceSettings:
        settings = self.settings
        assert isinstance(settings, CovarianceSettings)
        return settings

    def plan(self, public: Public) -> Plan:
        if public.calibration == "paper":
            return self._printed(public).plan()
        return super().plan(public)

    def _printed(self, public: Public) -> Printed:
        settings = self.chosen
        cleans = settings.cleaning != "none"
        return Printed(
            public,
            theta=settings.theta,
            noise=settings.noise,
            clean=cleans,
            seed=self.seed,
            neighbours=self.printed_personal == "weighted-neighbours",
        )

    def measure(self, public: Public, size: int, share: float) -> Round:
        """The weighted covariance above the diagonal, over the items of largest released weight."""
        if self.chosen.cleaning == "paper":
            return pair_round(public, size, share)
        whole_person, pure = public.unit == "user", is_pure(public)
        bound: Bound = FactorGram(norm="l1" if pure else "l2")
        if not whole_person:
            bound = EntryGram(size, centred_cells(public), OFFSET)
            # yy'/|y| has no bound in L1; a finer grid keeps the rounding of so many entries
            # small
            if pure:
                bound = CountedGram(size, centred_cells(public), grid=2**28, power=1.0)

        def contribute(block: Block, state: State) -> Mapping[str, Rows]:
            index = places(state["weight"], size)[block.item]
            if not whole_person:
                return {
                    "matrix": Rows(block.ptr, index, residuals(block, state)[:, None])
                }
            rows = factors(block, state, index < size, pure)
            return {"matrix": Rows(block.ptr, index, rows[:, None])}

        def absorb(state: State, released: Mapping[str, Released]) -> State:
            settings = self.chosen
            noisy, people = released["matrix"], float(state["people"][0])
            head = np.flatnonzero(places(state["weight"], size) < size)
            matrix = precise(noisy.value)
            known = profile(
                state["weight"][head],
                people,
                public.unit,
                variance=ENTRY_VARIANCE,
                offset=OFFSET,
            )
            if settings.cleaning == "none":
                mean = (
                    shrink_spectrum(matrix, 0.0, settings.rank).loadings
                    / known.weight[:, None]
                )
                spread = np.zeros(len(head))
            else:
                fitted = fit_loadings(
                    matrix, noisy.sd, known, rank_max=settings.rank, together=TOGETHER
                )
                mean, spread = fitted.mean, fitted.spread
            learned = np.zeros((public.items, mean.shape[1]))
            learned[head] = mean
            variance = np.array(state["variance"])
            variance[head] += spread
            return {**state, "learned": learned, "variance": variance}

        part = Part("matrix", size, bound, share=share, form="gram")
        return Round("covariance", (part,), contribute, absorb)

    def finish(self, public: Public, state: State) -> Shared:
        if public.calibration == "paper":
            arrays, numbers = self._printed(public).arrays(state)
            small = {
                name: np.asarray(array, np.float32) for name, array in arrays.items()
            }
            return self._publish(public, self.printed_personal, small, numbers)
        return self._published(public, state)

    def _published(self, public: Public, state: State) -> Shared:
        arrays = first_arrays(public, state, np.asarray(state["learned"]))
        return self._publish(public, self.personal, arrays, {"noise": NOISE})

    def _publish(
        self,
        public: Public,
        personal: str,
        arrays: Mapping[str, NDArray[Any]],
        numbers: Mapping[str, float],
    ) -> Shared:
        settings = self.settings.model_dump()
        return Shared(
            self.name,
            personal,
            arrays,
            numbers,
            public.schema,
            public.catalogue,
            settings,
        )


class CovarianceSVD(Covariance):
    """The rank-k factor of the covariance, and a ridge solve on a person's own ratings."""

    name = "covariance-svd"
    personal = printed_personal = "gaussian"


class CovarianceKNN(Covariance):
    """Bell & Koren's neighbourhood weights: ridge over a person's ratings that covary most
    with an item, once the person's level is taken off; in `paper` both at once, as printed."""

    name = "covariance-knn"
    Settings: ClassVar[type[BaseSettings]] = CovarianceKNNSettings
    personal, printed_personal = "factor-neighbours", "weighted-neighbours"

    def _published(self, public: Public, state: State) -> Shared:
        settings = self.settings
        assert isinstance(settings, CovarianceKNNSettings)
        numbers = {"noise": NOISE, "neighbours": float(settings.neighbours)}
        learned = np.asarray(state["learned"])
        arrays: dict[str, NDArray[Any]] = {**first_arrays(public, state)}
        arrays["variance"] = (state["variance"] + (learned**2).sum(axis=1)).astype(
            np.float32
        )
        if settings.keep is None:
            arrays["factor"] = learned.astype(np.float32)
            return self._publish(public, self.personal, arrays, numbers)
        head = np.flatnonzero(learned.any(axis=1))
        arrays |= neighbour_lists(
            public.items, head, strongest(Product(learned[head]), settings.keep)
        )
        return self._publish(public, "kept-neighbours", arrays, numbers)


def factors(
    block: Block, state: State, inside: NDArray[np.bool_], pure: bool
) -> NDArray[np.float64]:
    """y/sqrt(|y|^2 + offset), or y/(|y|_1 + offset) for an L1 bound; each person alone."""
    if pure:
        row, people = centred(block, state, inside), len(block.people)
        person = np.repeat(np.arange(people), np.diff(block.ptr))
        return np.asarray(
            row / (np.bincount(person, np.abs(row), people) + OFFSET)[person]
        )
    from tacit.kernels.rows import centred_factors

    out = np.empty(len(inside))
    centred_factors(
        block.ptr, residuals(block, state), inside, CLIP, FICTITIOUS, CLAMP, OFFSET, out
    )
    return out
