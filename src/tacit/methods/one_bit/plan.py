"""Better than the printed descent at the same promise: every device answers once, with its
whole budget.

The people are cut into three groups. The first says which items are rated much; the second
what people's tastes for the public features have in common; the third how each item departs
from what is expected of it. Everything else follows on the device from public features and
own ratings. One answer with all of epsilon beats k answers with epsilon/k: what an answer
tells grows like epsilon^2 while epsilon is small and like epsilon later, never less.

Guarantee: all vectors are carried by `tacit.methods.one_bit.one_bit`, one answer a person;
the rest is post-processing (docs/proofs/one-bit.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Rows
from tacit.data.catalogue import Catalogue
from tacit.data.features import Design, design
from tacit.methods.base import Form, Public
from tacit.methods.first_order.rounds import loadings
from tacit.methods.one_bit.one_bit import Carrier, OneBitMF, padded
from tacit.methods.refine.item_bias import Evidence, estimate_item_biases
from tacit.methods.refine.weights import Weights, denoise_weights
from tacit.model.person.gaussian import GaussianModel
from tacit.model.shared import Shared
from tacit.rounds.people import Everyone, Participation, Slice
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block
from tacit.rounds.state import NOT_YET, State, later

STORY = (
    "Every person answers once, with the whole budget.",
    (
        "80 % of the people are asked which items they rated, 5 % what they like, 15 % how "
        "items depart from expectation."
    ),
)
OF = 20
"""Slices into which the people are cut."""
GROUPS = {"popularity": Slice(0, OF, 16), "tastes": Slice(16, OF, 1), "effects": Slice(17, OF, 3)}
"""Who answers what: most of the people tell what is popular, which is worth most (measured
on ML-1M at epsilon 4: .970 with half of the people, .968 with 60 %, .965 with 80 %)."""
NOISE = 0.8
"""Variance of a rating around the personal model, once effects are known."""
Floats = NDArray[np.float64]
ROOT_COUNT = 10.0
"""Root of a person's number of ratings, as guessed before anything is released; give or
take a factor of e. The constants of this file were chosen on ML-1M: docs/results/one-bit.md,
"What was tried"."""
REACH = 4.0
"""Norm of a person's tastes that is told without clipping."""
GLOBAL_MEAN_VARIANCE = 0.36
"""Prior variance of where ratings lie on the whole, around mid-scale."""
COMMON_VARIANCE = 0.5
"""Prior mean square of a common taste, in units of people's own spread; the released
numbers may say less."""
EARLY_NOISE = 0.9
"""Variance of a rating around the personal model before the effects are known."""
UNEXPLAINED = 0.85
"""Root mean square of what a person's own fit leaves of her ratings: turns directions into
rating points."""
SAMPLING = 0.1
"""Variance that people's own spread adds to an item's sum, for a unit of its weight."""
WIDEST = 64
"""Coordinates that tastes may take: the level, the popularity and all features."""
SPREAD = 2048
"""Coordinates over which tastes are spread at most: enough for normal inner products, and
little memory."""


class ItemBiasForm(Form):
    """`sound`, and without noise the twin."""

    method: OneBitMF

    def plan(self, public: Public) -> Plan:
        """Three questions, to three groups of people."""
        return item_bias_plan(public, self.method.carrier(public))

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return AnswersState()

    def finish(self, public: Public, state: AnswersState) -> Shared:
        """The personal Gaussian model of what was told."""
        settings = self.settings.model_dump()
        return item_bias_shared(self.method.name, public, state, settings)


def item_bias_plan(public: Public, carrier: Carrier) -> Plan:
    """The three rounds. Without noise everybody takes part in each."""
    ask = Questions.of(public, spreads=carrier.report is not None)
    size = ask.size

    def participation_of(name: str) -> Participation:
        return Everyone() if public.budget is None else GROUPS[name]

    rounds = (
        carrier.round(
            "popularity", size, participation_of("popularity"), ask.presence, ask.absorb_presence
        ),
        carrier.round(
            "tastes", size, participation_of("tastes"), ask.tastes, ask.absorb_user_factors
        ),
        carrier.round(
            "effects", size, participation_of("effects"), ask.effects, ask.absorb_item_biases
        ),
    )
    return Plan(public.unit, rounds, STORY)


