"""McSherry & Mironov (KDD 2009): global effects first, then the covariance of what is left,
each measured once.

Everything after the releases is post-processing, and each person predicts on their own side
from the released numbers and their own ratings. `sound` is the paper's idea with a tighter
bound: user-centred, clamped ratings, each person's products divided by the length of that
person's row; the diagonal, which no predictor needs, is never released. With
`cleaning=paper` it measures covariance and weights apart, as the paper does, at sound
bounds. The twin of the factor is fitted in one piece; that of the neighbourhood is the same
without noise. `paper`: as printed.

Read on in `plan` (how the budget is divided), `rows` (what one person adds) and `matrix`
(what is published).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tacit.bound import Bound, CellClip, CountedGram, EntryGram, FactorGram, Rows
from tacit.methods.base import Form, Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import is_pure
from tacit.methods.item_item.plan import (
    FINE,
    OFFSET,
    RANK,
    Floats,
    MatrixSettings,
    MatrixState,
    centred,
    centred_cells,
    counts_inside,
    factors,
    first_arrays,
    head_of,
    matrix_plan,
    matrix_rows,
    neighbour_lists,
    precise,
    published,
    residuals,
)
from tacit.methods.refine.neighbour import Product, strongest
from tacit.methods.refine.spectrum import paper_clean, shrink_spectrum
from tacit.methods.refine.spectrum_items import fit_item_factors, profile
from tacit.model.shared import Shared
from tacit.rounds.options import Calibration
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
NEIGHBOURS = 50
"""Own ratings that a prediction uses, unless told."""
FINE_PURE = 2**28
"""Steps of a grid on which so many rounded entries stay small in L1."""
Forms = Mapping[Calibration, type[Form] | str]
WEIGHTS = 0.2
"""Of the round's share, for the weights: they are large and smooth where the covariance is small.
"""
PAIR_RANK = 20
"""k of the paper."""
PULL = 3.0
"""Average pairs to shrink by. This and the next are the first values tried:
docs/results/covariance.md."""
PER_NOISE = 4.0
"""Added to `PULL` for each noise of a weight over the average weight."""
GRID, GRID_PURE = 2**20, 2**28
"""Steps of the grid at unit `rating`: finer where the bound is of L1 and counts every entry."""
TINY, TINIER = 1e-3, 1e-9
"""The average weight counts as at least so much of its own noise, and more than nothing."""
DIMENSION = 20
"""k: "the dimensionality for all algorithms is fixed at k = 20" (section 5.2)."""

# What McSherry & Mironov print as constants, and what their text leaves open: settings of
# calibration `paper`, each with the printed value or the likeliest reading as its default.


class McSherrySettings(MatrixSettings):
    """All for `paper` alone; no other calibration looks at them."""

    theta: float | None = Field(None, gt=0)
    """The paper's one parameter of noise (it uses .15); from epsilon and delta unless
    given."""
    law: Literal["gaussian", "laplace"] = "gaussian"
    """The law of the noise."""
    shares: tuple[float, float, float] = (0.02, 0.19, 0.79)
    """Of theta: global average, item averages, covariance."""
    item_prior: float = Field(15.0, ge=0)
    """beta_m: fictitious ratings at the global average in an item's."""
    person_prior: float = Field(20.0, ge=0)
    """beta_p: fictitious ratings in a person's own average."""
    clamp: float = Field(1.0, gt=0)
    """B: where centred ratings are clamped before they are measured."""
    residuals: Literal["plain", "clamped"] = "plain"
    """What neighbours and factors see of a person's ratings when predicting. Left open;
    clamping is there to lower a sensitivity, and a prediction measures nothing."""
    shrink_diagonal: float | None = Field(None, ge=0)
    """Of the cleaning; fitted on the raw error of a probe set, as printed, unless given."""
    shrink_off: float | None = Field(None, ge=0)
    """The same off the diagonal."""
    ridge: float | None = Field(None, gt=0)
    """Of both predictions; fitted likewise unless given. With all three given there is no
    probe set, and all ratings are measured."""
    matrix_noise: Literal["triangle", "entries"] = "triangle"
    """Whether a pair of items has one draw, or each of its two entries its own and their
    mean is used. Left open."""
    person_total: Literal["mean", "norm"] = "mean"
    """Unit `user`: whether a person adds her mean to the global sum, which gives the bound
    that section 4.5 states, or her sum over ||e||, literally. Left open."""
    least_weight: float = Field(1e-3, gt=0)
    """Of the mean weight of a pair: noisy divisors are at least this. Left open."""


class CovarianceSettings(McSherrySettings):
    """What both methods can be told."""

    cleaning: Literal["spectrum", "paper", "none"] = "spectrum"
    """Of the noisy matrix: noise-aware row regressions, the paper's shrinking to the
    average, or neither. In `paper` the paper's, or none."""


