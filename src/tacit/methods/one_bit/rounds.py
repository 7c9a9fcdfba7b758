"""Better than the printed descent at the same promise: every device answers once, with its
whole budget.

The people are cut into three groups. The first says which items are rated much; the second
what people's tastes for the public features have in common; the third how each item departs
from what is expected of it. Everything else follows on the device from public features and
own ratings. One answer with all of epsilon beats k answers with epsilon/k: what an answer
tells grows like epsilon^2 while epsilon is small and like epsilon later, never less.

Guarantee: all vectors are carried by `tacit.methods.one_bit.carrier`, one answer a person;
the rest is post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Rows
from tacit.data.catalogue import Catalogue
from tacit.data.features import Design, design
from tacit.methods.base import Public
from tacit.methods.one_bit.carrier import Carrier, padded
from tacit.methods.refine.effects import Evidence, item_effects
from tacit.methods.refine.weights import Weights, denoise_weights
from tacit.model.person.gaussian import GaussianModel, loadings
from tacit.model.shared import Shared
from tacit.rounds.people import Everyone, Participation, Slice
from tacit.rounds.plan import Plan
from tacit.rounds.round import Block
from tacit.rounds.state import State

STORY = (
    "Every person answers once, with the whole budget.",
    (
        "80 % of the people are asked which items they rated, 5 % what they like, 15 % how "
        "items depart from expectation."
    ),
)
GROUPS = {"popularity": (0, 16), "tastes": (16, 1), "effects": (17, 3)}
"""First slice and number of slices, of OF: most of the people tell what is popular, which
is worth most (measured on ML-1M at epsilon 4: .970 with half of the people, .968 with 60 %,
.965 with 80 %)."""
OF = 20
ROOT_COUNT = 10.0
"""Root of a person's number of ratings, as guessed before anything is released; give or
take a factor of e."""
REACH = 4.0
"""Norm of a person's tastes that is told without clipping."""
LEVEL_VARIANCE = 0.36
"""Prior variance of where ratings lie on the whole, around mid-scale."""
COMMON_VARIANCE = 0.5
"""Prior mean square of a common taste, in units of people's own spread; the released
numbers may say less."""
EARLY_NOISE, NOISE = 0.9, 0.8
"""Variance of a rating around the personal model before and after the effects."""
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


def effects_plan(public: Public, carrier: Carrier) -> Plan:
    """The three rounds. Without noise everybody takes part in each."""
    items, features = public.items, feature_design(public.catalogue)
    size = max(items, WIDEST)
    spread = min(size, SPREAD) if carrier.report else 0

    def who(name: str) -> Participation:
        return (
            Everyone()
            if public.budget is None
            else Slice(GROUPS[name][0], OF, GROUPS[name][1])
        )

    def presence(block: Block, state: State) -> Rows:
        counts = np.diff(block.ptr)
        return padded(
            block.ptr,
            block.item,
            np.repeat(1 / np.sqrt(np.maximum(counts, 1)), counts),
            size,
        )

    def absorb_presence(
        state: State, total: NDArray[np.float64], sd: float, people: int
    ) -> State:
        mean = max(people, 1) * ROOT_COUNT / items
        found = denoise_weights(
            total[:items],
            sd,
            low=0.02 * mean,
            high=max(people, 2) / 2,
            mean=mean,
            doubt=1.0,
        )
        matrix, _ = loadings(found.popularity, features, level_variance=LEVEL_VARIANCE)
        kept = {"weight": found.mean, "square": found.square, "log": found.log}
        return {
            **state,
            **kept,
            "spread": np.array([found.log_spread, people]),
            "loadings": matrix,
            "baseline": np.zeros(items),
        }

    def tastes(block: Block, state: State) -> Rows:
        taste, _ = own_fit(block, state)
        whole = spread_out(taste / REACH, spread)
        people, width = whole.shape
        ptr = np.arange(people + 1, dtype=np.int64) * width
        return padded(ptr, np.tile(np.arange(width), people), whole.ravel(), size)

    def absorb_tastes(
        state: State, total: NDArray[np.float64], sd: float, people: int
    ) -> State:
        told = gathered(total, state["loadings"].shape[1], spread)
        common = common_tastes(
            REACH * told / max(people, 1), REACH * sd / max(people, 1)
        )
        return {**state, "baseline": state["loadings"] @ common}

    def effects(block: Block, state: State) -> Rows:
        _, left = own_fit(block, state)
        counts = np.diff(block.ptr)
        norm = np.sqrt(
            np.bincount(np.repeat(np.arange(len(counts)), counts), left**2, len(counts))
        )
        return padded(
            block.ptr,
            block.item,
            left / np.repeat(np.maximum(norm, 1e-9), counts),
            size,
        )

    def absorb_effects(
        state: State, total: NDArray[np.float64], sd: float, people: int
    ) -> State:
        weights = Weights(
            state["weight"], state["square"], state["log"], float(state["spread"][0])
        )
        scale = (
            max(people, 1) / max(float(state["spread"][1]), 1.0) / UNEXPLAINED
        )  # nobody may have answered
        evidence = Evidence.none(items).add(
            total[:items], max(sd, 1e-6 * scale), scale, weights, np.zeros(items)
        )
        found = item_effects(
            evidence,
            weights,
            None if features is None else features.matrix,
            sampling=SAMPLING,
        )
        return {
            **state,
            "baseline": state["baseline"] + found.mean,
            "variance": found.variance,
        }

    rounds = (
        carrier.round("popularity", size, who("popularity"), presence, absorb_presence),
        carrier.round("tastes", size, who("tastes"), tastes, absorb_tastes),
        carrier.round("effects", size, who("effects"), effects, absorb_effects),
    )
    return Plan(public.unit, rounds, STORY)


