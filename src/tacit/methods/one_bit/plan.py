"""Better than the printed descent at the same promise: every device answers once, with its
whole budget.

The people are cut into three groups. The first says which items are rated much; the second
what people's tastes for the public features have in common; the third how each item departs
from what is expected of it. Everything else follows on the device from public features and
own ratings. One answer with all of epsilon beats k answers with epsilon/k: what an answer
tells grows like epsilon^2 while epsilon is small and like epsilon later, never less.

Guarantee: all vectors are carried by `tacit.methods.one_bit.carrier`, one answer a person;
the rest is post-processing (docs/proofs/one-bit.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.methods.base import Form, Public
from tacit.methods.one_bit.carrier import Carrier
from tacit.methods.one_bit.one_bit import OneBitMF
from tacit.methods.one_bit.rounds import Questions
from tacit.methods.one_bit.state import AnswersState
from tacit.model.shared import Shared
from tacit.rounds.people import Everyone, Participation, Slice
from tacit.rounds.plan import Plan
from tacit.rounds.state import State

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