class CovarianceKNNSettings(CovarianceSettings):
    """What the neighbourhoods can be told."""

    neighbours: int | None = Field(None, ge=1)
    """Own ratings that a prediction uses: 50 unless given; 20 in `paper`."""
    keep: int | None = Field(None, ge=1)
    """Neighbours published for each item, instead of the rank-k factor: for small devices.
    Not in `paper`."""


class CovarianceForm(Form):
    """`sound`, and without noise the twin: the measurements. Subclasses say what is
    published of them."""

    settings: CovarianceSettings

    def plan(self, public: Public) -> Plan:
        """First-order rounds, then the covariance."""
        return matrix_plan(public, self.settings, self.measure)

    def measure(self, public: Public, size: int, share: float) -> Round:
        """The covariance over the items of largest released weight."""
        if self.settings.cleaning == "paper":
            return pair_round(public, size, share)
        return covariance_round(public, self.settings, size, share)

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return MatrixState()

    def used(self, public: Public) -> dict[str, Any]:
        """Without what only `paper` looks at."""
        settings = super().used(public)
        settings["rank"] = self.settings.rank or RANK
        if "neighbours" in settings:
            settings["neighbours"] = settings["neighbours"] or NEIGHBOURS
        return {name: value for name, value in settings.items() if name not in PAPER_ONLY}

    @abstractmethod
    def finish(self, public: Public, state: MatrixState) -> Shared:
        """How a person uses the covariance."""


def covariance_round(
    public: Public, settings: CovarianceSettings, size: int, share: float
) -> Round:
    """The weighted covariance above the diagonal, over the items of largest released weight."""
    whole_person = public.unit == "user"
    pure = is_pure(public.budget)

    def contribute(block: Block, state: MatrixState) -> Mapping[str, Rows]:
        index = matrix_rows(state.weights.mean, size)[block.item]
        row = residuals(block, state)
        if whole_person:
            row = factors(block, row, index < size, pure)
        return {"matrix": Rows(block.ptr, index, row[:, None])}

    def absorb(state: MatrixState, released: Mapping[str, Released]) -> MatrixState:
        noisy = released["matrix"]
        head = head_of(state.weights.mean, size)
        mean, spread = _cleaned(public, settings, state, head, noisy)
        learned = np.zeros((public.items, mean.shape[1]))
        learned[head] = mean
        variance = np.array(state.effects.variance)
        variance[head] += spread
        item_biases = replace(state.effects, variance=variance)
        return replace(state, learned=learned, effects=item_biases)

    bound = _covariance_bound(public, size)
    part = Part("matrix", size, bound, share=share, form="gram")
    return Round("covariance", (part,), contribute, absorb)


def _covariance_bound(public: Public, size: int) -> Bound:
    pure = is_pure(public.budget)
    if public.unit == "user":
        return FactorGram(norm="l1" if pure else "l2")
    if pure:  # yy'/|y| has no bound in L1
        return CountedGram(size, centred_cells(public), grid=FINE_PURE, power=1.0)
    return EntryGram(size, centred_cells(public), OFFSET)


def _cleaned(
    public: Public,
    settings: CovarianceSettings,
    state: MatrixState,
    head: NDArray[np.int64],
    noisy: Released,
) -> tuple[Floats, Floats]:
    """Loadings of the covered items, and what is unknown of each one's."""
    matrix = precise(noisy.value)
    entry_profile = profile(
        state.weights.mean[head], state.people, public.unit, variance=ENTRY_VARIANCE, offset=OFFSET
    )
    rank = settings.rank or RANK
    if settings.cleaning == "none":
        plain = shrink_spectrum(matrix, 0.0, rank).loadings
        return plain / entry_profile.weight[:, None], np.zeros(len(head))
    fitted = fit_item_factors(matrix, noisy.sd, entry_profile, rank_max=rank, together=TOGETHER)
    return fitted.mean, fitted.spread


