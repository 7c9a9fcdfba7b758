"""Learned neighbourhoods (Wang & Tang): similarities of items, trained on what they predict.

`sound` (unit `user`): private item means, a private covariance to start from, noisy
gradients of people's own losses over the most rated items, and a private choice that
returns to the item means where nothing stands out of the noise. `none` is descent without
noise over all items; `paper` is Algorithm 1 or 2 as printed. What was learned may be used
by `knn-pearson` and `knn-cosine`: `tacit fit --method knn-cosine --start MODEL`.

`tacit.methods.neighbourhood.plan` is the sound form, `printed` the papers', `twin` the
non-private one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

from numpy.typing import NDArray
from pydantic import Field

from tacit.methods.base import Method, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.rounds import FirstState, Floats
from tacit.methods.first_order.started import VERSION
from tacit.model.shared import Shared, single
from tacit.rounds.state import NOT_YET, State

HOME = "tacit.methods.neighbourhood"
"""Where the forms are found."""
SGD_RATE, LANGEVIN_RATE = 0.5, 0.3
"""First step of `sound` as a share of the one that would reach the least loss: set on one
split of ML-1M (docs/results/pnbm.md)."""


class NeighbourhoodSettings(BaseSettings):
    """What both methods can be told."""

    neighbours: int = Field(500, ge=1, le=5000)
    """N_k: similarities kept for each item; in `paper` the largest, after all were learned."""
    start: Literal["random", "cosine", "pearson"] | None = None
    """First similarities: `random` in `paper`, `cosine` in `none` unless said; `sound`
    starts from its own released covariance."""
    rounds: int | None = Field(None, ge=0, le=500)
    """K: gradient rounds (`sound`, `paper`) or passes (`none`); unset, a rule of each
    calibration chooses."""
    items: int | None = Field(None, ge=0, le=2000)
    """How many of the most rated items get neighbours in `sound`; unset, a rule from people
    and budget chooses."""
    sampled: float = Field(1.0, gt=0, le=1)
    """Chance of each person to take part in a gradient round (`sound`)."""
    batch: float = Field(1.0, gt=0, le=1)
    """gamma: share of the ratings in each step of `paper`; not printed, so all."""
    least: int = Field(20, ge=0)
    """`paper` trains on people with more ratings than this."""
    reading: Literal["printed", "code"] = "printed"
    """Steps of `paper`: as the paper prints them, or as the authors' published program takes
    them."""


class SGDSettings(NeighbourhoodSettings):
    """What `pnbm-sgd` can be told."""

    rate: float | None = Field(None, gt=0)
    """eta; unset, .5 in `sound` and .4 in `paper` (section 5.1 has .1 and .4)."""
    decay: float = Field(0.005, ge=0)
    """lambda of `paper` (section 5.1: .05 and .005)."""
    rescale: float = Field(10.0, gt=0)
    """beta of `paper` (section 5.1: 10 and 20)."""
    floor: float | None = Field(None, gt=0)
    """C of `paper`; unset, 10 (section 5.1: 10 and 15)."""
    paranoid: Literal["left-out", "kept"] = "left-out"
    """In `paper`: neighbours further from a prediction than the width of the scale."""


class ChainSettings(NeighbourhoodSettings):
    """What `pnbm-langevin` can be told."""

    rate: float | None = Field(None, gt=0)
    """eta_1; unset, .3 in `sound` and 8e-6 in `paper` (section 5.1: 8e-8, 4e-7, 8e-6)."""
    decay: float = Field(0.02, ge=0)
    """lambda: pull back to the start (`sound`) or to zero (`paper`)."""
    temperature: float = Field(0.006, gt=0)
    """Of `paper` (section 5.1: .001, .006, .09); in `sound` it follows from the noise that
    the budget demands."""
    falling: float = Field(0.3, ge=0, le=1)
    """xi: steps fall as t^-xi."""
    most: int = Field(200, ge=1)
    """tau: `paper` keeps so many random ratings of a person."""
    times: Literal["ratings", "one"] = "ratings"
    """What multiplies the drift of `paper`: the number of ratings, as in the authors'
    program, where printed step sizes do something; or nothing."""


@dataclass(frozen=True)
class SimilarityWalk:
    """How similarities move from their start, in `sound`."""

    rate: float
    """Size of the first step."""
    few: int
    """Gradient rounds where neighbours pay."""
    many: int
    """Gradient rounds where people x mu is large."""
    falling: float = 0.0
    """xi: steps fall as t^-xi."""
    pull: float = 0.0
    """Of every step back to the first similarities."""
    samples: bool = False
    """Whether iterates are samples, to be averaged, and their spread a doubt (also in
    `none`); else each gradient is cleaned of its noise."""


@dataclass(frozen=True)
class Learned:
    """What is published: arrays of the personal model `neighbourhood`, and its numbers."""

    arrays: Mapping[str, NDArray[Any]]
    noise: float
    """Variance of a rating around item means."""
    around: float
    """The same around the neighbours' prediction."""
    floor: float
    """The least total similarity that predictions divide by."""