def item_bias_shared(
    name: str, public: Public, state: AnswersState, settings: Mapping[str, Any]
) -> Shared:
    """The personal Gaussian model over level, popularity and public features."""
    arrays = {
        "baseline": np.asarray(state.baseline, np.float32),
        "variance": np.asarray(state.variance, np.float32),
        "loadings": np.asarray(state.loadings, np.float32),
        "weight": np.asarray(state.weights.mean, np.float32),
    }
    return Shared(
        name, "gaussian", arrays, {"noise": NOISE}, public.schema, public.catalogue, settings
    )


# The three rounds of `effects`: each device's contribution, and how all answers update the public
# state.
@dataclass(frozen=True)
class Questions:
    """What is asked, and what answers make; `size` coordinates carry every vector."""

    items: int
    features: Design | None
    size: int
    spread: int
    """Coordinates over which tastes are spread; 0 where vectors are sent whole."""

    @staticmethod
    def of(public: Public, *, spreads: bool) -> Questions:
        """The questions about this catalogue."""
        size = max(public.items, WIDEST)
        features = feature_design(public.catalogue)
        spread = min(size, SPREAD) if spreads else 0
        return Questions(public.items, features, size, spread)

    def presence(self, block: Block, state: AnswersState) -> Rows:
        """Which items a person rated: 1/sqrt(count) each."""
        counts = np.diff(block.ptr)
        values = np.repeat(1 / np.sqrt(np.maximum(counts, 1)), counts)
        return padded(block.ptr, block.item, values, self.size)

    def absorb_presence(
        self, state: AnswersState, total: Floats, sd: float, people: int
    ) -> AnswersState:
        """Weights of the items, and so their popularity among the loadings."""
        mean = max(people, 1) * ROOT_COUNT / self.items
        denoised = denoise_weights(
            total[: self.items], sd, low=0.02 * mean, high=max(people, 2) / 2, mean=mean, doubt=1.0
        )
        matrix, _ = loadings(
            denoised.popularity, self.features, level_variance=GLOBAL_MEAN_VARIANCE
        )
        return replace(
            state,
            weights=denoised,
            told=float(people),
            loadings=matrix,
            baseline=np.zeros(self.items),
        )

    def tastes(self, block: Block, state: AnswersState) -> Rows:
        """What a person likes of level, popularity and features."""
        vectors = spread_out(own_fit(block, state).taste / REACH, self.spread)
        people, width = vectors.shape
        ptr = np.arange(people + 1, dtype=np.int64) * width
        index = np.tile(np.arange(width), people)
        return padded(ptr, index, vectors.ravel(), self.size)

    def absorb_user_factors(
        self, state: AnswersState, total: Floats, sd: float, people: int
    ) -> AnswersState:
        """What tastes have in common is expected of everybody."""
        sums = gathered(total, state.loadings.shape[1], self.spread)
        count = max(people, 1)
        common = common_user_factors(REACH * sums / count, REACH * sd / count)
        return replace(state, baseline=state.loadings @ common)

    def effects(self, block: Block, state: AnswersState) -> Rows:
        """How a person's ratings depart from what is expected of her, to norm 1."""
        residuals = own_fit(block, state).left
        counts = np.diff(block.ptr)
        person = np.repeat(np.arange(len(counts)), counts)
        norm = np.sqrt(np.bincount(person, residuals**2, len(counts)))
        scaled = residuals / np.repeat(np.maximum(norm, 1e-9), counts)
        return padded(block.ptr, block.item, scaled, self.size)

    def absorb_item_biases(
        self, state: AnswersState, total: Floats, sd: float, people: int
    ) -> AnswersState:
        """Effects of the items, shrunk by what the answers leave unknown."""
        # Nobody may have answered.
        scale = max(people, 1) / max(state.told, 1.0) / UNEXPLAINED
        evidence = Evidence.none(self.items).add(
            total[: self.items], max(sd, 1e-6 * scale), scale, state.weights, np.zeros(self.items)
        )
        estimate = estimate_item_biases(
            evidence,
            state.weights,
            None if self.features is None else self.features.matrix,
            sampling=SAMPLING,
        )
        return replace(state, baseline=state.baseline + estimate.mean, variance=estimate.variance)


