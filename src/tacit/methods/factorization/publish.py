"""The shared model of a factorization: what was released, as arrays for a personal model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.methods.base import Method, Public
from tacit.methods.factorization.rounds import LIFT_SHRINK, profiles, widened
from tacit.methods.factorization.state import FactorState
from tacit.methods.first_order.rounds import public_design
from tacit.methods.refine.choose import Choice
from tacit.model.person.gaussian import NOISE
from tacit.model.shared import Shared, single
from tacit.rounds.state import NOT_YET

Floats = NDArray[np.float64]


def publish(
    method: Method, public: Public, state: FactorState, *, lift: Floats | None = None
) -> Shared:
    """Baseline, what is unknown of it, and item profiles as wide as the choice made them.

    A plan without a choice publishes them as they are. Where factors survived the choice,
    implicit factors go with them; or `lift`, the direction in which the number of a person's
    ratings moves her (one number a factor).
    """
    item_profiles = profiles(state, public_design(public))
    choice = Choice(np.ones(item_profiles.matrix.shape[1]), NOISE)
    if state.choice is not NOT_YET:
        choice = state.choice
    scales = choice.scales
    learned = scales[item_profiles.settled :].max(initial=0.0)
    arrays = {
        "baseline": state.baseline,
        "variance": state.effects.variance + state.doubt * learned**2,
        "loadings": item_profiles.matrix * scales,
        "weight": state.weights.mean,
    }
    personal = "gaussian"
    numbers = {"noise": choice.noise}
    # A person's vector is measured against the scaled profiles, so what is added to it grows.
    back = 1 / np.where(scales > 0, scales, 1.0)
    if state.implicit is not NOT_YET and learned > 0:
        personal = "factors"
        arrays["implicit"] = widened(state.implicit, item_profiles.settled) * back
    elif lift is not None and learned > 0:
        personal = "factors"
        numbers["lift_shrink"] = LIFT_SHRINK
        arrays["lift"] = np.concatenate([np.zeros(item_profiles.settled), lift]) * back
    return shared_model(method, public, personal, arrays, numbers)


def shared_model(
    method: Method,
    public: Public,
    personal: str,
    arrays: dict[str, Floats],
    numbers: dict[str, float],
) -> Shared:
    """These arrays in single precision, for the personal model of this name
    (`tacit.model.person`): all that a person's device needs besides her own ratings."""
    return Shared(
        method.name,
        personal,
        {name: single(array) for name, array in arrays.items()},
        numbers,
        public.schema,
        public.catalogue,
        method.settings.model_dump(),
    )