def effects_shared(
    name: str, public: Public, state: State, settings: dict[str, object]
) -> Shared:
    arrays = {
        key: np.asarray(state[key], np.float32)
        for key in ("baseline", "variance", "loadings", "weight")
    }
    return Shared(
        name,
        "gaussian",
        arrays,
        {"noise": NOISE},
        public.schema,
        public.catalogue,
        settings,
    )


def own_fit(
    block: Block, state: State
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each person's tastes under the public model so far, and what they leave of each rating."""
    from tacit.methods.one_bit.kernels import tastes

    model = GaussianModel(
        state["baseline"],
        np.zeros(len(state["baseline"])),
        state["loadings"],
        EARLY_NOISE,
    )
    taste = np.empty((len(block.people), model.loadings.shape[1]))
    left = np.empty(len(block.item))
    residual = block.value - model.baseline[block.item]
    tastes(
        block.ptr, block.item, residual, model.loadings, model.precision, taste, left
    )
    return taste, left


def spread_out(vectors: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Each coordinate, and one for what is missing to norm 1, as equal parts of many: an
    isometry up to `size` columns.

    A report about random directions presumes a vector spread over many coordinates: its
    inner products must be about normal. Of a vector with a few, the largest alone would
    settle every answer, and the others would never be heard.
    """
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1.0)
    rest = np.sqrt(np.maximum(0.0, 1.0 - (vectors**2).sum(axis=1, keepdims=True)))
    copies = max(1, size // (vectors.shape[1] + 1))
    return np.asarray(
        np.repeat(np.concatenate([vectors, rest], axis=1), copies, axis=1)
        / np.sqrt(copies)
    )


def gathered(total: NDArray[np.float64], width: int, size: int) -> NDArray[np.float64]:
    """Back from `spread_out`: a sum over its columns, with the same noise in each coordinate."""
    copies = max(1, size // (width + 1))
    return np.asarray(
        total[: width * copies].reshape(width, copies).sum(axis=1) / np.sqrt(copies)
    )


def common_tastes(noisy: NDArray[np.float64], sd: float) -> NDArray[np.float64]:
    """What tastes have in common, shrunk by the known noise: the level by its prior, the
    rest by their own spread."""
    seen = float(np.mean(noisy[1:] ** 2)) - sd**2 if len(noisy) > 1 else 0.0
    spread = np.full(len(noisy), np.clip(seen, 0.0, COMMON_VARIANCE))
    spread[0] = 1.0
    shrunk: NDArray[np.float64] = noisy * spread / (spread + sd**2)
    return shrunk


def feature_design(catalogue: Catalogue) -> Design | None:
    if not catalogue.has_features:
        return None
    return design(len(catalogue), catalogue.years, catalogue.tagged, catalogue.numeric)