# Covariance and weights, released separately and divided afterwards as McSherry & Mironov do, with
# sound bounds.
#
# Unit `user`: a person adds (rr', ee')/n, products of rows of length at most B and 1 (the
# weight is *squared*; with 1/sqrt n a whole person would add B^2 sqrt n). Unit `rating`:
# (rr', ee')/sqrt n, bounded by `CountedGram`. For a pure promise n and n^2 stand for sqrt n
# and n. The shrinkage follows by rule from the noise on the weights.
def pair_round(public: Public, size: int, share: float) -> Round:
    """Release both matrices with their diagonals; clean them as the paper does."""
    whole_person = public.unit == "user"
    pure = is_pure(public.budget)

    def contribute(block: Block, state: MatrixState) -> Mapping[str, Rows]:
        index = matrix_rows(state.weights.mean, size)[block.item]
        rating = residuals(block, state)
        weight = np.ones(len(index))
        if whole_person:
            inside = index < size
            count = np.maximum(counts_inside(block, inside), 1)
            scale = 1.0 / (count if pure else np.sqrt(count))
            rating = scale * centred(block, rating, inside)
            weight = scale * inside
        return {
            "covariance": Rows(block.ptr, index, rating[:, None]),
            "weights": Rows(block.ptr, index, weight[:, None]),
        }

    def absorb(state: MatrixState, released: Mapping[str, Released]) -> MatrixState:
        head = head_of(state.weights.mean, size)
        factor = paper_clean(
            precise(released["covariance"].value),
            precise(released["weights"].value),
            state.weights.mean[head],
            rank=PAIR_RANK,
            shrink_diagonal=PULL,
            shrink_off=_shrinkage(released["weights"]),
        )
        learned = np.zeros((public.items, factor.shape[1]))
        learned[head] = factor
        return replace(state, learned=learned)

    ratings: Bound
    ones: Bound
    if whole_person:
        ratings = ones = FactorGram(norm="l1" if pure else "l2", diagonal=True)
    else:
        grid = GRID_PURE if pure else GRID
        power = 1.0 if pure else 0.5
        ratings = CountedGram(size, centred_cells(public), grid=grid, power=power)
        ones = CountedGram(size, CellClip(1.0, FINE), grid=grid, power=power)
    covariance_share = (1 - WEIGHTS) * share
    parts = (
        Part("covariance", size, ratings, share=covariance_share, form="gram"),
        Part("weights", size, ones, share=WEIGHTS * share, form="gram"),
    )
    return Round("covariance", parts, contribute, absorb)


def _shrinkage(weights: Released) -> float:
    """Average pairs to shrink an entry off the diagonal by."""
    matrix = precise(weights.value)
    mean = float(matrix[np.triu_indices(len(matrix), 1)].mean())
    return PULL + PER_NOISE * weights.sd / max(mean, TINY * weights.sd + TINIER)


PAPER_ONLY = frozenset(McSherrySettings.model_fields) - frozenset(MatrixSettings.model_fields)


class FactorForm(CovarianceForm):
    """A person's tastes are columns of the rank-k factor."""

    def finish(self, public: Public, state: MatrixState) -> Shared:
        """The personal Gaussian model over level, popularity, agreement, features and factor."""
        arrays = first_arrays(public, state, state.learned)
        return published(self.method, public, "gaussian", arrays, {"noise": NOISE})


class NeighbourForm(CovarianceForm):
    """A person's ratings of an item's neighbours speak for it."""

    settings: CovarianceKNNSettings

    def finish(self, public: Public, state: MatrixState) -> Shared:
        """The factor, or with `keep` each item's strongest neighbours."""
        keep = self.settings.keep
        numbers = {"noise": NOISE, "neighbours": float(self.settings.neighbours or NEIGHBOURS)}
        learned = state.learned
        arrays = first_arrays(public, state)
        variance = state.effects.variance + (learned**2).sum(axis=1)
        arrays["variance"] = variance.astype(np.float32)
        if keep is None:
            arrays["factor"] = learned.astype(np.float32)
            return published(self.method, public, "factor-neighbours", arrays, numbers)
        head = np.flatnonzero(learned.any(axis=1))
        near = strongest(Product(learned[head]), keep)
        arrays |= neighbour_lists(public.items, head, near)
        return published(self.method, public, "kept-neighbours", arrays, numbers)


class CovarianceMethod(Method):
    """What the two methods have in common."""

    source = "McSherry & Mironov 2009"
    engines = ("threads", "spark")
    calibrations = ("sound", "paper", "none")
    paper_unit = "rating"
    paper_units = ("user",)


class CovarianceSVD(CovarianceMethod):
    """The rank-k factor of the covariance, and a ridge solve on a person's own ratings."""

    name = "covariance-svd"
    Settings: ClassVar[type[BaseSettings]] = CovarianceSettings
    forms: ClassVar[Forms] = {
        "sound": FactorForm,
        "none": "tacit.methods.item_item.twin:CovarianceTwin",
        "paper": "tacit.papers.mcsherry2009.printed.forms:PrintedFactor",
    }


class CovarianceKNN(CovarianceMethod):
    """Bell & Koren's neighbourhood weights: ridge over a person's ratings that covary most
    with an item, once the person's level is taken off; in `paper` over those that were rated
    together with it most often."""

    name = "covariance-knn"
    Settings: ClassVar[type[BaseSettings]] = CovarianceKNNSettings
    forms: ClassVar[Forms] = {
        "sound": NeighbourForm,
        "none": "tacit.methods.item_item.twin:CovarianceNeighbourTwin",
        "paper": "tacit.papers.mcsherry2009.printed.forms:PrintedNeighbours",
    }