class OwnFit(NamedTuple):
    """Each person's tastes, and what they leave of each rating."""

    taste: Floats
    left: Floats


def own_fit(block: Block, state: AnswersState) -> OwnFit:
    """A ridge solve a person, under the public model so far."""
    from tacit.kernels.directions import user_factors

    nothing = np.zeros(len(state.baseline))
    model = GaussianModel(state.baseline, nothing, state.loadings, EARLY_NOISE)
    taste = np.empty((len(block.people), model.loadings.shape[1]))
    remaining = np.empty(len(block.item))
    residual = block.value - model.baseline[block.item]
    user_factors(block.ptr, block.item, residual, model.loadings, model.precision, taste, remaining)
    return OwnFit(taste, remaining)


def spread_out(vectors: Floats, size: int) -> Floats:
    """Each coordinate, and one for what is missing to norm 1, as equal parts of many: an
    isometry up to `size` columns.

    A report about random directions presumes a vector spread over many coordinates: its
    inner products must be about normal. Of a vector with a few, the largest alone would
    settle every answer, and the others would never be heard.
    """
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1.0)
    complement = np.sqrt(np.maximum(0.0, 1.0 - (vectors**2).sum(axis=1, keepdims=True)))
    copies = max(1, size // (vectors.shape[1] + 1))
    extended = np.concatenate([vectors, complement], axis=1)
    return np.asarray(np.repeat(extended, copies, axis=1) / np.sqrt(copies))


def gathered(total: Floats, width: int, size: int) -> Floats:
    """Back from `spread_out`: a sum over its columns, with the same noise in each coordinate."""
    copies = max(1, size // (width + 1))
    parts = total[: width * copies].reshape(width, copies)
    return np.asarray(parts.sum(axis=1) / np.sqrt(copies))


def common_user_factors(noisy: Floats, sd: float) -> Floats:
    """What tastes have in common, shrunk by the known noise: the level by its prior, the
    rest by their own spread."""
    observed_variance = float(np.mean(noisy[1:] ** 2)) - sd**2 if len(noisy) > 1 else 0.0
    spread = np.full(len(noisy), np.clip(observed_variance, 0.0, COMMON_VARIANCE))
    spread[0] = 1.0
    # Nobody may have answered: then there is neither noise nor anything to shrink.
    total_variance = np.maximum(spread + sd**2, np.finfo(float).tiny)
    shrunk: Floats = noisy * spread / total_variance
    return shrunk


def feature_design(catalogue: Catalogue) -> Design | None:
    """The catalogue's features as a matrix, if it has any."""
    if not catalogue.has_features:
        return None
    return design(len(catalogue), catalogue.years, catalogue.tagged, catalogue.numeric)


# What devices' answers tell, typed: the three groups of `effects`, and the path of the descent.


@dataclass(frozen=True)
class AnswersState(State):
    """What the three groups of people have told, in the order in which they are asked."""

    weights: Weights = NOT_YET
    told: float = NOT_YET
    """How many people told what they rated."""
    loadings: Floats = NOT_YET
    """Items x columns: level, popularity and public features."""
    baseline: Floats = NOT_YET
    """What is expected of each item so far."""
    variance: Floats = NOT_YET
    """What the answers leave unknown of it."""


@dataclass(frozen=True)
class DescentState(State):
    """Where the descent of Shin et al. has come to."""

    gradients: NDArray[np.float32] = later(grows=True)
    """One a step, from all answers together."""
    path: NDArray[np.float32] = later(derived=True)
    """Item factors before the first step and after each: everybody takes the same steps."""
