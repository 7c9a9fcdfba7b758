"""Bias: the items' effects and a personal Gaussian model over what is public about the items.

Item side: level, weights and effects of the items, released and shrunk by empirical Bayes.
Person's side: a ridge solve over level, popularity, agreement (a slope on the effects) and
public features, whose prior widths are chosen privately among a few candidates by the errors
that people would make on their own left-out ratings.

Why each release is bounded: docs/proofs/first-order.md.
"""

from __future__ import annotations

from typing import ClassVar, cast

from pydantic import Field

from tacit.methods.base import Form, Public
from tacit.methods.base import Settings as BaseSettings
from tacit.methods.first_order.choice import (
    FirstForms,
    Forms,
    baseline_rounds,
    choice_round,
    first_model,
    published,
)
from tacit.methods.first_order.rounds import FirstOrder, FirstState
from tacit.methods.first_order.started import story as started
from tacit.model.shared import Shared
from tacit.rounds.plan import Plan
from tacit.rounds.state import State


class BiasSettings(BaseSettings):
    """What `bias` can be told."""

    sweeps: int = Field(3, ge=1, le=10)
    """How many times the items' sums are released, each time of smaller residuals."""


class SoundBias(Form):
    """The sound form: everything from released sums."""

    def plan(self, public: Public) -> Plan:
        """Level, weights and sweeps of effects; then how widely people differ."""
        sweeps = cast("BiasSettings", self.settings).sweeps
        first_order = FirstOrder.of(public)
        baseline = baseline_rounds(first_order, sweeps)
        rounds = (*baseline.rounds, choice_round(first_order, baseline.shares.choice))
        level = f"{100 * baseline.shares.level:.0f} %"
        story = (
            f"The level of all ratings takes {level} of the budget: by rule from people x noise.",
            f"Of the rest, item weights take 22 %, {sweeps} sweeps of item sums 73 %.",
            "The last 5 % choose how widely people differ.",
        )
        return Plan(public.unit, rounds, story + started(public))

    def first_state(self, public: Public) -> State:
        """Nothing is known yet."""
        return FirstState()

    def finish(self, public: Public, state: FirstState) -> Shared:
        """The personal Gaussian model of what was released."""
        first_order = FirstOrder.of(public)
        model = first_model(first_order, state).model
        return published(self.method, first_order, state, model)


class Bias(FirstForms):
    """Item effects and personal levels: the baseline that recommends well when little may
    be spent."""

    name = "bias"
    source = "baseline"
    engines: ClassVar[tuple[str, ...]] = ("threads", "spark", "federated")
    Settings: ClassVar[type[BaseSettings]] = BiasSettings
    forms: ClassVar[Forms] = {"sound": SoundBias, "none": "tacit.methods.baselines.twin:BiasTwin"}