class Neighborhood(Method):
    """What both methods share."""

    source = "Wang and Tang, Differentially Private Neighborhood-based Recommender Systems"
    units = ("user",)
    calibrations = ("sound", "paper", "none")
    engines = ("threads", "spark")

    @property
    @abstractmethod
    def walk(self) -> SimilarityWalk:
        """How similarities are learned."""

    def published(self, public: Public, learned: Learned) -> Shared:
        """The shared model, in single precision."""
        small = {
            name: single(array) if array.dtype.kind == "f" else array
            for name, array in learned.arrays.items()
        }
        numbers = {
            "noise": learned.noise,
            "around": learned.around,
            "floor": learned.floor,
            "kept": float(VERSION),
        }
        return Shared(
            self.name,
            "neighbourhood",
            small,
            numbers,
            public.schema,
            public.catalogue,
            self.used(public),
        )


class NeighborhoodSGD(Neighborhood):
    """Similarities by noisy gradient descent."""

    name = "pnbm-sgd"
    paper_unit = "rating"
    Settings: ClassVar[type[BaseSettings]] = SGDSettings
    forms: ClassVar = {
        "sound": f"{HOME}.plan:SoundForm",
        "paper": "tacit.papers.wang_tang.printed.forms:DescentForm",
        "none": f"{HOME}.twin:TwinForm",
    }

    @property
    def walk(self) -> SimilarityWalk:
        """Descent: where the budget is large, one step."""
        settings = cast("SGDSettings", self.settings)
        return SimilarityWalk(settings.rate or SGD_RATE, few=0, many=1)


class NeighborhoodLangevin(Neighborhood):
    """Similarities by Langevin sampling: the noise of privacy is the noise of the sampler;
    iterates are averaged."""

    name = "pnbm-langevin"
    paper_unit = "user"
    Settings: ClassVar[type[BaseSettings]] = ChainSettings
    forms: ClassVar = {
        "sound": f"{HOME}.plan:SoundForm",
        "paper": "tacit.papers.wang_tang.printed.forms:LangevinForm",
        "none": f"{HOME}.twin:TwinForm",
    }

    @property
    def walk(self) -> SimilarityWalk:
        """Sampling: several falling steps with a pull back to the start."""
        settings = cast("ChainSettings", self.settings)
        return SimilarityWalk(
            settings.rate or LANGEVIN_RATE,
            few=4,
            many=6,
            falling=settings.falling,
            pull=settings.decay,
            samples=True,
        )


# What the rounds of learned neighbourhoods release, typed.


@dataclass(frozen=True)
class PairState(FirstState):
    """Of the `sound` plan: first-order statistics, then matrices over the most rated items."""

    cosine: Floats = NOT_YET
    """From the released covariance."""
    start: Floats = NOT_YET
    """The first similarities, made of these cosines."""
    similarity: Floats = NOT_YET
    """The present ones."""
    iterates: Floats = NOT_YET
    """All of them so far, the start first."""
    chosen: Floats = NOT_YET
    """Those that people's own errors speak for; zeros where none stand out of the noise."""
    around: float = NOT_YET
    """Variance of a rating around what the chosen neighbours predict."""


@dataclass(frozen=True)
class AllPairsState(State):
    """Of the printed algorithms: raw, with a similarity for every pair of items."""

    baseline: Floats = NOT_YET
    counts: Floats = NOT_YET
    """Ratings of each item."""
    similarity: Floats = NOT_YET
    """Of row to column."""


@dataclass(frozen=True)
class RowState(State):
    """Of the twin: one row an item, raw."""

    effects: Floats = NOT_YET
    """Baseline, variance, weight and loadings, as `bias`' twin has them."""
    baseline: Floats = NOT_YET
    """What the descent adds to it."""
    neighbour: Floats = NOT_YET
    """At most N_k items for each item, padded with -1."""
    similarity: Floats = NOT_YET
    """Of these neighbours."""
    doubt: Floats = NOT_YET
    """Mean variance of an item's similarities."""
    noise: Floats = NOT_YET
    """Variance of a rating around item means, the same in every row."""
